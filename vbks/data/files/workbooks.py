"""Sheets of workbooks as rows of cells."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Literal

import pandas as pd

from vbks.data.files.settings import FileSettings
from vbks.data.files.sheets import Row, Sheet, is_empty, num_filled
from vbks.errors import DataError

ENGINES: dict[str, Literal["openpyxl", "xlrd"]] = {"xlsx": "openpyxl", "xls": "xlrd"}
"""The packages that read workbooks, by their kinds."""

LEAST_ROWS = 3
"""A sheet has a table if this many rows with cells beside each other, the header included."""


def read_workbook(data: bytes, name: str, kind: str, settings: FileSettings) -> Sheet:
    """The rows of the sheet that was asked for, or of the only one that has a table."""
    engine = ENGINES[kind]
    try:
        with warnings.catch_warnings():
            # Styles that are not understood have no effect on cells.
            warnings.simplefilter("ignore")
            frames = pd.read_excel(
                BytesIO(data), sheet_name=None, header=None, dtype=object, engine=engine,
                keep_default_na=False, na_values=[],
            )  # fmt: skip
    except ImportError:
        raise DataError(
            f"'{name}' is a workbook, and the package {engine} that reads it is not installed. "
            "Run: pip install 'vbks[excel]', or save it as CSV."
        ) from None
    except Exception as error:  # each of these packages raises errors of its own
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(
            f"'{name}' cannot be read as a workbook: {reason}. Save it once more, or as CSV."
        ) from None
    chosen, notices = _choose({str(key): frame for key, frame in frames.items()}, name, settings)
    rows: list[Row] = []
    places = []
    for place, row in enumerate(frames[chosen].itertuples(index=False, name=None), 1):
        if num_filled(row):
            rows.append([None if is_empty(cell) else cell for cell in row])
            places.append(place)
    return Sheet(name, _without_margin(rows), places, "row", notices=notices)


def _choose(
    frames: dict[str, pd.DataFrame], name: str, settings: FileSettings
) -> tuple[str, list[str]]:
    """The name of a sheet, and what there is to say of the choice."""
    known = ", ".join(f"'{sheet}'" for sheet in frames)
    if settings.sheet is not None:
        if settings.sheet in frames:
            return settings.sheet, []
        if settings.sheet.isdecimal() and 1 <= int(settings.sheet) <= len(frames):
            return [*frames][int(settings.sheet) - 1], []
        raise DataError(f"'{name}' has no sheet '{settings.sheet}'. Its sheets: {known}.")
    tables = [sheet for sheet, frame in frames.items() if _has_table(frame)]
    if len(tables) > 1:
        listed = ", ".join(f"'{sheet}'" for sheet in tables)
        raise DataError(f"'{name}' has tables in the sheets {listed}. Choose one by --sheet.")
    if not tables:
        return next(iter(frames)), []
    is_only = len(frames) == 1
    return tables[0], [] if is_only else [f"The sheet '{tables[0]}' of {known} has the table."]


def _has_table(frame: pd.DataFrame) -> bool:
    rows = (num_filled(row) for row in frame.itertuples(index=False, name=None))
    return sum(count >= 2 for count in rows) >= LEAST_ROWS


def _without_margin(rows: list[Row]) -> list[Row]:
    """The same without columns at the left that have nothing at all."""
    firsts = (next(k for k, cell in enumerate(row) if cell is not None) for row in rows)
    left = min(firsts, default=0)
    return [row[left:] for row in rows]
