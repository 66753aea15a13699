"""Units of time: their lengths, and the one that a person would choose."""

from __future__ import annotations

from dataclasses import dataclass

YEAR = 365.25
"""Days of a year, on average."""


@dataclass(frozen=True)
class TimeUnit:
    """A unit of time: its length in days, its other names, and up to how many of it are kept."""

    name: str
    days: float
    aliases: tuple[str, ...]
    most: float


UNITS = (
    TimeUnit("year", YEAR, ("y", "yr", "yrs", "a"), float("inf")),
    TimeUnit("month", YEAR / 12, ("mo", "mon"), 24.0),
    TimeUnit("week", 7.0, ("w", "wk"), 9.0),
    TimeUnit("day", 1.0, ("d",), 60.0),
    TimeUnit("hour", 1 / 24, ("h", "hr", "hrs"), 48.0),
    TimeUnit("minute", 1 / 1440, ("min", "mins"), 120.0),
    TimeUnit("second", 1 / 86400, ("s", "sec", "secs"), 120.0),
)
"""From the longest to the shortest."""

_BY_NAME = {name: unit for unit in UNITS for name in (unit.name, f"{unit.name}s", *unit.aliases)}

_CYCLES = {
    "yearly": YEAR,
    "half-yearly": YEAR / 2,
    "quarterly": YEAR / 4,
    "monthly": YEAR / 12,
    "weekly": 7.0,
    "daily": 1.0,
    "half-daily": 0.5,
    "hourly": 1 / 24,
}

NEAR = 0.015
"""Periods this far from a named one, relatively, have its name. A lunar month does not."""


def time_unit(unit: str | None) -> TimeUnit | None:
    """The unit of time of a name such as "months" or "d"."""
    return None if unit is None else _BY_NAME.get(unit.strip().lower())


def chosen_unit(amount: float, unit: TimeUnit) -> TimeUnit:
    """The unit in which a person would tell an amount, its own as long as it will do."""
    least = 2.0 if unit.name == "year" else 1.0
    if least <= amount < unit.most:
        return unit
    days = amount * unit.days
    fitting = (u for u in UNITS if 2.0 <= days / u.days < u.most)
    return next(fitting, UNITS[-1])


def cycle_name(period: float, unit: str | None) -> str | None:
    """The adjective of a period that people have a word for: yearly, weekly, daily."""
    known = time_unit(unit)
    if known is None:
        return None
    days = period * known.days
    return next((n for n, named in _CYCLES.items() if abs(days / named - 1) <= NEAR), None)
