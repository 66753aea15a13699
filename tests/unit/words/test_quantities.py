import math

import pytest

from vbks.words.axes import Axes, Axis, Target
from vbks.words.estimate import Estimate
from vbks.words.quantities import length, rough_length, size, slope, spread

MONTHS = Axis("month", "months", True, low=0.0, high=143.0)


@pytest.mark.parametrize(
    "estimate, axis, text",
    [
        (Estimate(12.0, 11.98, 12.02), MONTHS, "12.0 months (11.98–12.02)"),
        (Estimate(110.0), MONTHS, "about 9 years"),
        (Estimate(1.0), MONTHS, "about 1 month"),
        (Estimate(9.0), Axis(unit="days"), "about 9 days"),
        (Estimate(11.0), Axis(unit="°C"), "about 11 °C"),
        (Estimate(0.37), Axis(), "about 0.37"),
    ],
)
def test_length__is_in_the_unit_of_the_axis_or_one_that_fits(estimate, axis, text):
    assert length(estimate, axis, with_interval=True) == text


def test_rough_length__is_never_exact():
    assert rough_length(Estimate(10.8, 10.7, 10.9), Axis(unit="years")) == "about 11 years"


@pytest.mark.parametrize(
    "value, axes, text",
    [
        (45.2, Axes(target=Target("passengers", "thousand")), "± 45 thousand"),
        (45.2, Axes(), "± 45"),
        (math.log(1.04), Axes(warp="log"), "± 4 %"),
        (math.log(2.0), Axes(warp="log"), "a factor of 2"),
        (0.31, Axes(target=Target("share", "%"), warp="logit"), "± 0.31 on the logit scale"),
        (1e9, Axes(warp="log"), "a factor of 1,000,000"),
    ],
)
def test_size__is_in_the_targets_unit_or_a_factor(value, axes, text):
    assert size(Estimate(value), axes) == text


def test_spread__of_factors_is_in_percent():
    assert spread(Estimate(9.1, 8.9, 9.3), Axes(target=Target(unit="ppm"))) == "9.10 ppm"
    assert spread(Estimate(math.log(1.04)), Axes(warp="log")) == "about 4 %"
    assert spread(Estimate(math.log(3.0)), Axes(warp="log")) == "about 3"


@pytest.mark.parametrize(
    "estimate, axes, axis, text",
    [
        (Estimate(2.66, 2.5, 2.8), Axes(), MONTHS, "about 32 a year (30–34)"),
        (Estimate(-2.66, -2.8, -2.5), Axes(), MONTHS, "about 32 a year (30–34)"),
        (Estimate(0.0087), Axes(warp="log"), MONTHS, "about 11 % a year"),
        (Estimate(0.2), Axes(warp="log"), MONTHS, "a factor of about 11 a year"),
        (Estimate(-0.2), Axes(warp="log"), MONTHS, "about 91 % a year"),
        (Estimate(0.01, -0.01, 0.03), Axes(), Axis(unit="kg"), "about 0.01 per kg"),
        (Estimate(3.0), Axes(), Axis(), "about 3 per unit"),
        (Estimate(3.0), Axes(), Axis(unit="h", is_time=True), "about 3 an hour"),
        (Estimate(3.0), Axes(), Axis(unit="days", low=0.0, high=3650.0), "about 3 a day"),
        (Estimate(0.1), Axes(warp="logit"), MONTHS, "about 1.2 a year on the logit scale"),
    ],
)
def test_slope__is_told_by_the_year_where_the_data_cover_years(estimate, axes, axis, text):
    assert slope(estimate, axes, axis, with_interval=True) == text
