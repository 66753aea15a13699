"""What starting values need to know of the inputs, read off the data before any fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary, ZeroCrossing
from vbks.data.signals.periodogram import merge_repeats, period_candidates
from vbks.data.signals.segments import segments

LEAST_PLACES = 10
"""Different inputs without which it cannot be told where the target is quiet."""

NUM_QUIET = 3
"""Up to this many places are tried as zeros of lines, the likeliest first."""

QUIET_ROWS = 2000
"""Up to this many rows show where the zeros of lines may be."""

QUIET_STEPS = 240
"""Steps for each range of the input on the grid of possible zeros of lines, which reaches one range
beyond the data on either side."""

NEAR_ZERO = 0.01
"""Distances of rows from a possible zero of a line count as at least this share of the range."""

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


def measure_inputs(X: npt.ArrayLike) -> tuple[InputSummary, ...]:
    """Range and spacing of each input, which priors are about: columns of X [N, D]."""
    return tuple(_measured(np.unique(x)) for x in np.asarray(X, float).T)


def _measured(distinct: Array) -> InputSummary:
    if len(distinct) < 2:
        centre = float(distinct.sum())
        return InputSummary(centre - 0.5, centre + 0.5, 1.0)
    return InputSummary(
        float(distinct[0]), float(distinct[-1]), float(np.median(np.diff(distinct)))
    )


def _summary(x: Array, y: Array) -> InputSummary:
    distinct, _ = merge_repeats(x, y)
    measured = _measured(distinct)
    if len(distinct) < 2:
        return replace(measured, level=float(y.mean()))
    places = quiet_places(x, y) if len(distinct) >= LEAST_PLACES else ()
    changes, windows = segments(x, y)
    return InputSummary(
        measured.low,
        measured.high,
        measured.spacing,
        period_candidates(x, y),
        tuple(ZeroCrossing(place, _line_periods(x, y, place)) for place in places),
        len(x) / len(distinct),
        changes,
        windows,
        float(y.mean()),
    )


def quiet_places(x: Array, y: Array) -> tuple[float, ...]:
    """Where the target looks most like a line times a function, by the zero of the line.

    That is by the likelihood of independent targets whose standard deviation grows with the
    distance from the place, if it is higher than if all had the same one. Only a few rows need to
    be close to zero there, so a place is not missed for what the function does far from it.
    """
    every = -(-len(x) // QUIET_ROWS)
    x, squares = x[::every], y[::every] ** 2
    if not squares.any():
        return ()
    low, width = x.min(), np.ptp(x)
    places = low + width * np.linspace(-1.0, 2.0, 3 * QUIET_STEPS + 1)
    distances = (x - places[:, np.newaxis]) ** 2 + (NEAR_ZERO * width) ** 2
    log_variance = np.log(np.mean(squares / distances, axis=1))
    gains = np.log(np.mean(squares)) - log_variance - np.mean(np.log(distances), axis=1)
    padded = np.concatenate([[-np.inf], gains, [-np.inf]])
    peaks = np.flatnonzero((gains > padded[:-2]) & (gains >= padded[2:]) & (gains > 0.0))
    best = peaks[np.argsort(-gains[peaks], kind="stable")][:NUM_QUIET]
    return tuple(float(place) for place in places[best])


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
        level=max((x.level for x in summaries), key=abs),
    )
