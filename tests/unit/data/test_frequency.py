"""Tests of how the steps of a series are found, and read from what is asked for."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from vbks.data.frequency import find_steps
from vbks.data.steps import dates, days
from vbks.errors import DataError, SettingsError


def of_dates(found, freq=None):
    return find_steps(days(pd.DatetimeIndex(found)), is_time=True, freq=freq)


def next_dates(found, num, freq=None):
    last = days(pd.DatetimeIndex(found)).max()
    return [str(date.date()) for date in dates(of_dates(found, freq).after(last, num))]


def test_steps__do_not_depend_on_order_repeats_and_gaps():
    whole = pd.date_range("2020-01-01", periods=50, freq="D")
    rng = np.random.default_rng(0)
    some = whole.delete([7, 8, 9, 30]).repeat(2)[rng.permutation(92)]
    assert of_dates(some) == of_dates(whole)
    assert of_dates(some).periods(days(some)).max() == 49
    months = pd.date_range("2020-01-01", periods=30, freq="MS").delete([3, 4, 11])
    assert of_dates(months).name == "month"


def test_steps__of_weekdays_with_holidays_are_business_days():
    whole = pd.date_range("2023-12-01", periods=60, freq="B")
    holidays = pd.DatetimeIndex(["2023-12-25", "2023-12-26", "2024-01-01"])
    steps = of_dates(whole.difference(holidays))
    assert steps.name == "business day"
    assert of_dates(pd.date_range("2024-01-01", periods=5, freq="D")).name == "day"


def test_steps__of_a_zone_with_summer_time_are_days():
    local = pd.date_range("2020-01-01", periods=400, freq="D", tz="Europe/Berlin")
    steps = of_dates(local.tz_convert(None))
    assert (steps.name, steps.step) == ("day", 1.0)


@pytest.mark.parametrize("digits", [2, 3, 12])
def test_steps__of_rounded_years_stay_on_the_grid(digits):
    exact = 1949 + np.arange(144) / 12
    steps = find_steps(np.round(exact, digits), is_time=False)
    assert steps.season == 12
    np.testing.assert_allclose(
        steps.after(np.round(exact, digits)[-1], 12), 1961 + np.arange(12) / 12, atol=0.005
    )
    np.testing.assert_array_equal(steps.periods(np.round(exact, digits)), np.arange(144))


def test_steps__that_are_uneven_are_refused_with_what_to_do():
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.exponential(1.0, 50))
    with pytest.raises(DataError, match=r"not evenly spaced: steps go from .* mostly .* freq="):
        find_steps(x, is_time=False)
    found = pd.DatetimeIndex(["2020-01-01", "2020-01-02", "2020-01-09", "2020-01-15", "2020-03-01"])
    with pytest.raises(DataError, match=r"from 1 to 46 days, mostly .*freq=, such as 'D' or 'M'"):
        of_dates(found)
    assert next_dates(found, 2, "D") == ["2020-03-02", "2020-03-03"]
    with pytest.raises(DataError, match="only 2 different inputs"):
        find_steps(np.array([1.0, 1.0, 2.0]), is_time=False)


@pytest.mark.parametrize(
    ("freq", "expected"),
    [
        ("M", "2020-02-20"),
        ("monthly", "2020-02-20"),
        ("MS", "2020-02-01"),
        ("ME", "2020-01-31"),
        ("Q", "2020-04-20"),
        ("2 quarters", "2020-07-20"),
        ("Y", "2021-01-20"),
        ("W", "2020-01-27"),
        ("W-FRI", "2020-01-24"),
        ("B", "2020-01-21"),
        ("3D", "2020-01-23"),
        ("48H", "2020-01-22"),
        ("1440T", "2020-01-21"),
        (timedelta(days=2), "2020-01-22"),
        (np.timedelta64(1, "D"), "2020-01-21"),
        (pd.DateOffset(months=1), "2020-02-20"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_steps__asked_for_begin_after_the_last_date(freq, expected):
    whole = pd.date_range("2020-01-01", periods=20, freq="D")
    assert next_dates(whole, 1, freq) == [expected]


def test_steps__of_months_asked_for_keep_the_day_of_the_rows():
    ends = pd.DatetimeIndex(["2020-01-31", "2020-02-29", "2020-04-30"])
    assert next_dates(ends, 2, "M") == ["2020-05-31", "2020-06-30"]


@pytest.mark.parametrize("freq", ["foo", "-1D", "0D", "", 7, True, [1]])
def test_steps__that_no_date_has_are_refused(freq):
    with pytest.raises(SettingsError, match=r"freq is .*expected a step of dates such as 'D'"):
        of_dates(pd.date_range("2020-01-01", periods=5), freq)


@pytest.mark.parametrize("freq", ["M", 0, -1.0, np.inf, True])
def test_steps__of_numbers_are_numbers(freq):
    with pytest.raises(SettingsError, match="the input has numbers: expected the step"):
        find_steps(np.arange(5.0), is_time=False, freq=freq)
    assert find_steps(np.arange(5.0), is_time=False, freq="0.5").after(4.0, 1)[0] == 4.5
