"""Numbers that are known with an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

PRECISE = 0.05
"""Up to this width of its interval, relatively, a number is told to three digits."""


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its interval, both None where the interval is not known."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def width(self) -> float | None:
        """From the lower to the upper end of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def is_precise(self) -> bool:
        """Whether the interval is no wider than a twentieth of the number."""
        return self.width is not None and self.width <= PRECISE * abs(self.value)

    def through(self, function: Callable[[float], float]) -> Estimate:
        """The estimate of a monotone function of the number."""
        if self.low is None or self.high is None:
            return Estimate(function(self.value))
        low, high = sorted((function(self.low), function(self.high)))
        return Estimate(function(self.value), low, high)

    def times(self, factor: float) -> Estimate:
        """The estimate in a unit that is smaller by this factor."""
        return self.through(lambda value: value * factor)


def finite(estimate: Estimate | None) -> Estimate | None:
    """The estimate if it can be told, without an interval that cannot."""
    if estimate is None or not math.isfinite(estimate.value):
        return None
    low, high = estimate.low, estimate.high
    if low is None or high is None or not -math.inf < low <= estimate.value <= high < math.inf:
        return Estimate(estimate.value)
    return estimate


def positive(estimate: Estimate | None) -> Estimate | None:
    """The estimate of a length or a size if it can be told and is above zero."""
    known = finite(estimate)
    if known is None or known.value <= 0:
        return None
    return known if known.low is None or known.low > 0 else Estimate(known.value)
