import pytest

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.form import form_of
from vbks.words.multiplied import parts_of
from vbks.words.nouns import head_noun, head_of
from vbks.words.part import Factor, Part, Values
from vbks.words.telling import SUMMARY

YEARS = Axes((Axis("year", "years", True),))


def noun(part, axes=YEARS):
    return str(head_noun(form_of(part, axes), axes, SUMMARY))


@pytest.mark.parametrize(
    "text, kind",
    [
        ("LIN * SE * PER", "Cycle"),
        ("LIN * SE", "Curve"),
        ("LIN * C", "Line"),
        ("C", "NoneType"),
        ("WN * LIN", "NoneType"),
    ],
)
def test_head_of__is_the_factor_of_highest_priority(text, kind):
    assert type(head_of(form_of(parts_of(text)[0], YEARS), YEARS)).__name__ == kind


@pytest.mark.parametrize(
    "family, text",
    [
        ("SE", "a smooth function"),
        ("M52", "a fairly smooth function"),
        ("M32", "a slightly rough function"),
        ("OU", "a rough function"),
        ("RQ", "a smooth function with waves of many lengths"),
        ("PER", "a periodic function"),
        ("LIN", "a linear function"),
        ("C", "a constant"),
        ("WN", "uncorrelated noise"),
        ("COS", "a special function"),
    ],
)
def test_head_noun__of_every_family(family, text):
    assert noun(Part((Factor(family),))) == text


@pytest.mark.parametrize(
    "period, text",
    [
        (1.0, "a yearly cycle"),
        (11.2, "a cycle of about 11 years"),
        (0.33, "a cycle of about 4 months"),
    ],
)
def test_head_noun__of_a_cycle_is_its_period(period, text):
    assert noun(Part((Factor("PER", values=(Values(period=Estimate(period)),)),))) == text


def test_head_noun__of_lines_says_their_power_and_direction():
    texts = [noun(Part((Factor("LIN"),) * power)) for power in range(1, 6)]
    assert texts == [
        "a linear function",
        "a quadratic polynomial",
        "a cubic polynomial",
        "a quartic polynomial",
        "a polynomial of degree 5",
    ]
    falling = Part((Factor("LIN", values=(Values(slope=Estimate(-2.0)),)),))
    assert noun(falling) == "a linearly decreasing function"
    assert noun(falling, Axes(warp="log")) == "an exponentially shrinking factor"


def test_head_noun__under_a_log_warp_is_a_factor():
    axes = Axes(warp="log")
    texts = [noun(Part((Factor(family),)), axes) for family in ("SE", "PER", "C", "LIN")]
    assert texts == [
        "a smooth factor",
        "a periodic factor",
        "a constant factor",
        "an exponential factor",
    ]
