from __future__ import annotations

import numpy as np
import pytest
from support.fits import make_data, make_logs

from vbks.data.warped_normal import MOST_LOG_SD
from vbks.data.warps import InverseSoftplus
from vbks.predict.posteriors.limits import (
    MOST_SPREADS,
    RARE,
    Limits,
    limit_growth,
    median_of_medians,
    target_spread,
    weighted_quantile,
    without_growth,
)
from vbks.predict.posteriors.marginals import WarpedGaussians


def test_weighted_quantile__leaves_the_weight_outside() -> None:
    values = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    weights = np.array([0.005, 0.495, 0.5])
    np.testing.assert_array_equal(weighted_quantile(weights, values, 1.0 - RARE), [2.0, 3.0])
    np.testing.assert_array_equal(weighted_quantile(weights, values, RARE), [1.0, 2.0])


def test_limits__leave_ordinary_components_as_they_are() -> None:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(30))
    means, variances = rng.normal(size=(30, 9)), rng.uniform(0.5, 2.0, (30, 9))
    limits = Limits.of(weights, means, variances)
    for found, given in zip(limits.apply(means, variances), (means, variances), strict=True):
        np.testing.assert_array_equal(found, given)
    assert not limits.is_active(weights, means).any()


def test_limits__let_a_rare_component_move_the_mean_by_one_spread_at_most() -> None:
    weights = np.array([0.995, 0.005])
    means, variances = np.array([[1.0], [1e30]]), np.array([[4.0], [1e70]])
    limits = Limits.of(weights, means, variances)
    found, shrunk = limits.apply(means, variances)
    assert limits.is_active(weights, means).all()
    assert abs(weights @ found[:, 0] - 1.0) <= RARE * MOST_SPREADS * 2.0
    assert shrunk[1, 0] == (MOST_SPREADS * 2.0) ** 2


def test_limits__let_a_component_of_some_weight_decide() -> None:
    weights, means = np.array([0.98, 0.02]), np.array([[1.0], [1e30]])
    found, _ = Limits.of(weights, means, np.ones((2, 1))).apply(means, np.ones((2, 1)))
    np.testing.assert_array_equal(found, means)


def test_limits__are_none_where_most_is_infinite() -> None:
    means = np.array([[np.inf], [np.inf], [0.0]])
    found, variances = Limits.of(np.ones(3) / 3, means, means).apply(means, means)
    np.testing.assert_array_equal(found, means)
    np.testing.assert_array_equal(variances, means)


def test_shrunk_covariances__have_limited_variances_and_the_same_correlations() -> None:
    covariance = np.array([[[1.0, 60.0], [60.0, 1e4]]])
    limits = Limits(np.full(2, -9.0), np.full(2, 9.0), np.full(2, 10.0))
    np.testing.assert_allclose(limits.shrink(covariance), [[[1.0, 6.0], [6.0, 100.0]]])


# Growth after the warp "log"


def growing(far: float, variance: float = 0.1) -> list[WarpedGaussians]:
    """Nine tenths near the training targets, and a tenth that is far away after the logarithm."""
    near = WarpedGaussians(
        make_data().units, np.array([0.9]), np.zeros((1, 1)), np.full((1, 1), 0.1)
    )
    logs = WarpedGaussians(
        make_logs().units, np.array([0.1]), np.full((1, 1), far), np.full((1, 1), variance)
    )
    return [near, logs]


@pytest.mark.parametrize("variance", [0.0, 0.1, 1e6])
@pytest.mark.parametrize("far", [30.0, 1e5])
def test_growth__has_a_mean_of_at_most_e_squared_medians(far: float, variance: float) -> None:
    parts = growing(far, variance)
    near, logs = without_growth(parts)
    most = median_of_medians(parts) + target_spread(logs.units)
    mean, second = logs.restored()
    np.testing.assert_allclose(mean[0], np.exp(MOST_LOG_SD) * most, rtol=1e-12)
    np.testing.assert_array_equal(near.means, parts[0].means)
    assert np.all(np.isfinite(second))


def test_growth__keeps_the_proportion_of_sd_and_mean() -> None:
    (_, before), (_, after) = growing(20.0), without_growth(growing(20.0))
    (mean, variance), (limited, shrunk) = before.restored(), after.restored()
    assert limited < mean
    np.testing.assert_allclose(shrunk / limited**2, variance / mean**2, rtol=1e-12)


def test_growth__is_limited_without_a_jump() -> None:
    far = np.linspace(0.0, 20.0, 2001)
    units = make_logs().units
    found = limit_growth(units, np.full(2001, 3.0), far, np.full(2001, 0.1))
    assert np.all(np.diff(found) >= 0.0)
    assert np.max(np.diff(found)) < 0.0101


def test_growth__that_all_components_agree_on_is_left_as_it_is() -> None:
    rng = np.random.default_rng(0)
    means, weights = 30.0 + 0.5 * rng.normal(size=(40, 5)), rng.dirichlet(np.ones(40))
    part = WarpedGaussians(make_logs().units, weights, means, np.ones((40, 5)))
    np.testing.assert_array_equal(without_growth([part])[0].means, means)


def test_growth__after_other_warps_is_left_as_it_is() -> None:
    data = make_data()
    for units in (data.units, data.warped(InverseSoftplus(3.0)).units):
        means = np.array([[1e6]])
        found = limit_growth(units, np.ones(1), means, np.ones((1, 1)))
        np.testing.assert_array_equal(found, means)


def test_target_spread__is_two_standard_deviations() -> None:
    data, logs = make_data(), make_logs()
    np.testing.assert_allclose(target_spread(data.units), 2.0 * data.units.y_scale, rtol=1e-12)
    low, high = np.exp(logs.units.y_mean + logs.units.y_scale * np.array([-1.0, 1.0]))
    np.testing.assert_allclose(target_spread(logs.units), high - low, rtol=1e-12)
