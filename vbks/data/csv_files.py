"""Tables in CSV files: reading them, finding dates in them, and choosing inputs and a target."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from vbks.datasets.dataset import existing_file
from vbks.errors import DataError

DATE = r"^(?!\s*\d+:).*(?:\d{4}|\d+[-/.]\d+[-/.]\d+)"
"""A text that may be a date has a year or three numbers and does not begin with a time of day,
which pandas would take for one of today."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are inputs, the target, and texts that are neither."""

    inputs: tuple[str, ...]
    target: str
    left_out: tuple[str, ...] = ()


def read_csv(path: str | Path) -> pd.DataFrame:
    """The table of a CSV file with a header, or a `DataError`."""
    file = existing_file(path)
    try:
        table = pd.read_csv(file, skipinitialspace=True, low_memory=False)
    except pd.errors.EmptyDataError:
        raise DataError(f"'{file}' is empty. Give a header and rows.") from None
    except (ValueError, OSError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"'{file}' cannot be read as CSV: {reason}.") from None
    if not isinstance(table.index, pd.RangeIndex):
        raise DataError(f"rows of '{file}' have more cells than its header. Name every column.")
    if table.empty:
        raise DataError(f"'{file}' has a header and no rows. Give at least one.")
    if all(_is_number(name) for name in table.columns):
        raise DataError(
            f"the first row of '{file}' has numbers, expected names of columns. Add a header."
        )
    return table


def with_dates(table: pd.DataFrame) -> pd.DataFrame:
    """The table with dates in place of texts, in the columns where every text is one.

    In other columns of texts, cells that are numbers become numbers, so that messages name a cell
    that is none.
    """
    converted = table.copy(deep=False)
    for name in table.columns:
        if not is_numeric_dtype(table[name]):
            converted[name] = _dates_or_cells(table[name])
    return converted


def without_column(table: pd.DataFrame, name: str | None) -> tuple[pd.DataFrame, pd.Series | None]:
    """The table without a column that is neither input nor target, and that column, if any."""
    if name is None:
        return table, None
    _refuse_unknown(table, [name])
    return table.drop(columns=name), table[name]


def choose_columns(
    table: pd.DataFrame, inputs: Sequence[str] = (), target: str | None = None
) -> Columns:
    """The columns that were named; else the last is the target, and all others but texts inputs."""
    _refuse_unknown(table, [*inputs, *([] if target is None else [target])])
    others = [name for name in table.columns if name not in inputs]
    if target is None and not others:
        raise DataError("all columns are inputs, and none is left for the target. Name it by --y.")
    target = others[-1] if target is None else target
    if target in inputs:
        raise DataError(f"'{target}' is an input and the target. Choose one of the two.")
    if inputs:
        return Columns(tuple(dict.fromkeys(inputs)), target)
    rest = [name for name in table.columns if name != target]
    usable = tuple(name for name in rest if _is_usable(table[name]))
    if not usable:
        known = ", ".join(f"'{name}'" for name in table.columns)
        raise DataError(
            f"beside the target '{target}' there is no column of numbers or dates to explain it. "
            f"The columns: {known}. They are separated by commas."
        )
    return Columns(usable, target, tuple(name for name in rest if name not in usable))


def choose_inputs(table: pd.DataFrame, names: Sequence[str] | None, num_inputs: int) -> list[str]:
    """The columns that a selection wants to predict from; without names, the table has only these.

    Columns come in the order of the names.
    """
    if names is not None:
        _refuse_unknown(table, names)
        return list(names)
    if len(table.columns) != num_inputs:
        raise DataError(
            f"the table has {len(table.columns)} columns, but the selection was fitted to "
            f"{num_inputs} without names. Give a table of these alone, in the same order."
        )
    return list(table.columns)


def describe(table: pd.DataFrame, columns: Columns) -> str:
    """What was taken from a table, in a sentence or two."""
    inputs = " and ".join(_described(table, name) for name in columns.inputs)
    sentence = f"{len(table)} rows: {columns.target} explained by {inputs}."
    if columns.left_out:
        sentence += f" Left out, as they have texts: {', '.join(columns.left_out)}."
    return sentence


def _described(table: pd.DataFrame, name: str) -> str:
    """The name and, as dates may be read in more than one way, how dates were."""
    if not is_datetime64_any_dtype(table[name]):
        return name
    first, last = table[name].min(), table[name].max()
    return f"{name} (dates from {first:%Y-%m-%d} to {last:%Y-%m-%d})"


def _is_usable(column: pd.Series) -> bool:
    return is_numeric_dtype(column) or is_datetime64_any_dtype(column)


def _refuse_unknown(table: pd.DataFrame, names: Iterable[str]) -> None:
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        known = ", ".join(map(str, table.columns))
        raise DataError(f"there is no column '{unknown[0]}'. The columns: {known}.")


def _dates_or_cells(column: pd.Series) -> pd.Series:
    texts = column.dropna().astype(str)
    if len(texts) and texts.str.contains(DATE).all():
        with warnings.catch_warnings():
            # pandas warns where it has to guess the order of day and month.
            warnings.simplefilter("ignore")
            for form in ("ISO8601", None):
                with suppress(ValueError, OverflowError):
                    return pd.to_datetime(column, format=form, utc=True)
    numbers = pd.to_numeric(column, errors="coerce")
    return column.where(numbers.isna(), numbers)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
