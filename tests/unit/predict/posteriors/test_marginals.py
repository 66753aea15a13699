from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm
from support.fits import make_data, make_logs

from vbks.arrays import Array
from vbks.predict.posteriors.marginals import (
    WarpedGaussians,
    mixture_log_density,
    mixture_moments,
    mixture_quantiles,
)

LEVELS = np.array([0.01, 0.05, 0.5, 0.9, 0.999])


def make_part(units: object, weights: list[float], scale: float = 1.0) -> WarpedGaussians:
    rng = np.random.default_rng(len(weights))
    shape = (len(weights), 3)
    return WarpedGaussians(
        units, np.array(weights), scale * rng.normal(size=shape), rng.uniform(0.1, 0.5, shape)
    )


@pytest.fixture
def parts() -> list[WarpedGaussians]:
    """A mixture of five components under two warps, of which one does not take numbers below 0."""
    return [
        make_part(make_data().units, [0.3, 0.3]),
        make_part(make_logs().units, [0.1, 0.2, 0.1]),
    ]


def below(parts: list[WarpedGaussians], y: Array) -> Array:
    """Probabilities of targets below y [N], one component after the other."""
    total = np.zeros(3)
    for part in parts:
        for w, mean, variance in zip(part.weights, part.means, part.variances, strict=True):
            z = part.units.standardise_targets(y)
            total += w * norm.cdf(z, mean, np.sqrt(variance))
    return total


def test_moments__are_those_of_the_mixture() -> None:
    weights, means, variances = np.array([0.2, 0.8]), np.array([[1.0], [3.0]]), np.ones((2, 1))
    mean, variance = mixture_moments(weights, means, variances)
    np.testing.assert_allclose(mean, 2.6, rtol=1e-14)
    np.testing.assert_allclose(variance, 1.0 + 0.2 * 1.6**2 + 0.8 * 0.4**2, rtol=1e-14)


def test_moments__of_a_component_without_them_are_infinite() -> None:
    mean, variance = mixture_moments(
        np.array([0.5, 0.5]), np.array([[np.inf], [3.0]]), np.array([[np.inf], [1.0]])
    )
    assert mean == variance == np.inf


def test_density__is_the_slope_of_the_probabilities(parts: list[WarpedGaussians]) -> None:
    y, step = np.array([1.5, 3.0, 4.0]), 1e-5
    slope = (below(parts, y + step) - below(parts, y - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(mixture_log_density(parts, y)), slope, rtol=1e-7)


def test_cumulative__is_the_sum_over_components(parts: list[WarpedGaussians]) -> None:
    y = np.array([[1.5, 3.0, 4.0], [-1.0, 0.0, 2.0]])
    found = [part.cumulative(y) for part in parts]
    total, density = (np.sum(values, axis=0) for values in zip(*found, strict=True))
    np.testing.assert_allclose(total, [below(parts, row) for row in y], rtol=1e-12)
    expected = [np.exp(mixture_log_density(parts, row)) for row in y]
    np.testing.assert_allclose(density, expected, rtol=1e-12)


def test_density__integrates_to_one_and_needs_no_target_below_zero(
    parts: list[WarpedGaussians],
) -> None:
    grid = np.linspace(-10.0, 60.0, 40_001)
    for chosen in (parts, parts[1:]):
        share = sum(part.weights.sum() for part in chosen)
        for n in range(3):
            here = [
                replace(part, means=part.means[:, [n]], variances=part.variances[:, [n]])
                for part in chosen
            ]
            values = mixture_log_density(here, grid)
            assert trapezoid(np.exp(values), grid) == pytest.approx(share, abs=1e-5)
    assert np.all(values[grid <= 0.0] == -np.inf)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_quantiles__have_the_levels_asked_for(scale: float) -> None:
    """Components on top of each other, side by side, and with nothing between them."""
    parts = [make_part(make_data().units, [0.25, 0.35, 0.4], scale)]
    quantiles = mixture_quantiles(parts, LEVELS)
    assert quantiles.shape == (3, 5)
    levels = np.array([below(parts, column) for column in quantiles.T])
    np.testing.assert_allclose(levels, np.tile(LEVELS[:, None], 3), rtol=1e-9)
    assert np.all(np.diff(quantiles, axis=1) > 0.0)


def test_quantiles__are_right_where_warps_are_mixed(parts: list[WarpedGaussians]) -> None:
    quantiles = mixture_quantiles(parts, LEVELS)
    levels = np.array([below(parts, column) for column in quantiles.T])
    np.testing.assert_allclose(levels, np.tile(LEVELS[:, None], 3), rtol=1e-9)
    assert np.all(np.diff(quantiles, axis=1) > 0.0)
    assert np.any(quantiles < 0.0)


def test_quantiles__of_one_component_are_those_of_the_warped_target() -> None:
    part = make_part(make_logs().units, [1.0])
    z = norm.ppf(LEVELS, part.means[0][:, None], np.sqrt(part.variances[0])[:, None])
    np.testing.assert_allclose(
        mixture_quantiles([part], LEVELS), part.units.restore_targets(z), rtol=1e-14
    )


def test_quantiles__of_a_function_that_is_known_are_its_value() -> None:
    units = make_data().units
    part = WarpedGaussians(units, np.ones(1), np.full((1, 2), 0.7), np.zeros((1, 2)))
    np.testing.assert_allclose(mixture_quantiles([part], LEVELS), units.restore_targets(0.7))


def test_restored__has_the_moments_of_samples() -> None:
    part = make_part(make_logs().units, [1.0])
    rng = np.random.default_rng(0)
    z = part.means[0] + np.sqrt(part.variances[0]) * rng.normal(size=(200_000, 3))
    y = part.units.restore_targets(z)
    mean, variance = part.restored()
    np.testing.assert_allclose(y.mean(axis=0), mean[0], rtol=0.01)
    np.testing.assert_allclose(y.var(axis=0), variance[0], rtol=0.05)
