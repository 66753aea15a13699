"""Tests of steps of a series, against pandas' own calendars."""

import numpy as np
import pandas as pd
import pytest

from vbks.data.frequency import find_steps
from vbks.data.steps import EvenSteps, MonthSteps, OffsetSteps, dates, days
from vbks.errors import DataError

CALENDARS = {
    "MS": ("month", 12),
    "ME": ("month", 12),
    "QS": ("quarter", 4),
    "QE-NOV": ("quarter", 4),
    "2QS": ("6 months", 2),
    "YS": ("year", 1),
    "YE-JUN": ("year", 1),
    "2YE": ("2 years", 1),
    "B": ("business day", 5),
    "BME": ("BME", 12),
    "BQS-OCT": ("BQS-OCT", 4),
    "WOM-3FRI": ("WOM-3FRI", 12),
    "W-WED": ("week", 52),
    "2W-MON": ("2 weeks", 26),
    "D": ("day", 7),
    "2D": ("2 days", 1),
    "h": ("hour", 24),
    "6h": ("6 hours", 4),
    "15min": ("15 minutes", 96),
    "min": ("minute", 60),
    "s": ("second", 3600),
    "500ms": ("0.5 seconds", 7200),
}
"""Offsets of pandas, what a step of each is called, and its season."""


@pytest.mark.parametrize("freq", CALENDARS)
def test_steps__go_on_as_the_offset_of_pandas_does(freq):
    whole = pd.date_range("2011-12-05 06:30", periods=60, freq=freq)
    steps = find_steps(days(whole[:40]), is_time=True)
    assert (steps.name, steps.season) == CALENDARS[freq]
    assert dates(steps.after(days(whole[:40])[-1], 20)).equals(whole[40:].as_unit("us"))
    np.testing.assert_array_equal(steps.periods(days(whole)), np.arange(60))


def test_month_steps__keep_the_day_or_take_the_last_of_the_month():
    steps = MonthSteps(1, 31)
    found = dates(steps.after(days(pd.DatetimeIndex(["2024-01-31 07:00"]))[0], 3))
    assert [str(date) for date in found] == [
        "2024-02-29 07:00:00",
        "2024-03-31 07:00:00",
        "2024-04-30 07:00:00",
    ]
    on_30th = dates(MonthSteps(1, 30).after(days(pd.DatetimeIndex(["2023-01-30"]))[0], 2))
    assert [date.day for date in on_30th] == [28, 30]


def test_even_steps__of_numbers_have_a_season_only_within_years():
    assert EvenSteps(1 / 12, 1949.0).season == 12
    assert EvenSteps(0.25, 2000.0).season == 4
    assert EvenSteps(1.0, 1950.0).season == 1
    assert EvenSteps(1.0, 0.0).season is None
    assert EvenSteps(0.3, 1950.0).season is None


def test_offset_steps__too_fine_for_the_rows_are_refused():
    x = days(pd.DatetimeIndex(["1900-01-01", "2020-01-01"]))
    with pytest.raises(DataError, match="too many steps of"):
        OffsetSteps(pd.offsets.Second(1)).periods(x)
