import numpy as np

from vbks.models.limits import MOST_SPREADS, RARE, Limits, weighted_quantile


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
