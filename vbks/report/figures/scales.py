"""Axes: from values to pixels, with ticks at round numbers or at beginnings of years and days."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
from matplotlib.dates import AutoDateLocator
from matplotlib.ticker import MaxNLocator

from vbks.arrays import Array
from vbks.data.times import EPOCH
from vbks.words.numerals import fixed, trimmed

AxisKind = Literal["number", "date", "year", "probability", "factor"]
"""What numbers of an axis are: plain, days since 1970, years of the calendar, shares of one, or
what others are multiplied by."""

STEPS = [1, 2, 2.5, 5, 10]
"""Leading digits of the distance between ticks."""

FORMS: tuple[tuple[str, Callable[[datetime], bool]], ...] = (
    ("%Y", lambda t: (t.month, t.day, t.hour, t.minute, t.second) == (1, 1, 0, 0, 0)),
    ("%Y-%m", lambda t: (t.day, t.hour, t.minute, t.second) == (1, 0, 0, 0)),
    ("%Y-%m-%d", lambda t: (t.hour, t.minute, t.second) == (0, 0, 0)),
    ("%m-%d %H:%M", lambda t: t.second == 0),
)
"""How dates are written, from the shortest on, and which of them it is enough for."""

FINEST = "%H:%M:%S"
"""How dates are written where none of these is enough."""


@dataclass(frozen=True)
class Scale:
    """A straight map of values from ``low`` to ``high`` to pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    kind: AxisKind = "number"

    def __call__(self, values: Array | float) -> Array:
        """Places in pixels; those far outside stay near the ends, which browsers can draw."""
        span = (self.high - self.low) or 1.0
        share = np.clip((np.asarray(values, float) - self.low) / span, -3.0, 4.0)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Up to about ``most`` round values within the scale, and how they are written."""
        if self.kind == "date":
            return self._dates(most)
        found = MaxNLocator(most, steps=STEPS).tick_values(self.low, self.high)
        slack = 1e-9 * (self.high - self.low)
        inside = [float(v) for v in found if self.low - slack <= v <= self.high + slack]
        return [(value, label) for value, label in zip(inside, self._labels(inside), strict=True)]

    def _labels(self, values: list[float]) -> list[str]:
        if self.kind == "year":
            return [trimmed(f"{value:.2f}") for value in values]
        if self.kind == "probability":
            return [f"{100 * value:.3g} %" for value in values]
        if self.kind == "factor":
            return [f"× {label}" for label in numbers_alike(values)]
        return numbers_alike(values)

    def _dates(self, most: int) -> list[tuple[float, str]]:
        # matplotlib has no types for these.
        locator: Any = AutoDateLocator(minticks=min(3, most), maxticks=most)  # type: ignore[no-untyped-call]
        try:
            found = locator.tick_values(instant(self.low), instant(self.high))
        except (OverflowError, ValueError):
            return Scale(self.low, self.high, self.start, self.end).ticks(most)
        inside = [float(v) for v in found if self.low <= v <= self.high]
        form = date_form(inside)
        return [(value, dated(value, form)) for value in inside]


def date_form(days: Sequence[float] | Array) -> str:
    """The shortest way of writing dates that tells all of these."""
    try:
        times = [instant(float(value)) for value in days]
    except OverflowError:
        return FINEST
    return next((form for form, is_enough in FORMS if all(map(is_enough, times))), FINEST)


def dated(days: float, form: str) -> str:
    """A number of days since 1970 as a date, or as it is where the calendar has none."""
    try:
        return instant(days).strftime(form)
    except (OverflowError, ValueError):
        return f"day {days:,.0f}"


def instant(days: float) -> datetime:
    """The date of a number of days since 1970, to the second."""
    return EPOCH + timedelta(seconds=round(days * 86400.0))


def numbers_alike(values: list[float]) -> list[str]:
    """Numbers with as many digits after the point as tell them apart, the same for all."""
    gaps = np.diff(sorted(values))
    step = float(np.min(gaps)) if len(gaps) else abs(values[0] if values else 0.0)
    if step <= 0:
        return [fixed(value, 0) for value in values]
    largest = math.floor(math.log10(step))
    tried = range(-largest, 12 - largest)
    decimals = next((d for d in tried if abs(round(step, d) - step) < 1e-9 * step), 0)
    return [fixed(value, decimals) for value in values]


def covering(*values: Array, margin: float = 0.04) -> tuple[float, float]:
    """The range of finite values, with a margin on both sides."""
    flat = np.concatenate([np.ravel(np.asarray(own, float)) for own in values])
    known = flat[np.isfinite(flat)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    reach = (high - low) or max(abs(high), 1.0)
    return low - margin * reach, high + margin * reach
