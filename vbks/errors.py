"""The errors that vbks raises on purpose, so that one `except VbksError` catches them all."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from os import PathLike
from pathlib import Path


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
    if not isinstance(value, str) or value not in known:
        raise SettingsError(f"{name} is {value!r}, expected one of {', '.join(known)}.")


def is_real(value: object) -> bool:
    """Whether a setting is a number, which True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_bool(name: str, value: object) -> None:
    """Refuse a setting that is neither True nor False, such as the text 'no'."""
    # NumPy's True is no bool, but compares equal to it as a number does.
    if type(value).__name__ not in ("bool", "bool_"):
        raise SettingsError(f"{name} is {value!r}, expected True or False.")


def check_whole(name: str, value: object) -> None:
    """Refuse what is given as a number of something and is none."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise SettingsError(f"{name} is {value!r}, expected a whole number from 1 on.")


def as_path(name: str, value: object) -> Path:
    """A path from what a user gives, or an error that says what it is instead."""
    if not isinstance(value, str | PathLike) or not str(value):
        raise FileError(f"{name} is {value!r}, expected a path.")
    return Path(value)
