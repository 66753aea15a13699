from dataclasses import replace

import pytest

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.part import Values
from vbks.words.readings import read

MONTHS = Axes((Axis("month", "months", True, low=0.0, high=143.0),))
YEAR = Values(period=Estimate(12.0))


def scale(value, **others):
    return Values(lengthscale=Estimate(value), **others)


@pytest.mark.parametrize(
    "expression, known, text",
    [
        ("PER * LIN + SE", [YEAR, None, scale(60.0)], "yearly cycle × growth, slow drift"),
        ("SE * PER", [scale(20.0), YEAR], "evolving yearly cycle"),
        ("SE", [scale(1.0)], "fast wobble"),
        ("OU", [scale(1.0)], "fast jitter"),
        ("OU", [scale(90.0)], "slow wandering"),
        ("SE", [scale(90.0, direction="up", pace="faster")], "rise that speeds up"),
        ("SE", [scale(90.0, direction="down", pace="slower")], "fall that slows down"),
        ("LIN", [Values(slope=Estimate(-1.0))], "falling trend"),
        ("LIN * LIN + C + WN", [], "quadratic trend, level, noise"),
        ("WN * LIN", [None, Values(direction="down")], "noise × decline"),
        ("PER", [Values(period=Estimate(132.0))], "cycle of about 11 years"),
        ("SE + SE", [], "drift (2 parts)"),
        ("CP(SE, LIN)", [], "drift before a change, linear trend after a change"),
        ("SE * PER * LIN * LIN", [None, YEAR], "evolving yearly cycle × quadratic growth"),
    ],
)
def test_read__is_a_list_of_short_readings(expression, known, text):
    assert read(expression, MONTHS, known) == text


@pytest.mark.parametrize(
    "expression, names, text",
    [
        ("PER * LIN + SE", ["month"], "cycle × growth, drift"),
        ("PER * LIN + SE", [], "cycle × growth, smooth curve"),
        (
            "SE[1] * LIN[2] + OU[3]",
            ["age", "water", "fly_ash"],
            "smooth in age × linear in water, rough in fly ash",
        ),
        ("PER[1] * SE[2]", ["hour", "load (MW)"], "cycle × smooth in “load MW”"),
        ("SE[2]", ["age"], "smooth in input 2"),
        ("LIN", list("abcde"), "linear in all inputs"),
        ("LIN[1] * LIN[1] * LIN[2]", ["age", "water"], "quadratic in age × linear in water"),
        (
            "CP[2](SE[1], C)",
            ["age", "water"],
            "smooth in age below a threshold in water, level above a threshold in water",
        ),
        ("SE", list("abcde"), "smooth in five inputs together"),
    ],
)
def test_read__has_the_names_of_columns(expression, names, text):
    assert read(expression, names) == text


def test_read__under_a_log_warp_is_of_factors():
    log = replace(MONTHS, warp="log")
    assert read("LIN + C", log) == "exponential growth, constant factor"
    falling = [Values(slope=Estimate(-1.0))]
    assert read("LIN", log, falling) == "exponential decline"
