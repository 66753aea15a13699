"""Times among the inputs: instants become days since 1970-01-01 in UTC, durations become days."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_scalar, is_timedelta64_dtype

from vbks.arrays import Array
from vbks.data.sources import Values

INSTANTS = (np.datetime64, date)
DURATIONS = (np.timedelta64, timedelta)
TIMES = (*INSTANTS, *DURATIONS)
"""Types of times, those of pandas included."""

EPOCH = datetime(1970, 1, 1)
"""Where days are counted from, as in NumPy and pandas. A time without a zone counts as UTC."""

DAY = timedelta(days=1)


def with_days(table: Values | pd.DataFrame) -> Values | pd.DataFrame:
    """The table with numbers of days in place of times, and NaN of missing ones.

    A column with anything else among its times stays as it is.
    """
    if isinstance(table, pd.DataFrame):
        return _frame_with_days(table)
    if _is_time_type(table.dtype):
        return _with_mask(_days_of_array(table), table)
    if table.dtype == object and any(_are_times(column) for column in table.T):
        return _frame_with_days(pd.DataFrame(table).infer_objects())
    return table


def places_of_instants(table: Values | pd.DataFrame) -> tuple[int, ...]:
    """The columns whose dates and times `with_days` turns into numbers, counted from 0."""
    if isinstance(table, pd.DataFrame) or table.dtype == object:
        frame = pd.DataFrame(table)
        return tuple(n for n in range(frame.shape[1]) if _has_instants(frame.iloc[:, n]))
    return tuple(range(table.shape[1])) if table.dtype.kind == "M" else ()


def _has_instants(column: pd.Series[Any]) -> bool:
    if column.dtype == object:
        return {_kind(cell) for cell in column} - {"missing"} == {"instant"}
    return is_datetime64_any_dtype(column.dtype)


def instants(days: Array) -> Values:
    """Numbers of days as the instants that they stand for, to the microsecond."""
    microseconds = np.round(days * (DAY / timedelta(microseconds=1)))
    return np.asarray(microseconds.astype("datetime64[us]"))


def _frame_with_days(frame: pd.DataFrame) -> pd.DataFrame:
    converted = frame.copy(deep=False)
    for number in range(frame.shape[1]):
        column = frame.iloc[:, number]
        if _is_column_of_times(column):
            converted.isetitem(number, _days_of_column(column))
    return converted


def _is_column_of_times(column: pd.Series[Any]) -> bool:
    if column.dtype == object:
        return _are_times(column)
    return is_datetime64_any_dtype(column.dtype) or is_timedelta64_dtype(column.dtype)


def _are_times(cells: Iterable[Any]) -> bool:
    """Whether cells are all instants or all durations, but for missing ones."""
    kinds = {_kind(cell) for cell in cells} - {"missing"}
    return kinds in ({"instant"}, {"duration"})


def _kind(cell: Any) -> str:
    if is_scalar(cell) and pd.isna(cell):
        return "missing"
    if isinstance(cell, np.timedelta64) and not _is_time_type(cell.dtype):
        return "other"
    if isinstance(cell, DURATIONS):
        return "duration"
    return "instant" if isinstance(cell, INSTANTS) else "other"


def _is_time_type(dtype: np.dtype[Any]) -> bool:
    """Whether these are NumPy's times; months and years that begin nowhere have no length."""
    if dtype.kind == "m":
        return np.datetime_data(dtype)[0] not in ("Y", "M", "generic")
    return dtype.kind == "M"


def _days_of_column(column: pd.Series[Any]) -> Array:
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert(None)
    cells = column.to_numpy()
    if cells.dtype == object:
        return np.array([_days_of_cell(cell) for cell in cells])
    return _days_of_array(cells)


def _days_of_array(times: Values) -> Array:
    origin = np.datetime64(0, "D") if times.dtype.kind == "M" else np.timedelta64(0, "D")
    return np.asarray((np.asarray(times) - origin) / np.timedelta64(1, "D"))


def _days_of_cell(cell: Any) -> float:
    if _kind(cell) == "missing":
        return math.nan
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return float(_days_of_array(np.asarray(cell)))
    if isinstance(cell, timedelta):
        return cell / DAY
    if isinstance(cell, datetime):
        origin = EPOCH if cell.tzinfo is None else EPOCH.replace(tzinfo=timezone.utc)
        return (cell - origin) / DAY
    return float((cell - EPOCH.date()) / DAY)


def _with_mask(days: Array, table: Values) -> Array:
    mask = np.ma.getmaskarray(table)  # type: ignore[no-untyped-call]
    return np.where(mask, np.nan, days)
