"""Lengths along an input, sizes of the target and slopes, with their units."""

from __future__ import annotations

import math

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.numerals import interval, remembered, rounded, stated
from vbks.words.time_units import YEAR, TimeUnit, chosen_unit, time_unit

MOST_PERCENT = 0.5
"""Factors that change a number by no more than this are told in percent."""

LARGEST_LOGARITHM = math.log(1e6)
"""Factors are told up to a million."""

AROUND = " around its level"
"""What is said of sizes under a warp that stretches small and large targets differently."""


def length(estimate: Estimate, axis: Axis, with_interval: bool = False) -> str:
    """A length along an input: "about 9 years", or "12.0 months (11.98–12.02)"."""
    shown, unit = _told(estimate, axis)
    number = stated(shown)
    last = f" {unit_for(number, unit)}" if unit else ""
    return f"{number}{last}{interval(shown) if with_interval else ''}"


def rough_length(estimate: Estimate, axis: Axis) -> str:
    """A length along an input as it is remembered: "about 11 years"."""
    return length(Estimate(estimate.value), axis)


def _told(estimate: Estimate, axis: Axis) -> tuple[Estimate, str]:
    """The estimate in the unit that a person would choose."""
    factor, unit = in_chosen_unit(estimate.value, axis)
    return estimate.times(factor), unit or ""


def in_chosen_unit(amount: float, axis: Axis) -> tuple[float, str | None]:
    """What turns lengths along an axis into the unit that a person would tell one in, and that."""
    unit = time_unit(axis.unit)
    if unit is None:
        return 1.0, axis.unit
    chosen = chosen_unit(amount, unit)
    return unit.days / chosen.days, chosen.name


def unit_for(number: str, unit: str) -> str:
    """The unit after a number: units of time have a plural."""
    known = time_unit(unit)
    if known is None:
        return unit
    return known.name if number.removeprefix("about ") == "1" else f"{known.name}s"


def size(estimate: Estimate, axes: Axes) -> str:
    """A typical size of the target: "± 45 passengers"; of a factor: "± 4 %"."""
    if axes.is_log:
        ratio = _ratio(estimate.value)
        if ratio - 1 <= MOST_PERCENT:
            return f"± {remembered(Estimate(100 * (ratio - 1)))} %"
        return f"a factor of {rounded(ratio)}"
    return f"± {remembered(_at_level(estimate, axes))}{_target_unit(axes)}"


def _at_level(estimate: Estimate, axes: Axes) -> Estimate:
    """A size on the scale of a warp as one of the target around its level."""
    is_warped = axes.warp not in ("identity", "log")
    return estimate.times(axes.at_level) if is_warped and axes.at_level else estimate


def _ratio(logarithm: float) -> float:
    """The factor of a logarithm, as far as anybody would want to know it."""
    return math.exp(min(logarithm, LARGEST_LOGARITHM))


def spread(estimate: Estimate, axes: Axes) -> str:
    """A standard deviation: "about 9.1 passengers"; of factors: "about 4 %"."""
    if axes.is_log:
        return f"about {size(estimate, axes).removeprefix('± ').removeprefix('a factor of ')}"
    return f"{stated(_at_level(estimate, axes))}{_target_unit(axes)}"


def _target_unit(axes: Axes) -> str:
    unit = f" {axes.target.unit}" if axes.target.unit else ""
    if axes.warp == "identity":
        return unit
    return f"{unit}{AROUND}" if axes.at_level else f" on the {axes.warp} scale"


def slope(estimate: Estimate, axes: Axes, axis: Axis, with_interval: bool = False) -> str:
    """How much the target changes along an input: "about 11 % a year (9–13 %)"."""
    per, factor = _per(axis)
    rate = estimate.times(factor)
    if axes.is_log and rate.value <= MOST_PERCENT:
        percents = _steepness(rate.through(lambda rate: 100 * math.expm1(min(rate, 1.0))))
        return f"{stated(percents)} % {per}{interval(percents, ' %') if with_interval else ''}"
    if axes.is_log:
        ratios = rate.through(_ratio)
        return f"a factor of {stated(ratios)} {per}{interval(ratios) if with_interval else ''}"
    steep = _steepness(_at_level(rate, axes))
    told = interval(steep) if with_interval else ""
    if axes.warp != "identity" and not axes.at_level:
        return f"{stated(steep)} {per}{told}{_target_unit(axes)}"
    unit = f" {axes.target.unit}" if axes.target.unit else ""
    where = "" if axes.warp == "identity" else AROUND
    return f"{stated(steep)}{unit} {per}{told}{where}"


def _steepness(slope: Estimate) -> Estimate:
    """The size of a slope whose direction is told in words; no interval if that is not known."""
    if slope.low is not None and slope.high is not None and slope.low < 0 < slope.high:
        return Estimate(abs(slope.value))
    return slope.through(abs)


def _per(axis: Axis) -> tuple[str, float]:
    """The unit that slopes are told by, and how many of the axis it is."""
    unit = time_unit(axis.unit)
    if unit is None:
        return f"per {axis.unit or 'unit'}", 1.0
    chosen = _rate_unit(axis, unit) if axis.is_time else unit
    article = "an" if chosen.name == "hour" else "a"
    return f"{article} {chosen.name}", chosen.days / unit.days


def _rate_unit(axis: Axis, unit: TimeUnit) -> TimeUnit:
    """Years where the data cover two of them or are told in months, the axis's unit elsewhere."""
    covered = None if axis.range is None else axis.range * unit.days
    if (covered or 0.0) >= 2 * YEAR or (covered is None and unit.name == "month"):
        return time_unit("year") or unit
    return unit
