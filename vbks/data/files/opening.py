"""A file as a table, of which columns are read as numbers and dates when they are used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype

from vbks.data.cells.columns import NOTHING, Forms, Kind, NotValues, read_column
from vbks.data.cells.numbers import Decimal, take_apart
from vbks.data.cells.readings import Fault, Reading, are_missing, are_texts, stripped
from vbks.data.files.contents import read_contents
from vbks.data.files.layout import Grid, lay_out
from vbks.data.files.parquet_files import read_parquet
from vbks.data.files.settings import FileSettings
from vbks.data.files.text_files import read_text
from vbks.data.files.workbooks import read_workbook
from vbks.errors import DataError

MARKED_CELLS = 2000
"""This many cells of each column are searched for decimal points and commas."""


def open_file(path: str | Path, settings: FileSettings | None = None) -> FileTable:
    """The table in a file: CSV and other delimited text, a workbook or Parquet, packed or not.

    Separator, encoding, header and the forms of numbers and dates are found; the settings say
    otherwise.
    """
    settings = settings or FileSettings()
    data, kind = read_contents(path)
    name = str(path)
    if kind == "parquet":
        return FileTable(read_parquet(data, name), settings)
    if kind == "text":
        return FileTable(lay_out(read_text(data, name, settings)), settings)
    return FileTable(lay_out(read_workbook(data, name, kind, settings)), settings)


class FileTable:
    """The columns of a file by their names, each read once."""

    def __init__(self, grid: Grid, settings: FileSettings) -> None:
        self.grid, self.settings = grid, settings
        self._readings: dict[tuple[str, bool], Reading | Fault | NotValues] = {}

    @property
    def names(self) -> list[str]:
        """The names of the columns, in their order."""
        return [*self.grid.columns]

    @property
    def num_rows(self) -> int:
        """Number N of rows."""
        return len(self.grid.places)

    @property
    def file(self) -> str:
        """What messages call the file."""
        return self.grid.file

    def cells(self, name: str) -> pd.Series[Any]:
        """The cells [N] of a column as they came."""
        return self.grid.columns[name]

    def kind(self, name: str) -> Kind:
        """What a column has, or a `DataError` for a cell that is unlike all others."""
        found = self._read(name, False)
        if isinstance(found, Fault):
            raise DataError(self._told(name, found))
        if not isinstance(found, Reading):
            return found
        return "dates" if is_datetime64_any_dtype(found.values.dtype) else "numbers"

    def reading(self, name: str, *, is_target: bool = False) -> Reading:
        """Numbers or dates of a column, or a `DataError` that names a cell."""
        found = self._read(name, is_target)
        if isinstance(found, Reading):
            return found
        if isinstance(found, Fault):
            raise DataError(self._told(name, found))
        what = f"column '{name}' of '{self.file}'"
        if found == NOTHING:
            raise DataError(f"{what} has nothing in it. Leave it out, or fill it.")
        cells = stripped(self.cells(name).to_numpy(dtype=object))
        row = int(np.flatnonzero(~are_missing(cells))[0])
        expected = "numbers" if is_target else "numbers or dates"
        raise DataError(
            f"{what} has '{_shown(cells[row])}' in {self.grid.place(row)}, expected {expected}. "
            "Texts are not read: leave the column out, or write numbers in their place."
        )

    def _read(self, name: str, is_target: bool) -> Reading | Fault | NotValues:
        key = (name, is_target)
        if key not in self._readings:
            self._readings[key] = read_column(self.cells(name), self._forms, is_target=is_target)
        return self._readings[key]

    def _told(self, name: str, fault: Fault) -> str:
        """The sentence about a cell at fault."""
        cell = _shown(self.cells(name).iloc[fault.row])
        return (
            f"column '{name}' of '{self.file}' has '{cell}' in {self.grid.place(fault.row)}, "
            f"{fault.reason}. {_ADVICE if _needs_advice(fault) else ''}".rstrip()
        )

    @cached_property
    def _forms(self) -> Forms:
        asked = self.settings
        return Forms(asked.decimal_mark, asked.date_format, self._hint)

    @cached_property
    def _hint(self) -> Decimal | None:
        """The decimal mark that columns have beyond doubt, or a comma where semicolons separate."""
        marks = {_mark(column) for column in self.grid.columns.values()} - {None}
        if len(marks) == 1:
            return marks.pop()
        return "," if self.grid.separator == ";" and not marks and self._has_commas else None

    @property
    def _has_commas(self) -> bool:
        return any(
            isinstance(cell, str) and "," in cell
            for column in self.grid.columns.values()
            for cell in column[:MARKED_CELLS]
        )


_ADVICE = "Correct or empty the cell, or leave the column out by naming the inputs: --x."
"""What can be done about a cell that is unlike the others."""


def _needs_advice(fault: Fault) -> bool:
    return ". " not in fault.reason


def _mark(column: pd.Series[Any]) -> Decimal | None:
    """The decimal mark of the numbers in a column, if they have one beyond doubt."""
    if column.dtype != object:
        return None
    cells = stripped(column.to_numpy(dtype=object)[:MARKED_CELLS])
    texts = cells[are_texts(cells) & ~are_missing(cells)]
    if not len(texts):
        return None
    found = take_apart(texts)
    return found.decimal if found.marked.any() else None


def _shown(cell: Any) -> str:
    text = str(cell).strip()
    return text if len(text) <= 40 else f"{text[:40]}..."
