"""Numbers that stand for dates: 201401, 20140131, 2014.01, and seconds since 1970."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.data.cells.readings import Reading

Unit: TypeAlias = Literal["s", "ms", "us", "ns"]
"""Units of times since 1970."""

LEAST = 4
"""Fewer different numbers than this may look like dates by chance."""

YEARS = 1700, 2200
"""Years of dates that are written as numbers."""

SECONDS = 3e8, 4.1e9
"""Seconds since 1970 of the years 1979 to 2099."""

UNITS: dict[Unit, float] = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Units of times since 1970, and how many of them a second has."""

TIMELY = re.compile(
    r"(?i)(^|[^a-z])(date|time|timestamp|datetime|epoch|unix|ts|month|period|day|yyyymm(dd)?|ym)"
    r"($|[^a-z])|timestamp|datetime|_at$"
)
"""Names of columns that say that they have times."""


def read_number_dates(values: Array, name: str) -> Reading | None:
    """Numbers [N] as dates where all of them are, in order or under a name that says so."""
    known = values[np.isfinite(values)]
    is_timely = bool(TIMELY.search(name))
    steps = np.diff(known)
    in_order = bool((steps >= 0).all() or (steps <= 0).all())
    if len(np.unique(known)) < LEAST or not (in_order or is_timely):
        return None
    for form, how in (
        (_months, "year and month in one number"),
        (_days, "year, month and day in one number"),
        (_months_behind_points, "year.month"),
    ):
        found = form(values)
        if found is not None:
            return Reading(found, f"as {how}", int(np.flatnonzero(np.isfinite(values))[0]))
    return _since_1970(values, known, steps, is_timely)


def _months(values: Array) -> pd.Series[Any] | None:
    return _calendar(values, *np.divmod(values, 100), np.ones_like(values))


def _days(values: Array) -> pd.Series[Any] | None:
    months, days = np.divmod(values, 100)
    return _calendar(values, *np.divmod(months, 100), days)


def _months_behind_points(values: Array) -> pd.Series[Any] | None:
    """2014.01 to 2014.12, but no years with decimals, which go beyond."""
    scaled = 100 * values
    if np.nanmax(np.abs(scaled - np.round(scaled))) > 1e-6 or np.nanmin(values % 1) < 0.005:
        return None
    twelve = np.unique(np.round(scaled[np.isfinite(scaled)]) % 100)
    return _months(np.round(scaled)) if len(twelve) >= 10 else None


def _calendar(values: Array, years: Array, months: Array, days: Array) -> pd.Series[Any] | None:
    known = np.isfinite(values)
    if not (_are_whole(values) and _are_within(years[known], *YEARS)):
        return None
    parts = pd.DataFrame({"year": years, "month": months, "day": days})
    found = pd.to_datetime(parts, errors="coerce", utc=True)
    return found if bool(found[known].notna().all()) else None


def _since_1970(values: Array, known: Array, steps: Array, is_timely: bool) -> Reading | None:
    """Whole numbers of units since 1970, in even steps of whole minutes or by their name."""
    if not _are_whole(values):
        return None
    for unit, number in UNITS.items():
        if not _are_within(known / number, *SECONDS):
            continue
        is_even = bool(np.all(steps == steps[0])) and steps[0] % (60 * number) == 0
        if not (is_timely or is_even):
            return None
        found = pd.Series(pd.to_datetime(pd.Series(values), unit=unit, utc=True))
        units = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        return Reading(found, f"as {units[unit]} since 1970")
    return None


def _are_whole(values: Array) -> bool:
    known = values[np.isfinite(values)]
    return bool(np.all(known == np.round(known)))


def _are_within(values: Array, low: float, high: float) -> bool:
    return bool(len(values) and values.min() >= low and values.max() <= high)
