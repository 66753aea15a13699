"""The errors that vbks raises on purpose, so that one `except VbksError` catches them all."""

from __future__ import annotations


class VbksError(Exception):
    """Anything that vbks refuses or cannot do, said in a sentence for the user."""


class GrammarError(VbksError, ValueError):
    """An expression, or a text that should be one, breaks the rules of the grammar."""


class DataError(VbksError, ValueError):
    """The data cannot be used as it is."""


class FileError(VbksError):
    """A saved selection cannot be written or read."""
