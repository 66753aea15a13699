"""Where a column of data changes its character: stretches that vary more or less than the rest.

A fit of a change point or window only finds a place that it starts close to, so these are its
starts. What varies is the step from each row to the next, in which trends hardly show: a wave that
ends, a flat stretch and noise that grows all change the size of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vbks.arrays import Array
from vbks.data.signals.periodogram import merge_repeats

MOST_CUTS = 120
"""Places where a stretch may begin or end: all pairs of them are compared."""

SHORTEST = 6
"""Fewest steps in a stretch, and outside of it: the variance of fewer is a guess."""

SHORTEST_SHARE = 0.03
"""Least share of all steps that a stretch has, and what is outside of it: one outlier is no
stretch."""

MAX_STRETCHES = 3
"""Stretches of each kind: inside the range, and at an end of it."""

LEAST_VARIANCE = 1e-4
"""Share of the mean variance that a stretch has at least, for those that do not vary at all."""

CHANCE = 2.0
"""Gain in log likelihood, in logarithms of the number of pairs, that noise alone may show."""

SAME = 0.5
"""Stretches that have more than this share in common are the same for a start."""


class Segment(NamedTuple):
    """A part of an input's range; one that reaches an end of the range is a change at a point."""

    begin: float
    end: float

    @property
    def middle(self) -> float:
        """The location of a window over it."""
        return 0.5 * (self.begin + self.end)

    @property
    def width(self) -> float:
        """How long it is."""
        return self.end - self.begin


def segments(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[tuple[float, ...], tuple[Segment, ...]]:
    """Change points and windows of the target along one input, the clearest of each first.

    A window gains ½ n log v − ½ n₁ log v₁ − ½ n₂ log v₂ of log likelihood, where v are the
    variances of steps from row to row: of all, of those inside and of those outside. What noise
    alone would show is left out, so there may be none.
    """
    places, targets = merge_repeats(x, y)
    steps: Array = np.diff(targets)
    shortest = max(SHORTEST, round(SHORTEST_SHARE * len(steps)))
    if len(steps) < 3 * shortest or not steps.any():
        return (), ()
    cuts = np.unique(np.linspace(0, len(steps), MOST_CUTS).astype(int))
    gains = _gains(steps**2, cuts, shortest)
    at_an_end = np.zeros_like(gains, bool)
    at_an_end[0], at_an_end[:, -1] = True, True
    edges = places[cuts]
    windows = _clearest(np.where(at_an_end, -np.inf, gains), edges)
    ends = _clearest(np.where(at_an_end, gains, -np.inf), edges)
    points = (one.end if one.begin == edges[0] else one.begin for one in ends)
    return tuple(dict.fromkeys(points)), tuple(windows)


def _gains(squares: Array, cuts: npt.NDArray[np.intp], shortest: int) -> Array:
    """Gains of the stretches from every cut to every later one, −∞ where one is too short."""
    total, num = squares.sum(), len(squares)
    sums = np.concatenate([[0.0], np.cumsum(squares)])[cuts]
    inside, num_inside = sums - sums[:, np.newaxis], cuts - cuts[:, np.newaxis]
    possible = (num_inside >= shortest) & (num - num_inside >= shortest)
    gain = _log_likelihood(inside, num_inside, total / num, possible)
    gain += _log_likelihood(total - inside, num - num_inside, total / num, possible)
    gain[~possible | (gain < CHANCE * np.log(possible.sum()))] = -np.inf
    return gain


def _log_likelihood(
    sums: Array, nums: npt.NDArray[np.intp], mean: float, possible: npt.NDArray[np.bool_]
) -> Array:
    """What own variances gain beside the mean one, of steps with these sums of squares."""
    ratio = np.divide(sums, nums * mean, out=np.ones_like(sums), where=possible)
    ratio = np.maximum(ratio, LEAST_VARIANCE)
    return np.asarray(-0.5 * nums * (np.log(ratio) + 1.0) + 0.5 * nums * ratio)


def _clearest(gains: Array, edges: Array) -> Iterator[Segment]:
    """The stretches with the highest gains, each unlike those before it."""
    found: list[Segment] = []
    for place in np.argsort(-gains, axis=None):
        row, column = divmod(int(place), len(edges))
        if len(found) == MAX_STRETCHES or not np.isfinite(gains[row, column]):
            return
        stretch = Segment(float(edges[row]), float(edges[column]))
        if all(_in_common(stretch, other) <= SAME for other in found):
            found.append(stretch)
            yield stretch


def _in_common(one: Segment, other: Segment) -> float:
    """What two stretches share, as a part of what they cover together."""
    shared = min(one.end, other.end) - max(one.begin, other.begin)
    return max(shared, 0.0) / (max(one.end, other.end) - min(one.begin, other.begin))
