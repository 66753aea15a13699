import pytest

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.part import Gate, Values
from vbks.words.regions import brief_region, is_nowhere, limits, region, stretches

AXES = Axes(
    (
        Axis("year", "years", True, low=1610.0, high=2011.0),
        Axis("age", "days", low=1.0, high=365.0),
        Axis("water", "kg/m³", low=120.0, high=250.0),
    )
)


def gate(side, start, end=None, number=1):
    ends = [None if each is None else Estimate(each) for each in (start, end)]
    return Gate(side, number, Values(start=ends[0], end=ends[1]))


BEFORE, AFTER = gate("before", 1900.0), gate("after", 1700.0)
INSIDE, OUTSIDE = gate("inside", 1645.0, 1715.0), gate("outside", 1645.0, 1715.0)


@pytest.mark.parametrize(
    "gates, text",
    [
        ([], ""),
        ([BEFORE], "until 1900"),
        ([AFTER], "from 1700 onwards"),
        ([INSIDE], "from 1645 to 1715"),
        ([OUTSIDE], "until 1645 and from 1715 onwards"),
        ([AFTER, BEFORE], "from 1700 to 1900"),
        ([OUTSIDE, BEFORE], "until 1645 and from 1715 to 1900"),
        ([INSIDE, AFTER], "from 1700 to 1715"),
        ([gate("before", 28.0, number=2)], "where age is below 28 days"),
        ([gate("inside", 3.0, 28.0, 2)], "where age is between 3 and 28 days"),
        ([gate("outside", 3.0, 28.0, 2)], "where age is below 3 days or above 28 days"),
        ([BEFORE, gate("after", 180.0, number=3)], "until 1900 and where water is above 180 kg/m³"),
        (
            [OUTSIDE, gate("after", 180.0, number=3)],
            "until 1645 and from 1715 onwards, and where water is above 180 kg/m³",
        ),
        ([gate("before", None)], "before a change"),
        ([gate("inside", 1645.0)], "inside a window of time"),
        ([gate("after", None, number=2)], "above a threshold in age"),
        ([gate("outside", None, number=2)], "outside a window in age"),
        ([gate("before", None), AFTER], "on one side of each of two changes"),
        ([gate("inside", 1645.1, 1645.2)], "in 1645"),
        ([gate("inside", 28.1, 28.2, 2)], "where age is close to 28 days"),
        (
            [gate("outside", y, y + 10.0) for y in (1650.0, 1700.0, 1750.0)],
            "in four separate stretches of year",
        ),
    ],
)
def test_region__says_where_all_gates_are_open(gates, text):
    assert region(gates, AXES) == text


def test_region__has_intervals_where_they_are_asked_for():
    start = Values(start=Estimate(1645.0, 1642.0, 1648.0))
    assert region([Gate("after", 1, start)], AXES, True) == "from 1645 (1642–1648) onwards"


def test_stretches__are_empty_where_gates_are_never_open_together():
    gates = [gate("before", 1650.0), AFTER]
    assert stretches(gates) == () and is_nowhere(gates)
    assert not is_nowhere([BEFORE, AFTER]) and not is_nowhere([])


def test_brief_region__is_for_tables():
    assert brief_region([OUTSIDE], AXES) == "until 1645 and from 1715"
    assert brief_region([BEFORE, gate("after", 28.0, number=2)], AXES) == (
        "within limits of year and age"
    )
    assert brief_region([gate("before", 1650.0), AFTER], AXES) == "nowhere"


def test_limits__name_the_inputs():
    assert limits([BEFORE, AFTER], AXES) == "within limits of year"
    assert limits([], AXES) == ""
