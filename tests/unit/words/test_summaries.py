"""Summaries of functions in whole sentences, of parts that are known."""

from dataclasses import replace

from vbks.words import Axes, Axis, Course, Estimate, Target, Values, parts_of
from vbks.words.summaries import summarise

MONTHS = Axis("month", "months", is_time=True, low=0.0, high=143.0)
AIRLINE = Axes((MONTHS,), Target("passengers", "thousand"))
CYCLE = Values(period=Estimate(12.0, 11.98, 12.02))


def part(text, *known, share=0.3, num_inputs=1, **changes):
    (found,) = parts_of(text, num_inputs, known)
    return replace(found, **{"probability": 1.0, "share": share, **changes})


def rise(slope, **changes):
    return part("LIN", Values(slope=Estimate(slope)), share=0.6, **changes)


def test_summary_of_factors__tells_growth_in_percent_and_swings_with_the_level():
    cycle = part("PER0", CYCLE, amplitude=Estimate(0.12))
    drift = part("SE", Values(lengthscale=Estimate(30.0)), share=0.02, amplitude=Estimate(0.04))
    assert summarise([cycle, drift, rise(0.104 / 12)], replace(AIRLINE, warp="log"), 0.985) == (
        "Passengers grow by about 11 % a year, with a yearly cycle whose swings grow with the "
        "level.",
        "The yearly cycle typically moves passengers by ± 13 %.",
        "A slow drift over about 2.5 years moves passengers by ± 4.1 %.",
        "All parts together account for 98 % of the variance.",
    )


def test_summary__says_what_it_is_not_sure_of():
    cycle = part("PER0", CYCLE, probability=0.93)
    found = summarise([rise(-1.5, probability=0.7), cycle], AIRLINE)
    assert found == (
        "Passengers probably (70 %) fall by about 18 thousand a year.",
        "There is very likely (93 %) a yearly cycle.",
    )


def test_summary__takes_the_belief_on_another_scale_into_account():
    cycle = part("PER0 * LIN", CYCLE, Values(zero=Estimate(-20.0)), probability=0.8, elsewhere=0.2)
    assert summarise([cycle], AIRLINE) == ("Passengers have a yearly cycle whose swings grow.",)


def test_summary__leaves_out_what_is_hardly_there():
    likely = rise(1.5)
    rare, small = part("PER0", CYCLE, probability=0.3), part("PER0", CYCLE, share=0.0001)
    assert summarise([likely, rare, small], AIRLINE) == summarise([likely], AIRLINE)
    assert summarise([rare], AIRLINE) == ("Passengers vary around a constant level.",)


def test_summary_of_several_inputs__tells_what_each_does():
    inputs = (Axis("age", "days", low=1.0, high=365.0), Axis("water"))
    axes = Axes(inputs, Target("strength", "MPa"))
    courses = (
        Course(1, Values(direction="up", levels_off=Estimate(28.0)), (2, "low")),
        Course(2, Values(direction="down")),
    )
    both = part("SE[1] * SE[2]", num_inputs=2, courses=courses)
    assert summarise([both], axes) == (
        "Strength rises with age up to about 28 days and then levels off, more so where water is "
        "low; it falls with water.",
    )


def test_summary_of_changes__tells_each_side():
    axes = Axes((Axis("year", "years", is_time=True, low=1610.0, high=2011.0),), Target("light"))
    gate = Values(start=Estimate(1645.0), end=Estimate(1715.0))
    outside, inside = (
        replace(own, probability=1.0, share=0.4)
        for own in parts_of("CW(PER0, C)", 1, [gate, Values(period=Estimate(10.8))])
    )
    assert summarise([outside, inside], axes) == (
        "Until 1645 and from 1715 onwards there is a cycle of about 11 years; from 1645 to 1715 "
        "light stays constant.",
    )


def test_summary_of_curves__tells_their_course():
    year = Axis("year", "years", is_time=True, low=1958.0, high=2001.0)
    axes = Axes((year,), Target("CO₂", "ppm"))
    known = Values(direction="up", pace="faster", slope=Estimate(1.3, 1.2, 1.4))
    assert summarise([part("SE", known)], axes) == (
        "CO₂ rises by about 1.3 ppm a year on average, faster and faster.",
    )
    turned = Values(direction="up", turns=(Estimate(1980.0, 1978.0, 1982.0),))
    assert summarise([part("SE", turned)], axes) == ("CO₂ rises until about 1980 and then falls.",)
