"""What starting values need to know of the inputs, read off the data before any fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vbks.arrays import Array
from vbks.kernels.changes import stretches
from vbks.kernels.parameters import InputSummary
from vbks.kernels.periodogram import merge_repeats, period_candidates

LEAST_PLACES = 10
"""Different inputs without which it cannot be told where the target is quiet."""

SOFTENED = 0.1
"""Share of the range around the place where a line is zero in which it is not divided by."""

NUM_LINE_PERIODS = 2
"""Periods of the target divided by a line that are tried, each with its double, which a periodogram
does not see if it repeats only two or three times."""


def summarise_inputs(X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[InputSummary, ...]:
    """What starts need to know of each input: its range, its spacing and the target's periods.

    For the residuals of a parent, give these as ``y``.
    """
    targets = np.ravel(np.asarray(y, float))
    return tuple(_summary(x, targets) for x in np.asarray(X, float).reshape(len(targets), -1).T)


def _summary(x: Array, y: Array) -> InputSummary:
    distinct, _ = merge_repeats(x, y)
    if len(distinct) < 2:
        centre = float(distinct.sum())
        return InputSummary(centre - 0.5, centre + 0.5, 1.0)
    spacing = float(np.median(np.diff(distinct)))
    quiet = _quiet_place(x, y) if len(distinct) >= LEAST_PLACES else None
    changes, windows = stretches(x, y)
    return InputSummary(
        float(x.min()),
        float(x.max()),
        spacing,
        period_candidates(x, y),
        quiet,
        () if quiet is None else _line_periods(x, y, quiet),
        len(x) / len(distinct),
        changes,
        windows,
    )


def _quiet_place(x: Array, y: Array) -> float | None:
    """Where a parabola through the squared targets is lowest, not more than a range outside."""
    middle, half = 0.5 * (x.max() + x.min()), 0.5 * (x.max() - x.min())
    curvature, slope, _ = np.polyfit((x - middle) / half, y**2, 2)
    if not curvature > 0:
        return None
    return float(middle + half * np.clip(-0.5 * slope / curvature, -3.0, 3.0))


def _line_periods(x: Array, y: Array, quiet: float) -> tuple[float, ...]:
    """Periods of the target divided by the distance from its quiet place, and their doubles.

    Near that place noise is all there is, so the division is softened there.
    """
    distance = x - quiet
    divided = y * distance / (distance**2 + (SOFTENED * np.ptp(x)) ** 2)
    found = period_candidates(x, divided)[:NUM_LINE_PERIODS]
    return tuple(period for one in found for period in (2.0 * one, one))


def pooled(summaries: Sequence[InputSummary]) -> InputSummary:
    """All inputs as one, for parameters that they share."""
    periods = dict.fromkeys(period for x in summaries for period in x.periods[:1])
    return InputSummary(
        min(x.low for x in summaries),
        max(x.high for x in summaries),
        float(np.median([x.spacing for x in summaries])),
        tuple(periods),
    )
