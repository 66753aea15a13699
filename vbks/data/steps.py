"""Steps of a series in time: what comes after its last row, and which period a row is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from pandas.tseries.offsets import BaseOffset

from vbks.arrays import Array, Rows
from vbks.data.times import instants, with_days
from vbks.errors import DataError

MOST_PERIODS = 10_000_000
"""A series has at most this many periods from its first row to its last, told or not."""

DAY_SECONDS = 86_400

UNITS = (
    ("week", 7.0),
    ("day", 1.0),
    ("hour", 1 / 24),
    ("minute", 1 / 1440),
    ("second", 1 / DAY_SECONDS),
)
"""Units in which even steps of time are told, and their lengths in days."""

MONTH_DAYS = (28.0, 31.0)
"""Even steps of this many days have seasons of twelve, as months have."""

MOST_STEPS_OF_A_DAY = 288
"""Steps shorter than five minutes have seasons of an hour and not of a day."""

YEARS = (1000.0, 3000.0)
"""Numbers between these that go up by a usual part of one are years."""

SEASONS = {"B": 5, "C": 5, "W": 52, "SME": 24, "SMS": 24, "WOM": 12, "LWOM": 12}
SEASONS |= {"ME": 12, "MS": 12, "BME": 12, "BMS": 12, "CBME": 12, "CBMS": 12}
"""Steps of a week, or of a year, by the letters of pandas' offsets; quarters have a Q."""

PARTS_OF_A_YEAR = (1, 2, 4, 12, 24, 26, 52, 365)


class Steps(Protocol):
    """How a series goes on: inputs are numbers, or days since 1970 where they are dates."""

    @property
    def name(self) -> str:
        """One step in words."""

    @property
    def season(self) -> int | None:
        """Steps after which a cycle would usually repeat; none where that is not known."""

    def after(self, last: float, num: int) -> Array:
        """The inputs [H] that come next."""

    def periods(self, x: Array) -> Rows:
        """The period of each input [N], counted from that of the smallest."""


@dataclass(frozen=True)
class EvenSteps:
    """Steps of one length, of numbers or in days."""

    step: float
    origin: float
    """A place on the grid of steps; rounded inputs are near others."""
    is_time: bool = False

    @property
    def name(self) -> str:
        """Such as "day", "15 minutes" or "0.25"."""
        if not self.is_time:
            return f"{self.step:.10g}"
        for unit, days in UNITS:
            amount = self.step / days
            if abs(amount - round(amount)) < 1e-6 and round(amount) >= 1:
                return unit if round(amount) == 1 else f"{round(amount)} {unit}s"
        return f"{self.step * DAY_SECONDS:g} seconds"

    @property
    def season(self) -> int | None:
        """A day of hours, a week of days, a year of anything longer."""
        if not self.is_time:
            return self._season_of_numbers()
        if self.step < 0.75:
            of_a_day = round(1.0 / self.step)
            return of_a_day if of_a_day <= MOST_STEPS_OF_A_DAY else max(1, round(of_a_day / 24))
        if self.step < 7.0:
            of_a_week = 7.0 / self.step
            return round(of_a_week) if abs(of_a_week - round(of_a_week)) < 1e-6 else 1
        if MONTH_DAYS[0] <= self.step <= MONTH_DAYS[1]:
            return 12
        return max(1, round(364.0 / self.step))

    def _season_of_numbers(self) -> int | None:
        of_one = round(1.0 / self.step)
        is_part = of_one in PARTS_OF_A_YEAR and abs(of_one * self.step - 1.0) < 1e-3
        return of_one if is_part and YEARS[0] <= self.origin <= YEARS[1] else None

    def after(self, last: float, num: int) -> Array:
        """The inputs [H] that come next on the grid."""
        return self.origin + self.step * (self._place(np.array(last)) + np.arange(1, num + 1))

    def periods(self, x: Array) -> Rows:
        """The nearest place of each input [N] on the grid."""
        return _counted(self._place(x))

    def _place(self, x: Array) -> Array:
        return np.asarray(np.round((x - self.origin) / self.step))


@dataclass(frozen=True)
class MonthSteps:
    """Steps of whole months, on one day of the month or, where it has none such, on its last."""

    months: int
    day: int

    @property
    def name(self) -> str:
        """Such as "month", "quarter" or "2 years"."""
        for unit, months in (("year", 12), ("quarter", 3), ("month", 1)):
            amount, rest = divmod(self.months, months)
            if not rest and (unit != "quarter" or amount == 1):
                return unit if amount == 1 else f"{amount} {unit}s"
        return f"{self.months} months"

    @property
    def season(self) -> int | None:
        """A year."""
        return 12 // self.months if 12 % self.months == 0 else 1

    def after(self, last: float, num: int) -> Array:
        """The inputs [H] that come next, at the time of day of the last."""
        then = instants(np.array([last]))
        months = then.astype("datetime64[M]") + self.months * np.arange(1, num + 1)
        first = pd.DatetimeIndex(months.astype("datetime64[us]"))
        on_day = (np.minimum(self.day, first.days_in_month) - 1) * np.timedelta64(1, "D")
        return days(first + on_day + (then - then.astype("datetime64[D]"))[0])

    def periods(self, x: Array) -> Rows:
        """Whole steps of months before each input [N]."""
        found = dates(x)
        months = np.asarray(12 * found.year + found.month, np.float64)
        return _counted(np.floor((months - months.max()) / self.months))


@dataclass(frozen=True)
class OffsetSteps:
    """Steps of an offset of pandas, such as business days or the last Friday of a month."""

    offset: BaseOffset

    @property
    def name(self) -> str:
        """What pandas calls the offset, but for business days."""
        is_day = isinstance(self.offset, pd.offsets.BusinessDay) and self.offset.n == 1
        return "business day" if is_day else str(self.offset.freqstr)

    @property
    def season(self) -> int | None:
        """A week of business days, a year of all others."""
        prefix = _prefix(self.offset)
        whole = SEASONS.get(prefix, 4 if "Q" in prefix else 1)
        return max(1, whole // self.offset.n)

    def after(self, last: float, num: int) -> Array:
        """The inputs [H] that come next, beginning after the last."""
        (then,) = dates(np.array([last]))
        found = pd.date_range(then, periods=num + 2, freq=self.offset)
        return days(found[found.searchsorted(then, side="right") :][:num])

    def periods(self, x: Array) -> Rows:
        """Places of the inputs [N] among the dates of the offset."""
        found = dates(x)
        shortest = pd.date_range(found.min(), periods=3, freq=self.offset)
        if (found.max() - found.min()) / np.diff(shortest).min() > MOST_PERIODS:
            raise DataError(f"there are too many steps of '{self.name}' between the rows.")
        grid = pd.date_range(found.min() - 2 * self.offset, found.max(), freq=self.offset)
        return _counted(grid.searchsorted(found, side="right"))


def dates(x: Array) -> pd.DatetimeIndex:
    """Numbers of days [N] as dates, to the microsecond."""
    return pd.DatetimeIndex(instants(np.asarray(x, np.float64)))


def days(found: pd.DatetimeIndex) -> Array:
    """Dates as numbers of days [N]."""
    return np.asarray(with_days(found.to_numpy()[:, np.newaxis]), np.float64)[:, 0]


def _prefix(offset: BaseOffset) -> str:
    """The letters of an offset; those of pandas that have none are told in words."""
    return str(offset.freqstr).lstrip("0123456789").split("-")[0]


def _counted(places: Array | Rows) -> Rows:
    found = np.asarray(places, np.intp)
    return np.asarray(found - found.min())
