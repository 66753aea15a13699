from dataclasses import replace

import pytest

from vbks.words.axes import Axes, Axis, Target
from vbks.words.estimate import Estimate
from vbks.words.facts import facts
from vbks.words.form import form_of
from vbks.words.multiplied import parts_of
from vbks.words.part import Values
from vbks.words.telling import EVERYTHING, SUMMARY

AXES = Axes((Axis("year", "years", True, low=1950.0, high=1990.0),), Target("CO2", "ppm"))
WIDE = Values(period=Estimate(11.0, 9.0, 13.0))
FIFTIES = (Estimate(1955.0), Estimate(1960.0))
FALLS = "It falls by about 2 ppm a year."


def told(text, known=(), telling=EVERYTHING, **of_part):
    part = replace(parts_of(text, 1, known)[0], **of_part)
    return facts(part, form_of(part, AXES), AXES, telling)


@pytest.mark.parametrize(
    "text, known, of_part, written",
    [
        ("SE", [], {}, ""),
        ("SE", [], {"amplitude": Estimate(3.3)}, "It typically moves CO2 by ± 3.3 ppm."),
        ("C", [], {"amplitude": Estimate(3.3)}, "It typically shifts CO2 by ± 3.3 ppm."),
        ("WN", [], {"amplitude": Estimate(3.3)}, "It has a standard deviation of about 3.3 ppm."),
        ("SE", [], {"share": 0.123}, "It accounts for 12 % of the variance."),
        ("SE", [], {"share": 1.2}, ""),
        ("PER", [Values(period=Estimate(11.0))], {}, ""),
        ("PER", [WIDE], {}, "It repeats about every 11 years (9–13)."),
        ("LIN", [Values(slope=Estimate(-2.0))], {"amplitude": Estimate(9.0)}, FALLS),
        ("SE * LIN", [None, Values(zero=Estimate(1960.0))], {}, "It is smallest in January 1960."),
        ("SE", [], {"acts": FIFTIES}, "It acts mostly from January 1955 to January 1960."),
        ("CP(SE, C)", [], {"acts": FIFTIES}, ""),
    ],
)
def test_facts__are_those_that_are_known(text, known, of_part, written):
    assert told(text, known, **of_part) == written


def test_facts__are_none_in_a_summary():
    assert told("SE", telling=SUMMARY, amplitude=Estimate(3.0), share=0.5) == ""
