import pytest

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.form import form_of
from vbks.words.multiplied import parts_of
from vbks.words.outlook import covers, outlook
from vbks.words.part import Values

AXES = Axes((Axis("year", "years", True, low=1950.0, high=1990.0),))
LONG, SHORT = Values(lengthscale=Estimate(90.0)), Values(lengthscale=Estimate(9.0))
EARLY, LATE = Values(zero=Estimate(1900.0)), Values(zero=Estimate(2000.0))
WINDOW = Values(start=Estimate(1960.0), end=Estimate(1970.0))


def form(text, known=(), part=0):
    return form_of(parts_of(text, 1, known)[part], AXES)


@pytest.mark.parametrize(
    "text, known, part, written",
    [
        ("SE", [SHORT], 0, "Beyond the data it fades over about 9 years."),
        ("OU", [], 0, "Beyond the data it fades."),
        ("PER", [], 0, "Beyond the data it repeats."),
        ("PER * SE", [None, SHORT], 0, "Beyond the data it repeats, less and less surely."),
        ("PER * SE", [None, LONG], 0, "Beyond the data it repeats."),
        ("PER * LIN", [None, EARLY], 0, "Beyond the data it repeats with growing swings."),
        ("PER * LIN", [None, LATE], 0, "Beyond the data it repeats with shrinking swings."),
        ("LIN", [], 0, "Beyond the data it goes on in a straight line."),
        ("LIN * LIN", [], 0, "Beyond the data it goes on along the same curve."),
        ("C", [], 0, "Beyond the data it stays the same."),
        ("WN", [], 0, "It widens forecasts without moving them."),
        ("WN * LIN", [None, EARLY], 0, "It widens forecasts more and more without moving them."),
        ("CW(SE, C)", [WINDOW], 1, "It plays no part after January 1970."),
        ("CW(SE, C)", [WINDOW], 0, "Beyond the data it fades."),
        ("CW(SE, C)", [], 1, ""),
    ],
)
def test_outlook__says_what_the_part_means_beyond_the_data(text, known, part, written):
    assert outlook(form(text, known, part), AXES) == written


def test_outlook__under_a_log_warp_a_line_goes_on_at_its_rate():
    assert outlook(form("LIN"), Axes(AXES.inputs, warp="log")).endswith("at the same rate.")


@pytest.mark.parametrize(
    "text, known, written",
    [
        ("PER", [], "It also covers a constant level."),
        ("PER0", [], ""),
        ("PER * SE", [], "It also covers a drift of the same pace."),
        ("PER * LIN", [], "It also covers a linear trend."),
        ("PER * LIN * SE", [], ""),
        ("SE", [SHORT], ""),
        ("SE", [LONG], "Over the data it is nearly a straight line."),
        ("WN", [], "It also covers patterns too short for the rows to show."),
    ],
)
def test_covers__says_what_else_the_part_takes_in(text, known, written):
    assert covers(form(text, known), AXES) == written
