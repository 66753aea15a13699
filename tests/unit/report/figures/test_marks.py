import re

import numpy as np

from vbks.report.figures.frame import WIDE, Size
from vbks.report.figures.marks import compared_figure, lines_figure, probability_bar
from vbks.report.sections.effects import Compared
from vbks.report.values import Lines


def test_compared__has_a_dot_and_a_whisker_for_each_row():
    compared = Compared(
        "load", (1.0, 2.0, 3.0), (0.5, 1.5, 2.5), (1.0, 2.0, 3.0), (1.5, 2.5, 3.5), 1.0
    )
    figure = str(compared_figure(compared, Size(400, 400), "predicted"))
    (dots,) = re.findall(r'd="([^"]*)" class="data"', figure)
    (whiskers,) = re.findall(r'd="([^"]*)" class="whisker"', figure)
    assert dots.count("h0") == whiskers.count("V") == 3
    (diagonal,) = re.findall(r'd="M([\d. ]+)L([\d. ]+)" class="end"', figure)
    (a, b), (c, d) = (map(float, end.split()) for end in diagonal)
    slope = (b - d) / (c - a)
    for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", dots):
        assert abs(b - slope * (float(x) - a) - float(y)) < 0.3
    assert "observed load" in figure and "predicted load" in figure


def test_bar__is_as_long_as_the_probability():
    widths = re.findall(r'<rect width="([\d.]+)"', str(probability_bar(0.25)))
    assert widths == ["100", "25"]


def test_lines__have_a_style_of_their_own_each():
    history = Lines(
        "rows", "probability", (0.5, 1.0), ("SE", "LIN"), ((0.2, 0.9), (0.8, 0.1)),
        "probability", "probability",
    )  # fmt: skip
    figure = str(lines_figure(history, WIDE, "belief"))
    lines = dict(re.findall(r'd="M[\d.]+ [\d.]+L[\d.]+ ([\d.]+)" class="series (s\d)"', figure))
    assert {name for name in lines.values()} == {"s0", "s1"}
    ends = {name: float(y) for y, name in lines.items()}
    assert ends["s0"] < ends["s1"]
    assert np.isfinite([*ends.values()]).all()
    assert "100 %" in figure
