"""What a call is given, in the types of pandas: a series, a table with the name of its target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from vbks.data.cells.dates import are_iso, read_dates
from vbks.data.cells.readings import Reading
from vbks.data.sources import Values
from vbks.errors import DataError

TIME, ROW = "time", "row"
"""What an index is called as an input, if it has no name: of times, and of other rows."""

COUNTED = "The series has no dates: its input is the number of the row, from {} on."
"""What is said of a series with nothing but its values."""

UNNAMED = "Column '{}' counts rows, so it was left out."
"""What is said of the index of an earlier table that has become a column."""


class Given(NamedTuple):
    """Inputs and targets of a call, and what there is to tell of them."""

    X: Any
    y: Any
    notices: tuple[str, ...] = ()


def inputs_and_targets(X: Any, y: Any) -> Given:
    """Inputs and targets of whatever a call was given.

    A series alone is explained by its index; ``y`` may be the name of a column of a table X, or a
    list of names, and the rest of the table are inputs then, with its index if that has times.
    """
    X = as_pandas(X)
    if isinstance(X, pd.DataFrame) and (names := _names_among(X, y)):
        return _of_table(X, y, names)
    if y is None and isinstance(X, pd.Series):
        table = X.to_frame(X.name)
        return _of_table(table, None, tuple(table.columns))
    return Given(X, as_pandas(y))


def as_pandas(values: Any) -> Any:
    """Tables and series of polars, Arrow and others as those of pandas; all else as it is."""
    if isinstance(values, pd.DataFrame | pd.Series):
        return values
    if type(values).__module__.split(".")[0] == "polars":
        return _of_polars(values)
    if hasattr(values, "__dataframe__"):
        return pd.api.interchange.from_dataframe(values)
    return values


def with_instants(table: Values | pd.DataFrame) -> Values | pd.DataFrame:
    """The table with instants in place of periods, which begin then, and of dates as ISO texts."""
    if isinstance(table, pd.DataFrame):
        changed = table.copy(deep=False)
        for place, instants in _instants_of(table.iloc[:, k] for k in range(table.shape[1])):
            changed.isetitem(place, instants.array)
        return changed
    if table.dtype != object:
        return table
    found = [*_instants_of(pd.Series(column) for column in table.T)]
    if not found:
        return table
    copy = np.array(table)
    for place, instants in found:
        copy[:, place] = instants.astype(object)
    return copy


def _instants_of(columns: Iterator[pd.Series[Any]]) -> Iterator[tuple[int, pd.Series[Any]]]:
    """The columns with periods or ISO texts, as instants, and their places."""
    for place, column in enumerate(columns):
        if isinstance(column.dtype, pd.PeriodDtype):
            yield place, pd.Series(column.dt.to_timestamp().to_numpy())
            continue
        known = column.dropna()
        if not len(known) or column.dtype.kind in "biufcmM":
            continue
        cells = known.to_numpy(dtype=object)
        if all(isinstance(cell, pd.Period) for cell in cells):
            whole = pd.Series(pd.PeriodIndex(column))
            yield place, pd.Series(whole.dt.to_timestamp().to_numpy())
        elif all(isinstance(cell, str) for cell in cells) and are_iso(cells).all():
            reading = read_dates(cells)
            if isinstance(reading, Reading):
                values = np.full(len(column), np.datetime64("NaT"), "datetime64[ns]")
                values[column.notna().to_numpy()] = reading.values.dt.tz_localize(None)
                yield place, pd.Series(values)


def _of_polars(values: Any) -> Any:
    """A frame or series of polars, column by column, which needs no other package."""
    kind = type(values).__name__
    if kind == "LazyFrame":
        raise DataError("the table is a LazyFrame of polars. Give table.collect().")
    if kind == "DataFrame":
        return pd.DataFrame({name: values[name].to_numpy() for name in values.columns})
    return pd.Series(values.to_numpy(), name=values.name or None) if kind == "Series" else values


def _names_among(X: pd.DataFrame, y: Any) -> tuple[Any, ...]:
    """The columns of X that y names, if it is a name or a list of them."""
    if isinstance(y, str):
        names: Sequence[Any] = (y,)
    elif isinstance(y, list | tuple) and y and all(isinstance(name, str) for name in y):
        names = y
    else:
        return ()
    unknown = [name for name in names if name not in X.columns]
    if unknown:
        known = ", ".join(map(str, X.columns))
        raise DataError(f"there is no column '{unknown[0]}'. The columns: {known}.")
    return tuple(names)


def _of_table(table: pd.DataFrame, y: Any, names: tuple[Any, ...]) -> Given:
    """The named columns as targets, and the others with a telling index as inputs."""
    twice = [name for name in names if list(table.columns).count(name) > 1]
    if twice:
        raise DataError(f"there are two columns '{twice[0]}'. Rename one of them.")
    targets = table[list(names)] if isinstance(y, list | tuple) else table[names[0]]
    inputs = table.drop(columns=list(names))
    notices = []
    for name in [name for name in inputs.columns if str(name).startswith("Unnamed: ")]:
        if _counts_rows(inputs[name]) and (inputs.shape[1] > 1 or _tells(table.index)):
            inputs = inputs.drop(columns=name)
            notices.append(UNNAMED.format(name))
    if _tells(table.index) or not inputs.shape[1]:
        index = _input_of(table.index)
        if not _tells(table.index) and isinstance(table.index, pd.RangeIndex):
            notices.append(COUNTED.format(table.index[0] if len(table) else 0))
        inputs = pd.concat([index, inputs], axis=1)
    return Given(inputs, targets, tuple(notices))


def _tells(index: pd.Index) -> bool:
    """Whether an index says more of its rows than which they are: times, or named numbers."""
    if isinstance(index, pd.DatetimeIndex | pd.PeriodIndex | pd.TimedeltaIndex):
        return True
    is_counted = isinstance(index, pd.RangeIndex) and index.start in (0, 1)
    return index.name is not None and is_numeric_dtype(index.dtype) and not is_counted


def _input_of(index: pd.Index) -> pd.Series[Any]:
    """An index as a column beside the others."""
    if isinstance(index, pd.MultiIndex):
        raise DataError("the index has several levels. Make columns of them: table.reset_index().")
    is_time = isinstance(index, pd.DatetimeIndex | pd.PeriodIndex | pd.TimedeltaIndex)
    usual = TIME if is_time else ROW
    return index.to_series(name=usual if index.name is None else str(index.name))


def _counts_rows(column: pd.Series[Any]) -> bool:
    numbers = is_numeric_dtype(column.dtype)
    return numbers and bool(np.array_equal(column, np.arange(len(column)) + column.iloc[0]))
