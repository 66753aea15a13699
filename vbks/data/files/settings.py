"""What may be asked for when a file is read, in place of what is found in it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal, cast, get_args

from vbks.data.cells.numbers import Decimal
from vbks.errors import SettingsError, check_one_of

Missing = Literal["refuse", "drop"]
"""What becomes of rows in which something is missing."""

SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
"""Names of separators that are hard to type."""


@dataclass(frozen=True)
class FileSettings:
    """How a file is read; what is not set is found in it.

    Args:
        sep: what is between the cells of a row: a character, or "tab", "space".
        decimal: what is before the decimals of numbers: a point or a comma.
        date_format: how dates are written: "dd/mm/yyyy", or as Python has it, "%d/%m/%Y".
        encoding: how letters are stored: "utf-8", "cp1252" and what else Python knows.
        sheet: the sheet of a workbook, by its name or its number from 1 on.
        missing: whether rows with missing values are refused or dropped.
    """

    sep: str | None = None
    decimal: str | None = None
    date_format: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.separator) != 1:
            raise SettingsError(
                f"sep is {self.sep!r}, expected one character, or tab or space. Such as sep=';'."
            )
        if self.decimal is not None:
            check_one_of("decimal", self.decimal, get_args(Decimal))
        check_one_of("missing", self.missing, get_args(Missing))
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise SettingsError(
                    f"encoding is {self.encoding!r}, expected one that Python knows, such as utf-8."
                ) from None

    @property
    def separator(self) -> str | None:
        """The separator as a character."""
        return None if self.sep is None else SEPARATORS.get(self.sep.lower(), self.sep)

    @property
    def decimal_mark(self) -> Decimal | None:
        """The decimal mark that was asked for."""
        return cast("Decimal | None", self.decimal)
