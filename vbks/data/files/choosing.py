"""Which columns of a file are inputs and which is the target, and their rows without gaps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype

from vbks.arrays import Mask
from vbks.data.cells.readings import Reading
from vbks.data.files.opening import FileTable
from vbks.errors import DataError

COUNTING = re.compile(
    r"(?i)unnamed: \d+|index|idx|row|rownames|row[ _.]?(id|no|nr|number)|id|no\.?|(lfd\.? ?)?nr\.?"
    r"|#|n|obs|observation"
)
"""Names of columns that count rows, if their numbers do."""

LISTED = 3
"""At most this many columns or rows are named where there may be more."""

SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, -999999.0)
"""Numbers that stand for missing values in files of some instruments."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are inputs, the target, and what is neither."""

    inputs: tuple[str, ...]
    target: str
    texts: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    is_target_guessed: bool = False
    """Whether other columns could have been the target as well."""


@dataclass(frozen=True)
class FileRows:
    """Inputs, targets and known noise of the rows of a file, and what to tell of them."""

    X: pd.DataFrame
    y: pd.Series[Any]
    noise: pd.Series[Any] | None
    columns: Columns
    notices: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What was taken from the table, in a few sentences."""
        inputs = " and ".join(_described(self.X[name]) for name in self.columns.inputs)
        sentences = [f"{len(self.X)} rows: {self.columns.target} explained by {inputs}."]
        for names, reason in (
            (self.columns.texts, "as they have texts"),
            (self.columns.empty, "as they have nothing"),
            (self.columns.counting, "as they count rows"),
        ):
            if names:
                sentences.append(f"Left out, {reason}: {', '.join(names)}.")
        if self.columns.is_target_guessed:
            sentences.append("The target is the last column of numbers; --y names another.")
        return " ".join(sentences)


def read_rows(
    table: FileTable,
    inputs: Sequence[str] = (),
    target: str | None = None,
    noise: str | None = None,
) -> FileRows:
    """Inputs and targets of a file, with the columns that were named or those that are usual.

    The target is the last column of numbers, and all other numbers and dates are inputs, but for
    columns that only count rows.
    """
    columns = choose_columns(table, inputs, target, () if noise is None else (noise,))
    read = {name: table.reading(name) for name in columns.inputs}
    read[columns.target] = table.reading(columns.target, is_target=True)
    if noise is not None:
        read[noise] = table.reading(noise, is_target=True)
    for name in (columns.target, noise):
        if name is not None and is_datetime64_any_dtype(read[name].values.dtype):
            raise DataError(
                f"column '{name}' of '{table.file}' has dates, expected numbers. Name another "
                "target by --y."
            )
    values = pd.DataFrame({name: reading.values for name, reading in read.items()})
    kept, dropped = _kept(table, values, columns.target)
    notices = (*table.grid.notices, *_forms(table, read), *_sentinels(values), *dropped)
    rows = values[kept].reset_index(drop=True)
    known = None if noise is None else rows[noise]
    return FileRows(rows[list(columns.inputs)], rows[columns.target], known, columns, notices)


def choose_columns(
    table: FileTable,
    inputs: Sequence[str] = (),
    target: str | None = None,
    others: Sequence[str] = (),
) -> Columns:
    """The columns that were named; else the last of numbers is the target, and the rest inputs.

    ``others`` are used for something else.
    """
    refuse_unknown(table, [*inputs, *others, *([] if target is None else [target])])
    rest = [name for name in table.names if name not in (*inputs, *others)]
    if target is None and not rest:
        raise DataError("all columns are inputs, and none is left for the target. Name it by --y.")
    if target in inputs:
        raise DataError(f"'{target}' is an input and the target. Choose one of the two.")
    is_guessed = False
    if target is None:
        target, is_guessed = _usual_target(table, rest)
    if inputs:
        return Columns(tuple(dict.fromkeys(inputs)), target, is_target_guessed=is_guessed)
    return _usual_inputs(table, [name for name in rest if name != target], target, is_guessed)


def read_inputs(table: FileTable, names: Sequence[str] | None, num_inputs: int) -> pd.DataFrame:
    """The inputs that a selection wants to predict from; without names, the table has only these.

    Columns come in the order of the names.
    """
    if names is not None:
        refuse_unknown(table, names)
    if len(table.names if names is None else names) != num_inputs:
        raise DataError(
            f"the table has {len(table.names)} columns, but the selection was fitted to "
            f"{num_inputs} without names. Give a table of these alone, in the same order."
        )
    chosen = table.names if names is None else names
    return pd.DataFrame({name: table.reading(name).values for name in chosen})


def refuse_unknown(table: FileTable, names: Iterable[str]) -> None:
    """Refuse names that no column has."""
    unknown = [name for name in names if name not in table.names]
    if unknown:
        known = ", ".join(table.names)
        raise DataError(f"there is no column '{unknown[0]}'. The columns: {known}.")


def _usual_target(table: FileTable, names: Sequence[str]) -> tuple[str, bool]:
    """The last column of numbers, and whether it is neither the last nor the only one."""
    numbers = [name for name in names if table.kind(name) == "numbers"]
    numbers = [name for name in numbers if not _counts_rows(table, name)] or numbers
    if not numbers:
        texts = [name for name in names if table.kind(name) == "texts"]
        if texts and len(table.names) > 1:
            table.reading(texts[-1], is_target=True)
        raise DataError(
            f"'{table.file}' has no column of numbers for the target. {_listed(table)} If these "
            "are several in one, say what is between them by --sep."
        )
    return numbers[-1], len(numbers) > 1 or numbers[-1] != names[-1]


def _usual_inputs(table: FileTable, names: Sequence[str], target: str, is_guessed: bool) -> Columns:
    kinds = {name: table.kind(name) for name in names}
    usable = [name for name in names if kinds[name] in ("numbers", "dates")]
    counting = [name for name in usable if _counts_rows(table, name)]
    if len(counting) == len(usable):
        counting = counting[1:]
    inputs = tuple(name for name in usable if name not in counting)
    if not inputs:
        raise DataError(
            f"beside the target '{target}' there is no column of numbers or dates in "
            f"'{table.file}' to explain it. {_listed(table)} If these are several in one, say "
            "what is between them by --sep."
        )
    texts, empty = (
        tuple(name for name in names if kinds[name] == kind) for kind in ("texts", "nothing")
    )
    return Columns(inputs, target, texts, empty, tuple(counting), is_guessed)


def _listed(table: FileTable) -> str:
    return "The columns: " + ", ".join(f"'{name}'" for name in table.names) + "."


def _counts_rows(table: FileTable, name: str) -> bool:
    """Whether a column is called as one that counts rows, and does it from 0 or 1 on."""
    if not COUNTING.fullmatch(name) or table.kind(name) != "numbers":
        return False
    values = table.reading(name).values.to_numpy()
    return any(np.array_equal(values, np.arange(len(values)) + first) for first in (0, 1))


def _kept(table: FileTable, values: pd.DataFrame, target: str) -> tuple[Mask, tuple[str, ...]]:
    """The rows in which nothing is missing, if others may be dropped, and what was dropped."""
    gaps = values.isna()
    incomplete = gaps.any(axis=1).to_numpy()
    if not incomplete.any():
        return ~incomplete, ()
    if table.settings.missing == "refuse":
        name = next(name for name in gaps if gaps[name].any())
        rows = np.flatnonzero(gaps[name])
        count = "1 missing value" if len(rows) == 1 else f"{len(rows)} missing values"
        first, it = ("", "it") if len(rows) == 1 else ("the first ", "them")
        label = "the target" if name == target else "column"
        raise DataError(
            f"{label} '{name}' of '{table.file}' has {count}, {first}in "
            f"{table.grid.place(rows[0])}. Fill {it}, or leave such rows out: --missing drop."
        )
    rows = np.flatnonzero(incomplete)
    if len(rows) == len(values):
        raise DataError(f"something is missing in every row of '{table.file}'. Name inputs by --x.")
    shown = ", ".join(str(table.grid.places[row]) for row in rows[:LISTED])
    more = ", ..." if len(rows) > LISTED else ""
    noun = "row" if len(rows) == 1 else "rows"
    return ~incomplete, (
        f"{len(rows)} {noun} with missing values left out: {table.grid.place_name} {shown}{more}.",
    )


def _forms(table: FileTable, read: dict[str, Reading]) -> tuple[str, ...]:
    """A sentence for each form in which cells were read that could be meant otherwise."""
    groups: dict[str, list[str]] = {}
    for name, reading in read.items():
        if reading.how:
            groups.setdefault(reading.how, []).append(name)
    return tuple(
        f"{_names(names)}: read {how} ({_example(table, names[0], read[names[0]])})."
        for how, names in groups.items()
    )


def _example(table: FileTable, name: str, reading: Reading) -> str:
    """A cell and what was read in it."""
    cell = str(table.cells(name).iloc[reading.example]).strip()
    value = reading.values.iloc[reading.example]
    if not isinstance(value, pd.Timestamp):
        return f"'{cell}' is {value:.12g}"
    return f"'{cell}' is {str(value.tz_localize(None)).removesuffix(' 00:00:00')}"


def _names(names: Sequence[str]) -> str:
    if len(names) <= LISTED:
        return ", ".join(names)
    return f"{', '.join(names[:LISTED])} and {len(names) - LISTED} more"


def _sentinels(values: pd.DataFrame) -> tuple[str, ...]:
    """A sentence for columns with numbers that may stand for missing ones."""
    notices = []
    for name in values.select_dtypes("number"):
        column = values[name].to_numpy()
        low = np.nanmin(column)
        rest = column[column > low]
        count = int(np.sum(column == low))
        if low in SENTINELS and len(rest) and rest.min() > 0.1 * low and count > 1:
            notices.append(
                f"{name} is {low:g} in {count} rows, far from all others: if nothing is "
                "known there, empty these cells."
            )
    return tuple(notices)


def _described(column: pd.Series[Any]) -> str:
    """The name and, as dates may be read in more than one way, how dates were."""
    if not is_datetime64_any_dtype(column):
        return str(column.name)
    first, last = column.min(), column.max()
    return f"{column.name} (dates from {first:%Y-%m-%d} to {last:%Y-%m-%d})"
