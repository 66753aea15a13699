import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from vbks.data.units import Units
from vbks.inference.result import LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.parts.values import (
    Samples,
    estimate,
    known_values,
    samples_of,
    wave_share,
    weighted_quantiles,
)
from vbks.words import parts_of

UNITS = Units(np.array([100.0, -5.0]), np.array([20.0, 3.0]), 0.0, 1.0)


def at(expression, num_inputs=1, ard=True, **values):
    """Known values at one θ, of which some are given by their names in the layout."""
    layout = lay_out(expression, num_inputs, ard)
    theta = np.zeros(len(layout))
    for name, value in values.items():
        slots = [n for n, own in enumerate(layout.names) if own.endswith(f".{name}")]
        theta[slots] = value
    samples = Samples(theta[np.newaxis], np.ones(1))
    return known_values(layout, samples, UNITS)


def test_known_values__are_in_the_units_of_the_data():
    (line,), (wave,) = at("LIN * PER", location=-1.5, lengthscales=math.log(0.5), period=0.1)
    assert line.zero.value == 100.0 - 30.0 and line.lengthscale is None
    period = 20.0 * math.exp(0.1)
    assert wave.period.value == pytest.approx(period) and wave.period.low is None
    assert wave.lengthscale.value == pytest.approx(period * 0.5 / (2 * math.pi))


@pytest.mark.parametrize("phase", [0.3, 1.0, 5.0])
def test_known_values__within_a_period_follow_the_curvature_at_zero(phase):
    """1/ℓ² is −k''(0)/k(0) of a smooth kernel."""
    ((wave,),) = at("PER0", lengthscales=math.log(phase), period=0.0)
    ((whole,),) = at("PER", lengthscales=math.log(phase), period=0.0)
    mean = quad(lambda t: math.exp(-2 * (math.sin(math.pi * t) / phase) ** 2), 0, 1)[0]
    assert wave_share(np.array([phase]))[0] == pytest.approx(1 - mean)
    step = 1e-4
    fall = 1 - math.exp(-2 * (math.sin(math.pi * step) / phase) ** 2)
    for values, drop in ((whole, fall), (wave, fall / (1 - mean))):
        assert values.lengthscale.value / 20 == pytest.approx(step / math.sqrt(2 * drop), rel=1e-4)


def test_known_values__of_changes_stand_before_their_sides():
    change, (before,), after = at("CP(SE, WN)", location=0.5, steepness=math.log(10.0))
    assert change.start.value == 110.0 and change.end is None
    x = np.array([0.5, 0.5]) + np.array([-0.5, 0.5]) * change.transition.value / 20
    np.testing.assert_allclose(1 / (1 + np.exp(-10 * (x - 0.5))), [0.1, 0.9])
    assert before.lengthscale.value == 20.0 and after.lengthscale is None
    (window, *_) = at("CW(SE, C)", location=0.5, width=math.log(2.0))
    assert (window.start.value, window.end.value) == pytest.approx((90.0, 130.0))


def test_known_values__of_a_leaf_on_several_inputs_are_those_of_each():
    (leaf,) = at("SE", 2)
    assert [values.lengthscale.value for values in leaf] == [20.0, 3.0]
    (shared,) = at("SE", 2, ard=False, lengthscales=math.log(2.0))
    assert [values.lengthscale.value for values in shared] == pytest.approx([40.0, 6.0])
    ((second,),) = at("LIN[2]", 2, location=1.0)
    assert second.zero.value == pytest.approx(-2.0)


@pytest.mark.parametrize(
    "text", ["SE * (PER + LIN) + CW(OU, C * RQ) * LIN", "CP(PER * SE, WN) + M32", "C"]
)
def test_known_values__are_in_the_order_that_words_read_them(text):
    """Every leaf has what its family has: a period where it is periodic, a zero where a line."""
    known = known_values(lay_out(text), samples_of(make_fit(text)), UNITS)
    for part in parts_of(text, 1, known):
        for factor in part.factors:
            values = factor.on(0)
            assert (values.period is not None) == (factor.family == "PER")
            assert (values.zero is not None) == (factor.family == "LIN")
            assert (values.lengthscale is None) == (factor.family in ("LIN", "C", "WN"))
        assert all(gate.values.start is not None for gate in part.gates)


def make_fit(text, sd=0.1, means=(0.0,), shares=(1.0,)):
    size = len(lay_out(text))
    modes = tuple(
        Mode(np.full(size, mean), sd * np.eye(size), share, 0.0, 0.0, 0.0)
        for mean, share in zip(means, shares, strict=True)
    )
    return LocalFit(lay_out(text).expression, 1, 30, "exact", "full", size, modes=modes)


def test_samples__stand_for_all_modes_by_their_weights():
    fit = make_fit("SE", 0.1, (0.0, 5.0), (0.75, 0.25))
    samples = samples_of(fit)
    assert samples.weights.sum() == pytest.approx(1.0)
    is_first = samples.theta[:, 1] < 2.5
    assert samples.weights[is_first].sum() == pytest.approx(0.75)
    assert samples.theta[is_first, 1].std() == pytest.approx(0.1)
    assert len(samples_of(replace(fit, bound="stochastic")).theta) == sum(is_first)
    point = make_fit("SE", 0.0)
    np.testing.assert_array_equal(samples_of(point).theta, np.zeros((1, 3)))


def test_estimate__has_the_interval_of_the_normal_that_was_drawn():
    samples = samples_of(make_fit("SE", 0.3))
    found = estimate(samples.theta[:, 1], samples.weights)
    assert found.value == pytest.approx(0.0, abs=0.02)
    np.testing.assert_allclose([found.low, found.high], [-0.493, 0.493], atol=0.05)
    assert estimate(np.full(3, 2.0), np.ones(3)).width is None


def test_weighted_quantiles__count_values_by_their_weights():
    values, counts = np.array([3.0, 1.0, 2.0]), np.array([20, 50, 30])
    drawn = np.repeat(values, counts)
    found = weighted_quantiles(values, counts / 100, [0.25, 0.65, 0.9])
    naive = weighted_quantiles(drawn, np.ones(100), [0.25, 0.65, 0.9])
    assert found == pytest.approx([1.0, 2.0, 3.0])
    assert naive == pytest.approx([1.0, 2.0, 3.0])
