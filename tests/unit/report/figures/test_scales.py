from datetime import datetime

import numpy as np
import pytest

from vbks.report.figures.scales import Scale, covering, date_form, dated, numbers_alike


def days(text):
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds() / 86400


def test_scale__is_straight_and_keeps_far_values_near():
    scale = Scale(10.0, 20.0, 100.0, 200.0)
    np.testing.assert_allclose(scale([10.0, 15.0, 20.0]), [100.0, 150.0, 200.0])
    assert scale(1e300) == 500.0 and scale(-1e300) == -200.0
    upright = Scale(0.0, 1.0, 200.0, 0.0)
    assert upright(0.25) == 150.0


@pytest.mark.parametrize(
    ("low", "high", "most", "labels"),
    [
        (0.0, 1.0, 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-3.0, 1250.0, 6, ["0", "250", "500", "750", "1,000", "1,250"]),
        (1360.1, 1360.9, 4, ["1,360.25", "1,360.50", "1,360.75"]),
        (-0.02, 0.01, 3, ["−0.02", "−0.01", "0.00", "0.01"]),
        (2e6, 5e6, 3, ["2 million", "3 million", "4 million", "5 million"]),
    ],
)
def test_ticks__are_round_numbers_written_alike(low, high, most, labels):
    ticks = Scale(low, high, 0.0, 100.0).ticks(most)
    assert [label for _, label in ticks] == labels
    values = [value for value, _ in ticks]
    np.testing.assert_allclose(np.diff(values), values[1] - values[0])
    assert low <= values[0] and values[-1] <= high


def test_ticks__of_years_have_no_separators_and_of_shares_are_percent():
    years = Scale(1949.0, 1962.5, 0.0, 100.0, "year").ticks(4)
    assert [label for _, label in years] == ["1950", "1955", "1960"]
    shares = Scale(0.0, 1.0, 0.0, 100.0, "probability").ticks(2)
    assert [label for _, label in shares] == ["0 %", "50 %", "100 %"]


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        ("1949-01-01", "1962-12-01", ["1950", "1952", "1954", "1956", "1958", "1960", "1962"]),
        ("2022-01-15", "2022-08-15", [f"2022-0{month}" for month in range(2, 9)]),
        ("2022-03-01", "2022-03-04", ["2022-03-01", "2022-03-02", "2022-03-03", "2022-03-04"]),
    ],
)
def test_ticks__of_dates_are_at_beginnings(first, last, labels):
    ticks = Scale(days(first), days(last), 0.0, 100.0, "date").ticks(8)
    found = [label for _, label in ticks]
    assert set(found) <= set(labels) or found == labels
    assert len(found) >= 3
    for value, label in ticks:
        assert dated(value, "%Y-%m-%d").startswith(label)


def test_ticks__of_days_that_no_calendar_has_are_numbers():
    ticks = Scale(1e7, 2e7, 0.0, 100.0, "date").ticks(3)
    assert all("million" in label for _, label in ticks)
    assert dated(1e7, "%Y") == "day 10,000,000"


@pytest.mark.parametrize(
    ("dates", "form"),
    [
        (["2020-01-01", "2021-01-01"], "%Y"),
        (["2020-01-01", "2020-02-01"], "%Y-%m"),
        (["2020-01-01", "2020-01-02"], "%Y-%m-%d"),
        (["2020-01-01 00:00", "2020-01-01 00:15"], "%m-%d %H:%M"),
        (["2020-01-01 00:00:01"], "%H:%M:%S"),
    ],
)
def test_date_form__is_the_shortest_that_tells_all(dates, form):
    assert date_form([days(date) for date in dates]) == form


def test_numbers_alike__have_enough_digits_to_differ():
    assert numbers_alike([0.0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert numbers_alike([1.0]) == ["1"]


def test_covering__has_a_margin_and_no_infinity():
    assert covering(np.array([0.0, np.inf]), np.array([10.0, np.nan]), margin=0.1) == (-1.0, 11.0)
    assert covering(np.array([np.nan])) == (0.0, 1.0)
    low, high = covering(np.array([5.0, 5.0]))
    assert low < 5.0 < high
