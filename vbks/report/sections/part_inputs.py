"""Inputs at which parts are drawn: along each input, and closer where cycles are short."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Rows
from vbks.parts.kinds import PERIOD_TOLERANCE
from vbks.report.labels import Labels
from vbks.report.sections.outlook import places_ahead
from vbks.selection.plot_data import rows_of
from vbks.selection.record import SelectionRecord
from vbks.words import Part

GRID_POINTS = 360
"""A part is drawn at this many places along an input."""

CYCLES_SHOWN = 3
"""A picture that comes closer shows this many cycles."""

MOST_CYCLES = 12
"""A picture of more cycles than this is a smear, and one that comes closer is drawn beside it."""

CLOSER_POINTS = 150
"""Places of a picture that comes closer."""

ENDS = (0.02, 0.98)
"""Of several inputs, parts are drawn between these quantiles, so that no outlier stretches them."""

ROWS = 2000
"""Of more rows, ranges are those of a random sample."""


@dataclass(frozen=True, eq=False)
class PartInputs:
    """Inputs X [N, D] at which parts are computed, and which of them belong to which picture.

    Of several inputs every row has values of all, each from its own range: a part that depends on
    one input only is the same whatever the others are.
    """

    X: Array
    whole: Rows
    closer_to: dict[float, Rows]
    """Rows of the last cycles of the data, by their period."""
    end: float | None
    """Where the data end, if the picture goes on."""

    @property
    def is_curve(self) -> bool:
        """Whether there is one input, along which all parts together can be drawn."""
        return self.X.shape[1] == 1

    def along(self, place: int) -> Rows:
        """Rows of the picture along an input, in its order."""
        return self.whole[np.argsort(self.X[self.whole, place], kind="stable")]

    def closer(self, part: Part, place: int) -> Rows | None:
        """Rows of the last cycles of a part, if there are too many to be seen together."""
        periods = [
            known.period.value
            for factor in part.factors
            for number, known in zip(factor.inputs, factor.values, strict=False)
            if number == place + 1 and known.period is not None
        ]
        if not periods or not self.closer_to:
            return None
        near = [own for own in self.closer_to if is_near(own, min(periods))]
        return self.closer_to[near[0]] if near else None


def is_near(period: float, other: float) -> bool:
    """Whether two periods are those of one cycle."""
    return abs(math.log(period / other)) <= math.log1p(PERIOD_TOLERANCE)


def part_inputs(
    record: SelectionRecord, labels: Labels, periods: Sequence[float] = ()
) -> PartInputs:
    """Where parts are drawn: with one input as far as the forecast goes."""
    X, _ = rows_of(record, ROWS)
    if record.num_inputs > 1:
        low, high = np.quantile(X, ENDS, axis=0)
        return PartInputs(np.linspace(low, high, GRID_POINTS), np.arange(GRID_POINTS), {}, None)
    begin, end = labels.ends[0]
    later, _ = places_ahead(record, X[:, 0], end)
    pieces = [np.linspace(begin, float(later[-1]), GRID_POINTS)]
    closer: dict[float, Rows] = {}
    for period in periods:
        is_new = not any(is_near(period, known) for known in closer)
        if is_new and (end - begin) / period > MOST_CYCLES:
            first = GRID_POINTS + CLOSER_POINTS * len(closer)
            closer[period] = np.arange(first, first + CLOSER_POINTS)
            pieces.append(np.linspace(end - CYCLES_SHOWN * period, end, CLOSER_POINTS))
    grid = np.concatenate(pieces)[:, np.newaxis]
    return PartInputs(grid, np.arange(GRID_POINTS), closer, end)
