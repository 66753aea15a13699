import pytest

from vbks.properties.telling import (
    told_change,
    told_cycle,
    told_input,
    told_pair,
    told_spread,
    told_trend,
)
from vbks.properties.values import Peak
from vbks.words import Axes, Axis, Estimate, Target

TIME = Axes((Axis("month", "months", is_time=True, low=0.0, high=120.0),), Target("sold", "kg"))
AGE = Axes((Axis("age", low=0.0, high=90.0), Axis("dose", low=0.0, high=9.0)), Target("strength"))
YEAR = Estimate(12.0, 11.9, 12.1)


def test_cycle__has_its_name_its_probability_and_its_period():
    found = told_cycle(0.97, YEAR, (Peak(0.97, YEAR),), TIME, 1)
    assert found == (
        "There is very likely a yearly cycle (97 %), with a period of 12.0 months (11.9–12.1)."
    )
    other = Peak(0.3, Estimate(6.0, 5.9, 6.1))
    more = told_cycle(0.97, YEAR, (Peak(0.97, YEAR), other), TIME, 1)
    assert more.endswith("Cycles of 12.0 months (97 %) and 6.00 months (30 %) are possible.")


def test_trend__has_a_direction_and_the_other_one_if_it_is_open():
    change = Estimate(30.0, 20.0, 40.0)
    assert told_trend(0.95, 0.0, change, TIME) == (
        "There is very likely a rising trend (95 %): sold rises by about 30 kg (20–40) over the "
        "data."
    )
    many = Axes(TIME.inputs, Target("passengers"))
    assert "passengers rise by about 30" in told_trend(0.95, 0.0, change, many)
    down = told_trend(0.2, 0.7, Estimate(-30.0, -40.0, 5.0), TIME)
    assert "probably a falling trend (70 %)" in down and "a rising one has 20 %" in down
    assert "falls by about 30 kg" in down


@pytest.mark.parametrize(
    ("name", "ways", "text"),
    [
        ("swings", (0.9, 0.0, 0.0), "Swings probably grow (90 %): they are 2.00 times"),
        ("noise", (0.05, 0.7, 0.0), "The noise probably shrinks (70 %): it is 2.00 times"),
        (
            "noise",
            (0.2, 0.7, 0.0),
            "The noise probably shrinks (70 %), or changes otherwise (20 %)",
        ),
        ("noise", (0.0, 0.0, 0.5), "The noise possibly changes (50 %): it is 2.00 times"),
        ("swings", (0.01, 0.0, 0.0), "It is unlikely that swings change in size (1 %)."),
    ],
)
def test_spread__says_how_and_how_much(name, ways, text):
    found = told_spread(name, ways, 0.0, Estimate(2.0, 1.99, 2.01), TIME, 1)
    assert found.startswith(text)
    if sum(ways) > 0.1:
        assert found.endswith("as large at the end as at the beginning.")
    assert "lowest" in told_spread(name, (0.9, 0.0, 0.0), 0.0, Estimate(2.0), AGE, 1)


def test_change__says_where_once_or_at_several_places():
    where = Estimate(60.0, 59.0, 61.0)
    peak = Peak(0.95, where)
    assert told_change(0.95, where, (peak,), AGE, 1) == (
        "The data very likely change (95 %) at 60 (59.0–61.0) in age."
    )
    several = told_change(0.95, where, (peak, Peak(0.4, Estimate(20.0))), AGE, 1)
    assert "at 60 (95 %) and at 20 (40 %)" in several


def test_inputs_and_pairs__are_told_by_name():
    assert told_input(0.999, 0.45, AGE, 1) == (
        "Age almost certainly matters (99.9 %): it accounts for 45 % of the variance."
    )
    assert told_pair(0.7, 0.05, AGE, (1, 2)).startswith("Age and dose probably act together (70 %)")


def test_what_is_improbable__is_told_as_unlikely():
    assert told_cycle(0.04, YEAR, (), TIME, 1) == "A cycle is unlikely (4 %)."
    assert told_trend(0.02, 0.02, YEAR, TIME) == ("A trend that would go on is unlikely (4 %).")
    assert told_change(0.04, YEAR, (), TIME, 1) == "A change of character is unlikely (4 %)."
