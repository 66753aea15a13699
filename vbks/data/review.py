"""One pass over all rows that refuses values no model can use and gathers means and spreads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Mask
from vbks.data.sources import Source
from vbks.data.units import Moments
from vbks.errors import DataError

REVIEWED_ROWS = 16_384
"""Rows that are looked at together: some megabytes, and enough that the loop costs nothing."""

LARGEST_VALUE = 1e150
"""Larger values have squares that overflow."""


@dataclass(frozen=True)
class _Fault:
    """A reason why a value cannot be used."""

    noun: str
    advice: str
    is_found: Callable[[Array], Mask]


_FAULTS = (
    _Fault("missing value", "Drop or fill missing values before fitting.", np.isnan),
    _Fault("infinite value", "Drop or replace infinite values before fitting.", np.isinf),
    _Fault(
        "huge value",
        f"Give the column in larger units, within ±{LARGEST_VALUE:g}.",
        lambda table: np.abs(table) > LARGEST_VALUE,
    ),
)


@dataclass
class _Finding:
    """How often a fault was found in a column, and in which row first, counted from 1."""

    count: int
    row: int


class _Findings:
    """What is wrong with each column, gathered table by table."""

    def __init__(self, num_columns: int) -> None:
        self._of_columns: list[dict[_Fault, _Finding]] = [{} for _ in range(num_columns)]

    def add(self, table: Array, rows_before: int) -> None:
        """Look for every fault in every column of the next rows."""
        for fault in _FAULTS:
            found = fault.is_found(table)
            for column in np.flatnonzero(found.any(axis=0)):
                row = rows_before + int(found[:, column].argmax()) + 1
                finding = self._of_columns[column].setdefault(fault, _Finding(0, row))
                finding.count += int(found[:, column].sum())

    def refuse(self, labels: Sequence[str]) -> None:
        """Raise the first fault of the first column that has one."""
        for label, findings in zip(labels, self._of_columns, strict=True):
            for fault, finding in findings.items():
                raise DataError(f"{label} has {_counted(fault, finding)}. {fault.advice}")


def review(source: Source, labels: Sequence[str]) -> Moments:
    """Moments of the inputs and, last, the target, if every value of them can be used."""
    findings = _Findings(len(labels))
    moments = Moments.of_nothing(len(labels))
    rows_before = 0
    for table in _tables(source):
        if np.all(np.abs(table) <= LARGEST_VALUE):
            moments = moments.including(table)
        else:
            findings.add(table, rows_before)
        rows_before += len(table)
    findings.refuse(labels)
    return moments


def _tables(source: Source) -> Iterator[Array]:
    """All rows with the target as last column, if they are as many as the source says."""
    seen = 0
    for X, y in source.blocks(REVIEWED_ROWS):
        seen += len(y)
        if seen > source.num_rows:
            break
        yield np.column_stack([X, y])
    if seen != source.num_rows:
        there = "more" if seen > source.num_rows else f"only {seen}"
        raise DataError(f"num_rows is {source.num_rows}, but there are {there}. Correct it.")


def _counted(fault: _Fault, finding: _Finding) -> str:
    if finding.count == 1:
        return f"1 {fault.noun}, in row {finding.row}"
    return f"{finding.count} {fault.noun}s, the first in row {finding.row}"
