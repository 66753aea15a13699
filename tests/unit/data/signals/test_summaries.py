"""Tests of what starts know of the inputs."""

import numpy as np
import pytest
from support.rows import periodic_times_line

from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.summaries import pooled, summarise_inputs, zero_crossings


def test_summarise_inputs__of_each_input_has_range_spacing_and_periods() -> None:
    rng = np.random.default_rng(0)
    X = np.stack([rng.permutation(np.arange(400.0)), rng.uniform(-1.0, 1.0, 400)], axis=1)
    wave = np.sin(2 * np.pi * X[:, 0] / 31.0) + np.cos(2 * np.pi * X[:, 1] / 0.23)
    first, second = summarise_inputs(X, wave + 0.2 * rng.normal(size=400))
    assert (first.low, first.high, first.spacing) == (0.0, 399.0, 1.0)
    assert -1.0 <= second.low < second.high <= 1.0
    assert abs(first.periods[0] / 31.0 - 1.0) < 0.02
    assert abs(second.periods[0] / 0.23 - 1.0) < 0.02


def test_summarise_inputs__takes_repeats_as_one_value() -> None:
    (summary,) = summarise_inputs(np.repeat([0.0, 2.0, 4.0], 7), np.arange(21.0))
    assert summary == InputSummary(0.0, 4.0, 2.0, repeats=7.0, level=10.0)


@pytest.mark.parametrize("zero", [-0.6, 0.0, 0.4])
def test_summarise_inputs__finds_where_a_line_that_multiplies_is_zero(zero: float) -> None:
    (summary,) = summarise_inputs(*periodic_times_line(0.5, zero))
    assert summary.crossings[0].place == pytest.approx(zero, abs=0.1)


@pytest.mark.parametrize("period", [0.5, 1.1])
def test_summarise_inputs__finds_the_period_beside_a_line(period: float) -> None:
    (summary,) = summarise_inputs(*periodic_times_line(period, 0.0))
    assert min(abs(np.log(summary.crossings[0].periods) - np.log(period))) < 0.15


def test_zero_crossings__are_not_led_astray_by_one_loud_end() -> None:
    """The lowest point of a parabola through the squares is far from zero here."""
    x = np.linspace(-1.0, 1.0, 400)
    wave = np.sin(20.0 * x) + np.where(x > 0.7, 2.0, 0.0)
    curvature, slope, _ = np.polyfit(x, (x * wave) ** 2, 2)
    assert -0.5 * slope / curvature < -0.2
    assert zero_crossings(x, x * wave)[0] == pytest.approx(0.0, abs=0.05)


def test_zero_crossings__may_be_outside_of_the_data() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 1.0, 500)
    (place, *_) = zero_crossings(x, (x + 0.3) * rng.normal(size=500))
    assert place == pytest.approx(-0.3, abs=0.1)


@pytest.mark.parametrize("y", [np.zeros(100), np.ones(100)])
def test_zero_crossings__a_steady_target_has_none(y: np.ndarray) -> None:
    assert zero_crossings(np.linspace(0.0, 1.0, 100), y) == ()


def test_summarise_inputs__has_changes_and_windows() -> None:
    x = np.linspace(0.0, 10.0, 300)
    sds = np.where((x > 3) & (x < 5), 0.1, 1.0)
    (summary,) = summarise_inputs(x, np.random.default_rng(0).normal(size=300) * sds)
    assert summary.windows[0].begin == pytest.approx(3.0, abs=0.2)


def test_pooled__covers_all_inputs() -> None:
    both = pooled((InputSummary(0.0, 1.0, 0.1, (0.3, 0.2)), InputSummary(-2.0, 0.5, 0.3, (0.7,))))
    assert (both.low, both.high, both.spacing) == (-2.0, 1.0, 0.2)
    assert both.periods == (0.3, 0.7)
