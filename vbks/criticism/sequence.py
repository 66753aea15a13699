"""Rows in the order in which a model predicts them, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

from vbks.arrays import Array, Rows
from vbks.data.sources import ArraySource
from vbks.data.training import TrainingData
from vbks.words import Axes
from vbks.words.estimate import Estimate
from vbks.words.places import place_after_preposition

MOST_ROWS = 600
"""Up to this many rows are checked: matrices of them take milliseconds, and faults that matter show
in fewer."""

RUN_LENGTH = 50
"""Larger data sets are checked by evenly spread runs of this many neighbours."""


@dataclass(frozen=True, eq=False)
class RowSequence:
    """Rows to check, in the order of the input ``along``, or of the table where that is None.

    X [n, D] and y [n] are in the user's units; ``numbers`` [n] are the places of the rows in the
    table, counted from 0.
    """

    X: Array
    y: Array
    numbers: Rows
    along: int | None
    axes: Axes
    num_all: int

    def __len__(self) -> int:
        return len(self.y)

    @property
    def positions(self) -> Array:
        """Where rows are: values of the input they are in order of, or their numbers: [n]."""
        return np.asarray(self.X[:, self.along] if self.along is not None else self.numbers, float)

    @cached_property
    def ranks(self) -> Array:
        """Ranks of each input from 0 to 1, the same for the same values: [n, D]."""
        ranks = np.stack([rankdata(x) for x in self.X.T], axis=1)
        return np.asarray((ranks - 0.5) / len(self))

    @property
    def order_name(self) -> str:
        """What the rows are in order of, in words."""
        return "the table" if self.along is None else self.axes.name(self.along + 1)

    def where(self, place: int) -> str:
        """The place of a row in words: "in March 1957", "at 28 days", "in row 12"."""
        if self.along is None:
            return f"in row {self.numbers[place] + 1}"
        value = Estimate(float(self.positions[place]))
        return place_after_preposition(value, self.axes[self.along + 1])


def order_input(axes: Axes, num_inputs: int) -> int | None:
    """The input that rows are put in order of: the only one, or time if there is one."""
    if num_inputs == 1:
        return 0
    times = [place for place, axis in enumerate(axes.inputs) if axis.is_time]
    return times[0] if len(times) == 1 else None


def rows_in_order(data: TrainingData, along: int | None, most: int = MOST_ROWS) -> Rows:
    """Places of the rows to check: all, or runs of neighbours that are evenly spread."""
    num = data.num_rows
    order = np.arange(num)
    if along is not None and isinstance(data.source, ArraySource):
        order = np.argsort(np.asarray(data.source.X[:, along], float), kind="stable")
    if num <= most:
        return order
    starts = np.linspace(0, num - RUN_LENGTH, max(1, most // RUN_LENGTH)).astype(int)
    return np.asarray(order[np.unique(starts[:, np.newaxis] + np.arange(RUN_LENGTH))])
