"""What starting values and priors need to know of one input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from vbks.data.signals.segments import Segment


class ZeroCrossing(NamedTuple):
    """Where a line may be zero that multiplies the target, and periods without that line."""

    place: float
    periods: tuple[float, ...]


@dataclass(frozen=True)
class InputSummary:
    """What starting values need to know of one standardised input."""

    low: float
    high: float
    spacing: float
    periods: tuple[float, ...] = ()
    crossings: tuple[ZeroCrossing, ...] = ()
    """Where the target may cross zero as a line does, the likeliest first."""
    repeats: float = 1.0
    """Rows at one place, on average."""
    changes: tuple[float, ...] = ()
    """Where the target may change its character for good."""
    windows: tuple[Segment, ...] = ()
    """Where the target may have another character for a while."""
    level: float = 0.0
    """The mean of the target, which is zero where targets are centred."""

    @property
    def range(self) -> float:
        """The distance from the lowest to the highest value."""
        return self.high - self.low
