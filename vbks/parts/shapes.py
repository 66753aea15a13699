"""How a curve goes: where it rises and falls, turns and levels off, as far as its band tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.words import Direction, Estimate, Pace

SURE = 1.6448536269514722
"""A change counts if it is this many of its standard deviations: it is real in 19 of 20 cases."""

LEAST_CHANGE = 0.15
"""A curve turns where it goes back by more than this share of its range."""

NEARLY_DONE = 0.9
"""From where this share of its change is done, a curve levels off, if that is early enough."""

LEVELS_EARLY = 0.6
"""A curve levels off if it is nearly done within this share of the range of the input."""

LEAST_BEND = 1.25
"""A curve speeds up if its second half changes this many times as much as the first."""

MOST_TURNS = 2
"""A curve that turns more often wanders, and is told by its lengthscale."""


@dataclass(frozen=True)
class Shape:
    """How a curve goes along an input.

    ``direction`` is where it begins to go, ``turns`` are where it goes back; ``rate`` is its mean
    change per unit of the input, if it has no turns.
    """

    direction: Direction
    turns: tuple[float, ...] = ()
    pace: Pace | None = None
    levels_off: float | None = None
    rate: Estimate | None = None


def shape_of(x: Array, mean: Array, covariance: Array) -> Shape | None:
    """The shape of a curve at rising places [G], from its joint posterior.

    None if the band leaves open whether it rises or falls, or if it turns many times.
    """
    turns = _turns(mean, covariance)
    if turns is None or len(turns) > MOST_TURNS:
        return None
    first = turns[0] if turns else len(x) - 1
    direction: Direction = "up" if mean[first] > mean[0] else "down"
    if turns:
        return Shape(direction, tuple(float(x[place]) for place in turns))
    if abs(mean[-1] - mean[0]) <= SURE * _sd(covariance, 0, -1):
        return None
    levels_off = _levelling(x, mean, covariance)
    pace = None if levels_off is not None else _pace(x, mean, covariance)
    return Shape(direction, (), pace, levels_off, _rate(x, mean, covariance))


def _turns(mean: Array, covariance: Array) -> list[int] | None:
    """Places of highest and lowest values between which it goes one way, the ends left out.

    From each to the next it changes by more than by chance. None if it does not change at all.
    """
    least = LEAST_CHANGE * float(np.ptp(mean))
    found: list[int] = []
    sign, low, high = 0, 0, 0
    for place in range(1, len(mean)):
        low = place if mean[place] < mean[low] else low
        high = place if mean[place] > mean[high] else high
        for way, extreme in ((-1, high), (1, low)):
            change = abs(mean[place] - mean[extreme])
            if sign != way and change > max(least, SURE * _sd(covariance, extreme, place)):
                found.append(extreme)
                sign, low, high = way, place, place
                break
    return found[1:] if found else None


def _levelling(x: Array, mean: Array, covariance: Array) -> float | None:
    """From where on it hardly changes any more, if that is early."""
    done = (mean - mean[0]) / (mean[-1] - mean[0])
    place = int(np.argmax(done >= NEARLY_DONE))
    if x[place] - x[0] > LEVELS_EARLY * (x[-1] - x[0]) or place == 0:
        return None
    before = abs(mean[place] - mean[0])
    return float(x[place]) if before > SURE * _sd(covariance, 0, place) else None


def _pace(x: Array, mean: Array, covariance: Array) -> Pace | None:
    """Whether its second half changes more than the first, or less, by more than by chance."""
    middle = int(np.argmin(np.abs(x - 0.5 * (x[0] + x[-1]))))
    first, second = mean[middle] - mean[0], mean[-1] - mean[middle]
    contrast = np.zeros(len(x))
    contrast[[0, middle, -1]] = 1.0, -2.0, 1.0
    bend = abs(float(second - first))
    if bend <= SURE * float(np.sqrt(max(float(contrast @ covariance @ contrast), 0.0))):
        return None
    if abs(second) > LEAST_BEND * abs(first):
        return "faster"
    return "slower" if abs(first) > LEAST_BEND * abs(second) else None


def _rate(x: Array, mean: Array, covariance: Array) -> Estimate:
    """The mean change per unit of the input, with the ends of its 90 % interval."""
    reach = float(x[-1] - x[0])
    rate, sd = (float(mean[-1] - mean[0]) / reach, _sd(covariance, 0, -1) / reach)
    return Estimate(rate, rate - SURE * sd, rate + SURE * sd)


def _sd(covariance: Array, first: int, second: int) -> float:
    """The standard deviation of the difference between two places."""
    variance = covariance[first, first] + covariance[second, second]
    return float(np.sqrt(max(variance - 2.0 * covariance[first, second], 0.0)))
