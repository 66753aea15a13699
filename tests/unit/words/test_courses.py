"""How curves go, in words."""

import pytest

from vbks.words import Axes, Axis, Course, Estimate, Values
from vbks.words.courses import along_input, course_of, goes, goes_one_way

AGE = Axis("age", "days", low=1.0, high=365.0)
YEAR = Axis("year", "years", is_time=True, low=1900.0, high=2020.0)
AXES = Axes((AGE, Axis("water")))


@pytest.mark.parametrize(
    ("values", "axis", "text"),
    [
        (Values(direction="up"), AGE, "rises"),
        (Values(direction="down", pace="slower"), AGE, "falls ever more slowly"),
        (Values(direction="up", pace="faster"), YEAR, "rises faster and faster"),
        (
            Values(direction="up", levels_off=Estimate(28.0)),
            AGE,
            "rises up to about 28 days and then levels off",
        ),
        (
            Values(direction="up", turns=(Estimate(1957.3),)),
            YEAR,
            "rises until about 1957 and then falls",
        ),
        (
            Values(direction="down", turns=(Estimate(1940.0), Estimate(1980.0))),
            YEAR,
            "falls until about 1940, rises until about 1980 and then falls again",
        ),
    ],
)
def test_goes__says_where_a_curve_rises_and_falls(values, axis, text):
    assert goes(values, axis) == text
    assert course_of(values, Axes((axis,)), 1) == f"that {text}"


def test_along_input__names_it_and_says_where_there_is_more_of_it():
    course = Course(1, Values(direction="up", levels_off=Estimate(28.0)), (2, "low"))
    expected = "rises with age up to about 28 days and then levels off, more so where water is low"
    assert along_input(course, AXES) == expected
    assert along_input(Course(2, Values(direction="down")), AXES) == "falls with water"


def test_one_way__is_without_turns_and_without_an_end():
    assert goes_one_way(Values(direction="up", pace="faster"))
    assert not goes_one_way(Values())
    assert not goes_one_way(Values(direction="up", turns=(Estimate(3.0),)))
    assert not goes_one_way(Values(direction="up", levels_off=Estimate(3.0)))
