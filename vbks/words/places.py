"""Locations along an input: numbers with units, and dates where the input is time."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Literal

from vbks.words.axes import Axis
from vbks.words.estimate import Estimate
from vbks.words.numerals import decimals_for, ends, fixed, span, trimmed
from vbks.words.quantities import unit_for
from vbks.words.time_units import YEAR, TimeUnit, time_unit

Grain = Literal["year", "month", "day", "minute"]

COARSEST_FIRST: tuple[Grain, ...] = ("year", "month", "day", "minute")

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

CALENDAR_YEARS = (1000.0, 2999.0)
"""Numbers of a time in years that are years of the calendar."""

GRAINS: tuple[tuple[float, Grain], ...] = ((100 * YEAR, "year"), (3 * YEAR, "month"), (4.0, "day"))
"""Days of data from which on a location need not be told more finely."""


def place(
    estimate: Estimate, axis: Axis, with_interval: bool = False, grain: Grain | None = None
) -> str:
    """A location: "1645 (1642–1648)", "March 1957", or "28 days (26–31)"."""
    grain = grain or _grain(estimate, axis)
    when = None if grain is None else _date(estimate.value, axis)
    if grain is None or when is None:
        return _number(estimate, axis, with_interval)
    text = _written(when, grain)
    around = _dates_around(estimate, axis, grain) if with_interval else None
    return f"{text} ({around})" if around else text


def both_places(low: Estimate, high: Estimate, axis: Axis) -> tuple[str, str]:
    """Two locations, with the unit, month or day that they share after the second only."""
    grains = [grain for grain in (_grain(low, axis), _grain(high, axis)) if grain]
    coarser = min(grains, key=COARSEST_FIRST.index) if len(grains) == 2 else None
    return said_once(*(place(end, axis, grain=coarser) for end in (low, high)))


def said_once(first: str, last: str) -> tuple[str, str]:
    """Two texts of which the first leaves out what both end with: a unit, a month, or a day."""
    if first == last:
        return first, last
    if " on " in first and " on " in last:
        clock, _, day = first.partition(" on ")
        return (clock if last.endswith(f" on {day}") else first), last
    words, others = first.split(), last.split()
    while len(words) > 1 and words[-1] == others[-1]:
        words, others = words[:-1], others[:-1]
    return " ".join(words), last


def place_after_preposition(estimate: Estimate, axis: Axis, with_interval: bool = False) -> str:
    """A location with the word before it: "in 1645", "on 12 March 1957", "at 28 days"."""
    grain = _grain(estimate, axis)
    text = place(estimate, axis, with_interval)
    if grain is None or _date(estimate.value, axis) is None:
        return f"at {text}"
    return f"{ {'year': 'in', 'month': 'in', 'day': 'on', 'minute': 'at'}[grain] } {text}"


def _number(estimate: Estimate, axis: Axis, with_interval: bool) -> str:
    decimals = decimals_for(estimate.value, 3)
    if axis.range:
        decimals = math.ceil(-math.log10(axis.range / 100))
    if with_interval and estimate.width:
        decimals = max(decimals, math.ceil(-math.log10(estimate.width)))
    number = trimmed(fixed(estimate.value, decimals))
    unit = f" {unit_for(number, axis.unit)}" if axis.unit else ""
    both = ends(estimate, decimals) if with_interval else None
    return f"{number}{unit} ({span(*both)})" if both else f"{number}{unit}"


def _dates_around(estimate: Estimate, axis: Axis, grain: Grain) -> str | None:
    if estimate.low is None or estimate.high is None:
        return None
    low, high = _date(estimate.low, axis), _date(estimate.high, axis)
    if low is None or high is None:
        return None
    first, last = said_once(_written(low, grain), _written(high, grain))
    if first == last:
        return None
    return f"{first}–{last}" if grain == "year" else f"{first} to {last}"


def _grain(estimate: Estimate, axis: Axis) -> Grain | None:
    """How finely a date is told: no finer than it is known, or than the data are."""
    unit = time_unit(axis.unit)
    if unit is None or not axis.is_time:
        return None
    if axis.origin is None and not _is_calendar_year(estimate.value, unit):
        return None
    if estimate.width is not None:
        days = estimate.width * unit.days
        finest: Grain = "year" if days > 1.5 * YEAR else "month" if days > 20 else "day"
        return finest if days > 0.5 else "minute"
    return _grain_of_data(axis, unit)


def _grain_of_data(axis: Axis, unit: TimeUnit) -> Grain:
    if axis.range is None:
        finest: dict[str, Grain] = {"year": "year", "month": "month", "week": "day", "day": "day"}
        return finest.get(unit.name, "minute")
    covered = axis.range * unit.days
    return next((grain for least, grain in GRAINS if covered >= least), "minute")


def _is_calendar_year(value: float, unit: TimeUnit) -> bool:
    return unit.name == "year" and CALENDAR_YEARS[0] <= value <= CALENDAR_YEARS[1]


def _date(value: float, axis: Axis) -> datetime | None:
    """The instant at a number of an axis of time, if calendars know it."""
    unit = time_unit(axis.unit)
    if unit is None:
        return None
    try:
        if axis.origin is None:
            return _in_year(value)
        origin = _instant(axis)
        if unit.name in ("month", "year"):
            return _after(origin, value * (12 if unit.name == "year" else 1))
        return origin + timedelta(days=value * unit.days)
    except (OverflowError, ValueError):
        return None


def _in_year(value: float) -> datetime:
    """The instant at a number of years of the calendar, such as 1957.25."""
    begun, next_year = (datetime(math.floor(value) + n, 1, 1) for n in (0, 1))
    return begun + (value - math.floor(value)) * (next_year - begun)


def _instant(axis: Axis) -> datetime:
    origin = axis.origin
    if isinstance(origin, datetime):
        return origin if origin.tzinfo is None else _in_utc(origin)
    assert origin is not None
    return datetime(origin.year, origin.month, origin.day)


def _in_utc(when: datetime) -> datetime:
    return when.astimezone(timezone.utc).replace(tzinfo=None)


def _after(origin: datetime, months: float) -> datetime:
    """An instant that many months later, a part of a month being that part of 30.4 days."""
    whole = math.floor(months)
    count = 12 * origin.year + origin.month - 1 + whole
    begun = origin.replace(year=count // 12, month=count % 12 + 1, day=min(origin.day, 28))
    return begun + timedelta(days=(months - whole) * YEAR / 12 + origin.day - begun.day)


def _written(when: datetime, grain: Grain) -> str:
    month = f"{MONTHS[when.month - 1]} {when.year}"
    if grain == "year":
        return str(when.year)
    if grain == "month":
        return month
    if grain == "day":
        return f"{when.day} {month}"
    return f"{when:%H:%M} on {when.day} {month}"
