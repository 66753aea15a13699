"""What a user gives as X and y, read as arrays of numbers with names for its columns."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Complex, Real
from typing import NamedTuple, NoReturn

import numpy as np
import pandas as pd
from pandas.api.types import is_complex_dtype, is_numeric_dtype

from vbks.data.cells.dates import read_dates
from vbks.data.given import as_pandas, with_instants
from vbks.data.sources import Values
from vbks.data.times import TIMES, places_of_instants, with_days
from vbks.errors import DataError

NUMBERS = "biuf"
"""NumPy's letters for the types that become float64: truth values, integers and reals."""


@dataclass(frozen=True, eq=False)
class Table:
    """Inputs [N, D] and targets [N] in the types they came in, memory maps where they are."""

    X: Values
    y: Values
    labels: tuple[str, ...]
    """What messages call the inputs and, last, the target."""
    names: tuple[str, ...] | None = None
    """Names of the inputs, if all have one."""
    times: tuple[int, ...] = ()
    """Which of the inputs were dates or times, counted from 0."""
    target: str | None = None
    """The name of the target, if it has one."""


class Inputs(NamedTuple):
    """Inputs [N, D] without targets, what messages call them, names if all have one, and which of
    them were dates or times, counted from 0."""

    X: Values
    labels: tuple[str, ...]
    names: tuple[str, ...] | None
    times: tuple[int, ...]


def read_table(X: object, y: object) -> Table:
    """The table of array-likes X [N] or [N, D] and y [N] or [N, 1]; X may have times.

    Times may be texts of ISO 8601 and periods, which stand for their beginnings.
    """
    inputs, targets = with_instants(_two_dimensional(X, "X")), _two_dimensional(y, "y")
    _refuse_many_targets(targets)
    if len(inputs) != len(targets):
        raise DataError(
            f"X has {len(inputs)} rows and y has {len(targets)}. Give one target for each row of X."
        )
    _refuse_other_index(inputs, targets)
    x_labels, y_label = _input_labels(inputs), _target_label(targets)
    values = _numbers(targets, [y_label])
    return Table(
        _numbers(with_days(inputs), x_labels), values[:, 0], (*x_labels, y_label),
        _names(inputs), places_of_instants(inputs), next(iter(_names(targets) or ()), None),
    )  # fmt: skip


def read_inputs(X: object) -> Inputs:
    """Inputs to predict at, an array-like [N] or [N, D], read as those of `read_table` are.

    Names are those of the columns of a pandas table if all of them are texts.
    """
    inputs = with_instants(_two_dimensional(X, "X"))
    labels = _input_labels(inputs)
    times = places_of_instants(inputs)
    return Inputs(_numbers(with_days(inputs), labels), labels, _names(inputs), times)


def default_labels(num_inputs: int) -> tuple[str, ...]:
    """What messages call inputs without names and, last, the target."""
    return (*(f"input {number}" for number in range(1, num_inputs + 1)), "the target")


def _two_dimensional(values: object, name: str) -> Values | pd.DataFrame:
    """Columns side by side, of whatever type."""
    values = as_pandas(values)
    values = values.to_frame() if isinstance(values, pd.Series) else values
    table = values if isinstance(values, pd.DataFrame) else _columns(values, name)
    if not table.shape[1]:
        raise DataError(f"{name} has no columns. Give at least one.")
    return table


def _columns(values: object, name: str) -> Values:
    array = _array(values, name)
    if array.ndim not in (1, 2):
        raise DataError(
            f"{name} is of type '{type(values).__name__}' and has {array.ndim} dimensions, "
            "expected a list of numbers or a table with one row for each target. Reshape it."
        )
    return array if array.ndim == 2 else array[:, None]


def _array(values: object, name: str) -> Values:
    if isinstance(values, np.memmap | np.ma.MaskedArray):
        return values
    try:
        array = np.asarray(values)
        # NumPy turns the numbers beside a text into texts; messages show what was given.
        return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array
    except Exception as error:  # every array library raises errors of its own
        raise DataError(
            f"{name} cannot be read as an array: {str(error).rstrip('.')}. "
            "Give numbers, in rows of one length."
        ) from None


