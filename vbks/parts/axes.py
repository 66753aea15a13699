"""What columns are called and what their numbers stand for, as far as the data say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from vbks.arrays import Array
from vbks.data.times import EPOCH
from vbks.words import Axes, Axis, Target
from vbks.words.time_units import time_unit

YEARS = (1500.0, 2100.0)
"""Numbers between these may be years of the calendar."""

LEAST_NUMBERS, LEAST_YEARS = 10, 2.0
"""At least this many numbers over at least this many years are read as years, whatever the name."""

STEPS_IN_YEAR = (1.0, 2.0, 4.0, 12.0, 52.0, 365.0)
"""Rows a year, at which numbers in years are evenly spaced."""

NAMELESS = ("", "x", "t", "time", "date", "ds", "timestamp")
"""Names that do not say what a number is; those of times among them say that it is time."""

COUNTS = {"thousands": "thousand", "millions": "million", "billions": "billion"}
"""Units that are singular behind a number."""

TIMES = NAMELESS[2:]

LEAST_DISTINCT = 0.9
"""Time does not come back: at least this share of rows has a time of its own."""


def axes_of_data(
    X: Array,
    names: Sequence[str] | None = None,
    time_inputs: Sequence[int] = (),
    target: str | None = None,
    warp: str = "identity",
) -> Axes:
    """The axes of inputs [N, D] in the user's units, of which some came as dates or times.

    Units are read from names: "depth (m)", "month", "days since 2015-01-01". Numbers that are
    evidently years of the calendar are years.
    """
    labels = names if names is not None else ("",) * X.shape[1]
    inputs = tuple(
        _axis(X[:, place], label, place in time_inputs, alone=X.shape[1] == 1)
        for place, label in enumerate(labels)
    )
    name, unit = split_unit(target or "")
    return Axes(inputs, Target(name, unit), warp)


def split_unit(label: str) -> tuple[str, str | None]:
    """A name and the unit in brackets at its end: "load (MW)" is "load" in MW."""
    found = re.fullmatch(r"\s*(.*\S)\s*[(\[]([^()\[\]]+)[)\]]\s*", label)
    if found is None:
        return label.strip(), None
    unit = found[2].strip()
    return found[1], COUNTS.get(unit.lower(), unit)


def _axis(values: Array, label: str, is_instant: bool, alone: bool) -> Axis:
    low, high = float(np.min(values)), float(np.max(values))
    if is_instant:
        name, _ = split_unit(label)
        return Axis(name, "days", is_time=True, origin=EPOCH, low=low, high=high)
    if since := _since(label):
        return Axis("", since[0], is_time=True, origin=since[1], low=low, high=high)
    name, unit = split_unit(label)
    kind = name.lower()
    is_time_like = alone or len(np.unique(values)) >= LEAST_DISTINCT * len(values)
    if kind in ("year", "years") or (kind in NAMELESS and alone and _are_years(values)):
        is_year = unit is None and (kind in ("year", "years") or _are_years(values))
        shown = "" if kind in NAMELESS else name
        return Axis(shown, "years" if is_year else unit, is_time_like, low=low, high=high)
    named = time_unit(name)
    if named is not None and unit is None and len(name) > 1:
        return Axis(name, f"{named.name}s", is_time_like, low=low, high=high)
    return Axis(name, unit, kind in TIMES and is_time_like, low=low, high=high)


def _since(label: str) -> tuple[str, datetime] | None:
    """The unit and the date of a name such as "days since 2015-01-01 00:00"."""
    found = re.fullmatch(r"\s*(\w+) since (\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)\s*", label)
    if found is None or time_unit(found[1]) is None:
        return None
    try:
        return found[1].lower(), datetime.fromisoformat(found[2])
    except ValueError:
        return None


def _are_years(values: Array) -> bool:
    """Whether numbers are evidently years: in the calendar's range, some times a year."""
    low, high = float(np.min(values)), float(np.max(values))
    distinct = np.unique(values)
    if not YEARS[0] <= low <= high <= YEARS[1]:
        return False
    if len(distinct) < LEAST_NUMBERS or high - low < LEAST_YEARS:
        return False
    rate = 1.0 / float(np.median(np.diff(distinct)))
    return any(abs(rate / known - 1.0) <= 0.02 for known in STEPS_IN_YEAR)
