"""The errors that vbks raises on purpose, so that one `except VbksError` catches them all."""

from __future__ import annotations

from collections.abc import Collection


class VbksError(Exception):
    """Anything that vbks refuses or cannot do, said in a sentence for the user."""


class GrammarError(VbksError, ValueError):
    """An expression, or a text that should be one, breaks the rules of the grammar."""


class DataError(VbksError, ValueError):
    """The data cannot be used as it is."""


class SettingsError(VbksError, ValueError):
    """A setting has a value that it cannot have, or does not go with another one."""


class FileError(VbksError):
    """A saved selection cannot be written or read."""


class StopTraining(Exception):
    """Raised by a callback to end training; what was learned so far is the result."""


class GraphError(VbksError):
    """No graph of TensorFlow can be made, as exports and gradients need it."""


class TailWarning(UserWarning):
    """Means of predictions that tails would decide, and that are limited for this reason."""


def check_one_of(name: str, value: object, known: Collection[str]) -> None:
    """Refuse a setting that is none of the known ones."""
    if value not in known:
        raise SettingsError(f"{name} is {value!r}, expected one of {', '.join(known)}.")
