import pytest

from vbks.words.time_units import chosen_unit, cycle_name, time_unit


@pytest.mark.parametrize(
    "name, unit",
    [("months", "month"), (" Day ", "day"), ("h", "hour"), ("yrs", "year"), ("min", "minute")],
)
def test_time_unit__is_known_by_several_names(name, unit):
    assert time_unit(name).name == unit


@pytest.mark.parametrize("name", [None, "", "kg/m³", "MW", "m"])
def test_time_unit__is_none_of_other_units(name):
    assert time_unit(name) is None


@pytest.mark.parametrize(
    "amount, unit, chosen",
    [
        (12, "months", "month"),
        (110, "months", "year"),
        (365.25, "days", "month"),
        (7, "days", "day"),
        (900, "days", "year"),
        (0.115, "years", "week"),
        (1.0, "years", "month"),
        (10.8, "years", "year"),
        (24, "hours", "hour"),
        (100, "hours", "day"),
        (0.6, "hours", "minute"),
        (1e-9, "hours", "second"),
    ],
)
def test_chosen_unit__is_the_one_that_a_person_would_use(amount, unit, chosen):
    assert chosen_unit(amount, time_unit(unit)).name == chosen


@pytest.mark.parametrize(
    "period, unit, name",
    [
        (12, "months", "yearly"),
        (365.25, "days", "yearly"),
        (1.0, "year", "yearly"),
        (6.02, "months", "half-yearly"),
        (3, "months", "quarterly"),
        (30.4, "days", "monthly"),
        (7, "d", "weekly"),
        (168.1, "hours", "weekly"),
        (24, "hours", "daily"),
        (1, "day", "daily"),
        (12, "hours", "half-daily"),
        (60, "minutes", "hourly"),
        (29.5, "days", None),
        (11, "years", None),
        (12, "kg", None),
        (12, None, None),
    ],
)
def test_cycle_name__of_periods_that_people_have_a_word_for(period, unit, name):
    assert cycle_name(period, unit) == name