def _refuse_many_targets(targets: Values | pd.DataFrame) -> None:
    if targets.shape[1] > 1:
        raise DataError(
            f"y has {targets.shape[1]} columns, expected one target. "
            "Choose a column, or fit each of them on its own."
        )


def _refuse_other_index(inputs: Values | pd.DataFrame, targets: Values | pd.DataFrame) -> None:
    """Refuse rows of pandas that are not the same rows in the same order."""
    if not isinstance(inputs, pd.DataFrame) or not isinstance(targets, pd.DataFrame):
        return
    if inputs.index.equals(targets.index):
        return
    pairs = enumerate(zip(inputs.index, targets.index, strict=True), 1)
    row, (one, other) = next((k, pair) for k, pair in pairs if pair[0] != pair[1])
    raise DataError(
        f"X and y have different indexes: row {row} is '{one}' in X and '{other}' in y. Give both "
        "the same index or, if their rows are in the same order, y.to_numpy()."
    )


def _input_labels(inputs: Values | pd.DataFrame) -> tuple[str, ...]:
    labels = default_labels(inputs.shape[1])[:-1]
    if not isinstance(inputs, pd.DataFrame) or _is_unnamed(inputs):
        return labels
    return tuple(f"column {reprlib.repr(name)}" for name in inputs.columns)


def _names(columns: Values | pd.DataFrame) -> tuple[str, ...] | None:
    """The names of columns, if all have one."""
    if not isinstance(columns, pd.DataFrame):
        return None
    names = tuple(name for name in columns.columns if isinstance(name, str))
    return names if len(names) == columns.shape[1] else None


def _target_label(targets: Values | pd.DataFrame) -> str:
    if not isinstance(targets, pd.DataFrame) or _is_unnamed(targets):
        return "the target"
    return f"the target {reprlib.repr(targets.columns[0])}"


def _is_unnamed(frame: pd.DataFrame) -> bool:
    """Whether the columns are only counted, as those of a table or series without names are."""
    return isinstance(frame.columns, pd.RangeIndex)


def _numbers(table: Values | pd.DataFrame, labels: Sequence[str]) -> Values:
    """The table as an array of a numeric type; other types are refused."""
    if not len(table):
        return np.empty(table.shape)
    if isinstance(table, pd.DataFrame):
        return _frame_numbers(table, labels)
    if table.dtype.kind not in NUMBERS:
        _refuse(table, labels, str(table.dtype))
    if isinstance(table, np.ma.MaskedArray):
        return np.where(table.mask, np.nan, table.data)
    return table


def _frame_numbers(frame: pd.DataFrame, labels: Sequence[str]) -> Values:
    for number, dtype in enumerate(frame.dtypes):
        if not is_numeric_dtype(dtype) or is_complex_dtype(dtype):
            column = frame.iloc[:, [number]].to_numpy(dtype=object)
            _refuse(column, [labels[number]], str(dtype))
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _refuse(table: Values, labels: Sequence[str], dtype: str) -> NoReturn:
    """Show the first cell that is not a real number or, if all are, the first cell."""
    wrong = np.argwhere([[not isinstance(cell, Real) for cell in row] for row in table])
    row, column = wrong[0] if len(wrong) else (0, 0)
    cell = table[row, column]
    raise DataError(
        f"{labels[column]} is of type '{dtype}', expected numbers: row {row + 1} has "
        f"{_shown(cell)}. {_advice(cell)}"
    )


def _shown(cell: object) -> str:
    return f"'{cell}'" if isinstance(cell, TIMES) else reprlib.repr(cell)


def _advice(cell: object) -> str:
    if isinstance(cell, TIMES):
        return "Give times as numbers, such as days since the first."
    if cell is None or cell is pd.NA:
        return "Drop or fill missing values."
    if isinstance(cell, str) and read_dates(np.array([cell], dtype=object)) is not None:
        return "Give dates that begin with the year, or those of pd.to_datetime(..., format=...)."
    if isinstance(cell, Complex) and not isinstance(cell, Real):
        return "Give the real part, the imaginary part or both as columns of their own."
    return "Convert the column to numbers, or leave it out."
