"""What starting values need to know of the inputs, read off the data before any fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary, ZeroCrossing
from vbks.data.signals.periodogram import merge_repeats, period_candidates
from vbks.data.signals.policy import DEFAULT, SignalPolicy
from vbks.data.signals.segments import segments


def summarise_inputs(
    X: npt.ArrayLike, y: npt.ArrayLike, policy: SignalPolicy = DEFAULT
) -> tuple[InputSummary, ...]:
    """What starts need to know of each input: its range, its spacing and the target's periods.

    For the residuals of a parent, give these as ``y``.
    """
    targets = np.ravel(np.asarray(y, float))
    columns = np.asarray(X, float).reshape(len(targets), -1).T
    return tuple(_summary(x, targets, policy) for x in columns)


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


def _summary(x: Array, y: Array, policy: SignalPolicy) -> InputSummary:
    distinct, _ = merge_repeats(x, y)
    measured = _measured(distinct)
    if len(distinct) < 2:
        return replace(measured, level=float(y.mean()))
    places = zero_crossings(x, y, policy) if len(distinct) >= policy.min_crossing_places else ()
    changes, windows = segments(x, y, policy)
    return InputSummary(
        measured.low,
        measured.high,
        measured.spacing,
        period_candidates(x, y, policy),
        tuple(ZeroCrossing(place, _line_periods(x, y, place, policy)) for place in places),
        len(x) / len(distinct),
        changes,
        windows,
        float(y.mean()),
    )


def zero_crossings(x: Array, y: Array, policy: SignalPolicy = DEFAULT) -> tuple[float, ...]:
    """Where the target looks most like a line times a function, by the zero of the line.

    That is by the likelihood of independent targets whose standard deviation grows with the
    distance from the place, if it is higher than if all had the same one. Only a few rows need to
    be close to zero there, so a place is not missed for what the function does far from it.
    """
    every = -(-len(x) // policy.crossing_rows)
    x, squares = x[::every], y[::every] ** 2
    if not squares.any():
        return ()
    low, width = x.min(), np.ptp(x)
    places = low + width * np.linspace(-1.0, 2.0, 3 * policy.crossing_steps + 1)
    distances = (x - places[:, np.newaxis]) ** 2 + (policy.near_zero * width) ** 2
    log_variance = np.log(np.mean(squares / distances, axis=1))
    gains = np.log(np.mean(squares)) - log_variance - np.mean(np.log(distances), axis=1)
    padded = np.concatenate([[-np.inf], gains, [-np.inf]])
    peaks = np.flatnonzero((gains > padded[:-2]) & (gains >= padded[2:]) & (gains > 0.0))
    best = peaks[np.argsort(-gains[peaks], kind="stable")][: policy.max_crossings]
    return tuple(float(place) for place in places[best])


def _line_periods(x: Array, y: Array, crossing: float, policy: SignalPolicy) -> tuple[float, ...]:
    """Periods of the target divided by the distance from its zero crossing, and their doubles.

    Near that place noise is all there is, so the division is softened there.
    """
    distance = x - crossing
    divided = y * distance / (distance**2 + (policy.softened * np.ptp(x)) ** 2)
    found = period_candidates(x, divided, policy)[: policy.line_periods]
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
