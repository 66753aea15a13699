"""Where a column of data changes its character: segments that vary more or less than the rest.

A fit of a change point or window only finds a place that it starts close to, so these are its
starts. What varies is the step from each row to the next, in which trends hardly show: a wave that
ends, a flat segment and noise that grows all change the size of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vbks.arrays import Array
from vbks.data.signals.periodogram import merge_repeats
from vbks.data.signals.policy import DEFAULT, SignalPolicy


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


def segments(
    x: npt.ArrayLike, y: npt.ArrayLike, policy: SignalPolicy = DEFAULT
) -> tuple[tuple[float, ...], tuple[Segment, ...]]:
    """Change points and windows of the target along one input, the clearest of each first.

    A window gains ½ n log v − ½ n₁ log v₁ − ½ n₂ log v₂ of log likelihood, where v are the
    variances of steps from row to row: of all, of those inside and of those outside. What noise
    alone would show is left out, so there may be none.
    """
    places, targets = merge_repeats(x, y)
    steps: Array = np.diff(targets)
    shortest = max(policy.min_steps, round(policy.min_steps_share * len(steps)))
    if len(steps) < 3 * shortest or not steps.any():
        return (), ()
    cuts = np.unique(np.linspace(0, len(steps), policy.max_cuts).astype(int))
    gains = _gains(steps**2, cuts, shortest, policy)
    at_an_end = np.zeros_like(gains, bool)
    at_an_end[0], at_an_end[:, -1] = True, True
    edges = places[cuts]
    windows = _clearest(np.where(at_an_end, -np.inf, gains), edges, policy)
    ends = _clearest(np.where(at_an_end, gains, -np.inf), edges, policy)
    points = (one.end if one.begin == edges[0] else one.begin for one in ends)
    return tuple(dict.fromkeys(points)), tuple(windows)


def _gains(
    squares: Array, cuts: npt.NDArray[np.intp], shortest: int, policy: SignalPolicy
) -> Array:
    """Gains of the segments from every cut to every later one, −∞ where one is too short."""
    total, num = squares.sum(), len(squares)
    sums = np.concatenate([[0.0], np.cumsum(squares)])[cuts]
    inside, num_inside = sums - sums[:, np.newaxis], cuts - cuts[:, np.newaxis]
    possible = (num_inside >= shortest) & (num - num_inside >= shortest)
    mean, least = total / num, policy.min_variance
    gain = _log_likelihood(inside, num_inside, mean, least, possible)
    gain += _log_likelihood(total - inside, num - num_inside, mean, least, possible)
    gain[~possible | (gain < policy.chance * np.log(possible.sum()))] = -np.inf
    return gain


def _log_likelihood(
    sums: Array,
    nums: npt.NDArray[np.intp],
    mean: float,
    least: float,
    possible: npt.NDArray[np.bool_],
) -> Array:
    """What own variances gain beside the mean one, of steps with these sums of squares."""
    ratio = np.divide(sums, nums * mean, out=np.ones_like(sums), where=possible)
    ratio = np.maximum(ratio, least)
    return np.asarray(-0.5 * nums * (np.log(ratio) + 1.0) + 0.5 * nums * ratio)


def _clearest(gains: Array, edges: Array, policy: SignalPolicy) -> Iterator[Segment]:
    """The segments with the highest gains, each unlike those before it."""
    found: list[Segment] = []
    for place in np.argsort(-gains, axis=None):
        row, column = divmod(int(place), len(edges))
        if len(found) == policy.max_segments or not np.isfinite(gains[row, column]):
            return
        segment = Segment(float(edges[row]), float(edges[column]))
        if all(_in_common(segment, other) <= policy.same_segment for other in found):
            found.append(segment)
            yield segment


def _in_common(one: Segment, other: Segment) -> float:
    """What two segments share, as a part of what they cover together."""
    shared = min(one.end, other.end) - max(one.begin, other.begin)
    return max(shared, 0.0) / (max(one.end, other.end) - min(one.begin, other.begin))
