from datetime import date, datetime, timedelta, timezone

import pytest

from vbks.words.axes import Axis
from vbks.words.estimate import Estimate
from vbks.words.places import both_places, place, place_after_preposition, said_once

MONTHS = Axis("month", "months", True, date(1949, 1, 1), 0.0, 143.0)
DAYS = Axis("day", "days", True, date(1970, 1, 1))
HOURS = Axis("time", "hours", True, datetime(2024, 3, 1), 0.0, 72.0)
YEARS = Axis("year", "years", True, low=1610.0, high=2011.0)
AGE = Axis("age", "days", low=1.0, high=365.0)


@pytest.mark.parametrize(
    "value, axis, text",
    [
        (98.0, MONTHS, "March 1957"),
        (-1.0, MONTHS, "December 1948"),
        (18340.0, DAYS, "19 March 2020"),
        (30.5, HOURS, "06:30 on 2 March 2024"),
        (1645.3, YEARS, "1645"),
        (1957.25, Axis(unit="years", is_time=True, low=1950.0, high=1960.0), "April 1957"),
        (12.3, YEARS, "12 years"),
        (28.2, AGE, "28 days"),
        (28.2, Axis(), "28.2"),
        (1.0, Axis(unit="day", low=0.0, high=5.0), "1 day"),
        (100_003.47, Axis(unit="m", low=1e5, high=1e5 + 10), "100,003.5 m"),
        (123_456.0, Axis(low=0.0, high=1e6), "120,000"),
        (1e9, DAYS, "1 billion days"),
    ],
)
def test_place__is_a_date_or_a_number_as_fine_as_the_data(value, axis, text):
    assert place(Estimate(value), axis) == text


@pytest.mark.parametrize(
    "estimate, axis, text",
    [
        (Estimate(1645.0, 1642.0, 1648.0), YEARS, "1645 (1642–1648)"),
        (Estimate(98.0, 97.0, 99.0), MONTHS, "March 1957 (February to April 1957)"),
        (Estimate(98.0, 74.0, 122.0), MONTHS, "1957 (1955–1959)"),
        (Estimate(18340.0, 18336.0, 18344.0), DAYS, "19 March 2020 (15 to 23 March 2020)"),
        (Estimate(1645.3, 1645.29, 1645.31), YEARS, "20 April 1645 (16 to 24 April 1645)"),
        (Estimate(28.0, 24.0, 33.0), AGE, "28 days (24–33)"),
        (Estimate(-2.0, -3.0, 1.0), AGE, "−2 days (−3 to 1)"),
        (Estimate(28.0), AGE, "28 days"),
    ],
)
def test_place__is_no_finer_than_it_is_known(estimate, axis, text):
    assert place(estimate, axis, with_interval=True) == text


def test_place__of_an_origin_with_a_zone_is_told_in_utc():
    zone = timezone(timedelta(hours=2))
    axis = Axis(unit="hours", is_time=True, origin=datetime(2024, 3, 1, 2, tzinfo=zone), high=9.0)
    assert place(Estimate(1.0), axis) == "01:00 on 1 March 2024"


def test_place__counts_months_from_the_end_of_a_month():
    axis = Axis(unit="months", is_time=True, origin=date(2023, 12, 31))
    assert place(Estimate(1.0), axis) == "January 2024"


@pytest.mark.parametrize(
    "value, axis, text",
    [
        (98.0, MONTHS, "in March 1957"),
        (18340.0, DAYS, "on 19 March 2020"),
        (1645.0, YEARS, "in 1645"),
        (30.5, HOURS, "at 06:30 on 2 March 2024"),
        (28.0, AGE, "at 28 days"),
    ],
)
def test_place_after_preposition__has_the_word_of_its_kind(value, axis, text):
    assert place_after_preposition(Estimate(value), axis) == text


def test_both_places__are_told_alike():
    wide, narrow = Estimate(74.0, 50.0, 98.0), Estimate(122.0, 121.5, 122.5)
    assert both_places(wide, narrow, MONTHS) == ("1955", "1959")
    assert both_places(Estimate(3.0), Estimate(28.0), AGE) == ("3", "28 days")


@pytest.mark.parametrize(
    "first, last, said",
    [
        ("2 March 2024", "9 March 2024", "2"),
        ("March 2024", "June 2024", "March"),
        ("06:30 on 2 March 2024", "17:12 on 2 March 2024", "06:30"),
        ("20:00 on 1 March 2024", "06:00 on 2 March 2024", "20:00 on 1 March 2024"),
        ("1645", "1715", "1645"),
        ("3 days", "3 days", "3 days"),
    ],
)
def test_said_once__leaves_out_what_both_end_with(first, last, said):
    assert said_once(first, last) == (said, last)
