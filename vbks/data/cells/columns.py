"""A column of whatever cells, read as numbers or dates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal as ExactNumber
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from vbks.arrays import Array, Mask
from vbks.data.cells.dates import by_iso, read_dates, read_months
from vbks.data.cells.number_dates import read_number_dates
from vbks.data.cells.numbers import TRUTH, Decimal, plain_numbers, read_numbers, read_truth
from vbks.data.cells.readings import Cells, Fault, Reading, are_missing, are_texts, stripped

Kind: TypeAlias = Literal["numbers", "dates", "texts", "nothing"]
"""What a column has."""

NotValues: TypeAlias = Literal["nothing", "texts"]
"""Kinds of columns that are neither numbers nor dates."""

NOTHING: Literal["nothing"] = "nothing"
"""The kind of a column in which every cell is empty."""

TEXTS: Literal["texts"] = "texts"
"""The kind of a column of texts."""


@dataclass(frozen=True)
class Forms:
    """How cells are written, where that was asked for or is known from other columns."""

    decimal: Decimal | None = None
    date_format: str | None = None
    hint: Decimal | None = None
    """The decimal mark of other columns, which decides where a column leaves it open."""


def read_column(
    column: pd.Series[Any], forms: Forms, *, is_target: bool = False
) -> Reading | Fault | NotValues:
    """Numbers or dates of a column, the cell at fault, or that it has texts or nothing at all.

    Targets are numbers even where they look like dates, such as 201401.
    """
    name = "" if is_target else str(column.name)
    if is_datetime64_any_dtype(column.dtype):
        return Reading(pd.to_datetime(column, utc=True).reset_index(drop=True))
    if is_bool_dtype(column.dtype):
        return Reading(column.astype(float).reset_index(drop=True), TRUTH)
    if is_numeric_dtype(column.dtype):
        values = column.to_numpy(np.float64, na_value=np.nan)
        return NOTHING if np.isnan(values).all() else _numbers_or_dates(values, name, is_target)
    cells = column.to_numpy(dtype=object)
    found = _quickly(cells, forms, name, is_target)
    return _read_cells(stripped(cells), forms, name, is_target) if found is None else found


def _quickly(cells: Cells, forms: Forms, name: str, is_target: bool) -> Reading | None:
    """Texts that are all as programs write them: numbers with points, or dates of ISO 8601."""
    if forms.date_format is not None or not all(type(cell) is str for cell in cells):
        return None
    if not is_target and (months := read_months(cells)) is not None:
        return months
    if forms.decimal != "," and (values := plain_numbers(cells)) is not None:
        return None if np.isnan(values).all() else _numbers_or_dates(values, name, is_target)
    dates = None if is_target else by_iso(cells)
    return None if dates is None else Reading(dates)


def _numbers_or_dates(values: Array, name: str, is_target: bool) -> Reading:
    dates = None if is_target else read_number_dates(values, name)
    return Reading(pd.Series(values)) if dates is None else dates


def _read_cells(
    cells: Cells, forms: Forms, name: str, is_target: bool
) -> Reading | Fault | NotValues:
    known = ~are_missing(cells)
    if not known.any():
        return NOTHING
    texts = known & are_texts(cells)
    others = known & ~texts
    parts: list[tuple[Mask, Reading]] = []
    if others.any():
        typed = _typed(cells[others])
        if typed is None:
            return TEXTS
        parts.append((others, typed))
    if texts.any():
        written = _written(cells[texts], forms, is_target)
        if written is None:
            return _stray(texts) if texts.sum() < others.sum() else TEXTS
        if isinstance(written, Fault):
            return replace(written, row=int(np.flatnonzero(texts)[written.row]))
        parts.append((texts, written))
    return _joined(parts, len(cells), name, is_target)


def _stray(texts: Mask) -> Fault:
    return Fault(int(np.flatnonzero(texts)[0]), "a text among numbers or dates")


def _typed(cells: Cells) -> Reading | None:
    """Cells that came with types: truth values, numbers or dates, all of one kind."""
    if all(isinstance(cell, bool | np.bool_) for cell in cells):
        return Reading(pd.Series(cells.astype(float)), TRUTH)
    if all(isinstance(cell, Real | ExactNumber) for cell in cells):
        return Reading(pd.Series(np.array([float(cell) for cell in cells])))
    if all(isinstance(cell, date | np.datetime64) for cell in cells):
        return Reading(pd.to_datetime(pd.Series(cells), utc=True))
    return None


def _written(texts: Cells, forms: Forms, is_target: bool) -> Reading | Fault | None:
    """Texts as numbers or dates."""
    if forms.date_format is not None and not is_target:
        dates = read_dates(texts, forms.date_format)
        if dates is not None:
            return dates
    if (truth := read_truth(texts)) is not None:
        return truth
    if not is_target and (months := read_months(texts)) is not None:
        return months
    numbers = read_numbers(texts, forms.decimal, forms.hint)
    if isinstance(numbers, Reading) or is_target:
        return numbers
    return read_dates(texts) or numbers


def _joined(
    parts: list[tuple[Mask, Reading]], num: int, name: str, is_target: bool
) -> Reading | Fault:
    """One column of its typed and its written cells."""
    kinds = [is_datetime64_any_dtype(reading.values.dtype) for _, reading in parts]
    mask, last = parts[-1]
    row = int(np.flatnonzero(mask)[last.example])
    if len({*kinds}) > 1:
        return Fault(row, "and other cells have " + ("numbers" if kinds[-1] else "dates"))
    if kinds[-1] and len(parts) > 1 and last.how:
        return Fault(
            row, "a text among dates, in which day and month may have changed places. Write all "
            "dates in one form"
        )  # fmt: skip
    if kinds[-1]:
        whole = np.full(num, np.datetime64("NaT"), "datetime64[ns]")
        for own, reading in parts:
            whole[own] = reading.values.dt.tz_localize(None).to_numpy()
        return Reading(pd.Series(whole).dt.tz_localize("UTC"), last.how, row)
    values = np.full(num, np.nan)
    for own, reading in parts:
        values[own] = reading.values.to_numpy()
    if last.how:
        return Reading(pd.Series(values), last.how, row)
    return _numbers_or_dates(values, name, is_target)
