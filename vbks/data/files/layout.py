"""Where the table is in a sheet: its header below titles, its rows above totals and notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Number
from typing import Any, Literal

import numpy as np
import pandas as pd

from vbks.arrays import Rows
from vbks.data.cells.dates import read_dates
from vbks.data.cells.numbers import read_numbers
from vbks.data.cells.readings import MARKERS, Reading, stripped
from vbks.data.files.sheets import Row, Sheet, is_empty, num_filled
from vbks.errors import DataError

TOTAL = re.compile(
    r"(?i)(grand |sub)?totals?|sum|summe|gesamt|insgesamt|somme|suma|totale|average|mean|mittelwert"
)
"""What stands in a row that is of all others."""

FOOTERS = 10
"""At most this many rows at the end are totals or notes."""

WIDTH_ROWS = 2000
"""The number of columns is the commonest among this many rows at the beginning."""

TITLES = 30
"""The header is among this many rows at the beginning."""


@dataclass(frozen=True)
class Grid:
    """Columns of cells by their names, and where the rows are in the file."""

    file: str
    columns: dict[str, pd.Series[Any]]
    places: Rows
    place_name: Literal["line", "row"] = "line"
    separator: str | None = None
    notices: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """Such as "line 12", of a row that is counted from 0."""
        return f"{self.place_name} {self.places[row]}"


def lay_out(sheet: Sheet) -> Grid:
    """The table of a sheet: what is above its header and below its rows is left out, and told."""
    if not sheet.rows:
        raise DataError(f"'{sheet.file}' is empty. Give a header and rows.")
    header, start, notices = _header(sheet)
    header, rows, places = _rows(sheet, header, start)
    header, rows = _with_row_names(sheet, header, rows, places)
    rows, places, dropped = _without_footers(sheet, rows, places)
    if not rows:
        raise DataError(f"'{sheet.file}' has a header and no rows. Give at least one.")
    names, renamed = _names(header)
    cells = pd.DataFrame(rows, columns=range(len(header)), dtype=object)
    columns = {
        name: cells[place].rename(name)
        for place, name in enumerate(names)
        if not (is_empty(header[place]) and all(map(is_empty, cells[place])))
    }
    told = (*sheet.notices, *notices, *renamed, *dropped)
    return Grid(sheet.file, columns, np.asarray(places), sheet.place_name, sheet.separator, told)


def _header(sheet: Sheet) -> tuple[list[Any], int, list[str]]:
    """The cells of the header, the place of the first row below, and what was skipped above."""
    width = _usual(len(_without_empty_end(row)) for row in sheet.rows[:WIDTH_ROWS])
    first = 0
    while first < min(TITLES, len(sheet.rows) - 1) and _is_title(sheet.rows[first], width):
        first += 1
    header = [*_without_empty_end(sheet.rows[first])]
    notices: list[str] = []
    if _is_data(header):
        commented = _commented_header(sheet, len(header))
        if commented is not None:
            return commented, first, notices
        place = "the first row" if not first else f"{sheet.place_name} {sheet.places[first]}"
        raise DataError(
            f"{place} of '{sheet.file}' has numbers or dates, expected names of columns. Add a "
            "header."
        )
    if first:
        shown = ", ".join(f"'{name}'" for name in header[:3])
        above = "1 row" if first == 1 else f"{first} rows"
        notices.append(
            f"The header is in {sheet.place_name} {sheet.places[first]} ({shown}): {above} above "
            "it left out."
        )
    return header, first + 1, notices


def _is_title(row: Row, width: int) -> bool:
    """Whether a row has fewer cells filled than a header of that width would have."""
    if width < 2 or is_empty(row[0]):
        return num_filled(row) == 0 or (width > 2 and num_filled(row) == 1)
    return num_filled(row) <= max(1, width // 2) and len(_without_empty_end(row)) < width


def _commented_header(sheet: Sheet, width: int) -> list[Any] | None:
    """The names in a comment above the first row, as NumPy and gnuplot have them."""
    for comment in reversed(sheet.comments):
        separator = None if sheet.separator == " " else sheet.separator
        names = [name.strip() for name in comment.split(separator)]
        if len(names) == width and width > 1:
            return names
    return None


def _is_data(cells: Sequence[Any]) -> bool:
    """Whether cells are numbers, dates or empty, with at least one of the former."""
    known = [cell for cell in cells if not is_empty(cell)]
    return bool(known) and all(map(is_value, known))


def is_value(cell: Any) -> bool:
    """Whether a cell is a number or a date, by its type or as a text."""
    if not isinstance(cell, str):
        return isinstance(cell, Number | date | np.datetime64)
    text = stripped(np.array([cell], dtype=object))
    if text[0].lower() in MARKERS:
        return True
    return isinstance(read_numbers(text), Reading) or read_dates(text) is not None


def _rows(sheet: Sheet, header: list[Any], start: int) -> tuple[list[Any], list[Row], list[int]]:
    """The rows below the header that have something in them, and their places."""
    pairs = [
        (_without_empty_end(row), place)
        for row, place in zip(sheet.rows[start:], sheet.places[start:], strict=True)
        if not all(map(is_empty, reversed(row)))
    ]
    return header, [row for row, _ in pairs], [place for _, place in pairs]


def _with_row_names(
    sheet: Sheet, header: list[Any], rows: list[Row], places: list[int]
) -> tuple[list[Any], list[Row]]:
    """Rows as long as the header, which has no name for a first column that counts rows."""
    width = len(header)
    if rows and all(len(row) == width + 1 for row in rows):
        firsts = [str(row[0]).strip() for row in rows]
        if firsts in ([str(k) for k in range(first, first + len(rows))] for first in (0, 1)):
            return ["", *header], rows
    for row, place in zip(rows, places, strict=True):
        if len(row) > width:
            separator = "" if sheet.separator is None else f" between '{sheet.separator}'"
            raise DataError(
                f"{sheet.place_name} {place} of '{sheet.file}' has {len(row)} cells{separator}, "
                f"expected {width} as in the header. Put quotes around cells that have the "
                "separator in them, or give another --sep."
            )
    return header, [[*row, *[None] * (width - len(row))] for row in rows]


def _without_footers(
    sheet: Sheet, rows: list[Row], places: list[int]
) -> tuple[list[Row], list[int], list[str]]:
    """The rows without totals and notes at the end, and what was left out."""
    end = len(rows)
    while end > max(0, len(rows) - FOOTERS) and _is_footer(rows[end - 1]):
        end -= 1
    notices = []
    for row, place in zip(rows[end:], places[end:], strict=True):
        shown = next(cell for cell in row if not is_empty(cell))
        place_name = f"{sheet.place_name.capitalize()} {place} ('{str(shown)[:40].strip()}')"
        notices.append(f"{place_name} is no row of the table and was left out.")
    return rows[:end], places[:end], notices


def _is_footer(row: Row) -> bool:
    """Whether a row has a total, or a note alone in its first cell."""
    filled = [cell for cell in row if not is_empty(cell)]
    if not filled or not isinstance(filled[0], str):
        return False
    if TOTAL.fullmatch(filled[0].strip().rstrip(":")):
        return True
    return len(row) > 1 and len(filled) == 1 and not is_value(filled[0]) and not is_empty(row[0])


def _names(header: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Names of all columns, each once, and what was renamed."""
    names: list[str] = []
    notices = []
    for place, cell in enumerate(header):
        name = f"Unnamed: {place}" if is_empty(cell) else _name(cell)
        if name in names:
            number = 2
            while f"{name} ({number})" in names:
                number += 1
            notices.append(f"Another column '{name}' is called '{name} ({number})' here.")
            name = f"{name} ({number})"
        names.append(name)
    return names, notices


def _name(cell: Any) -> str:
    if isinstance(cell, date):
        return f"{cell:%Y-%m-%d}"
    return " ".join(str(cell).split())


def _without_empty_end(row: Row) -> Row:
    end = len(row)
    while end and is_empty(row[end - 1]):
        end -= 1
    return row[:end]


def _usual(widths: Iterable[int]) -> int:
    """The most frequent number, the largest of several."""
    return max(Counter(widths).items(), key=lambda pair: (pair[1], pair[0]))[0]
