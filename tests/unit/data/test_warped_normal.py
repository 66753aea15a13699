import numpy as np
import pytest

from vbks.data.warped_normal import NODES, _hermite_table, restored_covariance, restored_moments
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit

WARPS = (Identity(), Log(), InverseSoftplus(2.5), Logit(-1.0, 3.0))
OVER_WARPS = pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.name)
BY_QUADRATURE = pytest.mark.parametrize("warp", WARPS[2:], ids=lambda warp: warp.name)


def moments_on_a_grid(warp, mean, sd):
    def expect(function):
        """By the trapezoidal rule, which finds integrals over the whole line to all digits."""
        t = np.linspace(-13, 13, 20_001)
        return np.sum(function(t) * np.exp(-0.5 * t**2)) * (t[1] - t[0]) / np.sqrt(2 * np.pi)

    centre = expect(lambda t: warp.inverse(mean + sd * t))
    return centre, expect(lambda t: (warp.inverse(mean + sd * t) - centre) ** 2)


def make_normal(num, sds, seed=0):
    root = np.random.default_rng(seed).normal(size=(num, num))
    covariance = root @ root.T
    scale = sds / np.sqrt(np.diag(covariance))
    return np.linspace(-1.5, 2.0, num), covariance * scale[:, None] * scale


def covariance_on_a_grid(warp, mean, covariance, num=120):
    """Two variables, by Gauss-Hermite quadrature over the plane."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(num // 2)
    weights = weights / weights.sum()
    root = np.linalg.cholesky(covariance)
    first, second = np.meshgrid(nodes, nodes, indexing="ij")
    y1 = warp.inverse(mean[0] + root[0, 0] * first)
    y2 = warp.inverse(mean[1] + root[1, 0] * first + root[1, 1] * second)
    weight = weights[:, None] * weights
    return np.sum(weight * y1 * y2) - np.sum(weight * y1) * np.sum(weight * y2)


@OVER_WARPS
def test_moments__are_those_of_a_fine_grid(warp):
    means, sds = np.meshgrid([-6.0, 0.0, 0.3, 5.0], [1e-4, 0.3, 1.0, 2.0])
    found = restored_moments(warp, means, sds**2)
    expected = np.vectorize(lambda m, s: moments_on_a_grid(warp, m, s))(means, sds)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == (4, 4)
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-14)


@BY_QUADRATURE
@pytest.mark.parametrize(("sd", "tolerance"), [(5.0, 1e-4), (15.0, 0.05)])
def test_moments__are_about_right_for_wide_normals(warp, sd, tolerance):
    """Undone warps are all but corners then, between which the nodes are few."""
    found = restored_moments(warp, np.array(0.4), np.array(sd**2))
    np.testing.assert_allclose(found, moments_on_a_grid(warp, 0.4, sd), rtol=tolerance)


@OVER_WARPS
def test_moments__without_variance_are_the_point(warp):
    mean = np.array([-3.0, 0.0, 4.0])
    for none in (np.zeros(3), np.array(0.0), np.full(3, -1e-15)):
        found, variance = restored_moments(warp, mean, none)
        np.testing.assert_allclose(found, warp.inverse(mean), rtol=1e-12)
        np.testing.assert_array_equal(variance, 0)


def test_lognormal_moments__overflow_without_nan():
    mean, variance = np.array([900.0, 800.0, -3000.0, -800.0]), np.array([2000.0, 0.0, 2000.0, 1.0])
    found = restored_moments(Log(), mean, variance)
    np.testing.assert_array_equal(found[0], [np.inf, np.inf, 0, 0])
    np.testing.assert_array_equal(found[1], [np.inf, 0, 0, 0])
    np.testing.assert_array_equal(
        restored_covariance(Log(), np.array([900.0, 0.0]), np.diag([2000.0, 1.0])),
        [[np.inf, 0], [0, np.exp(1) * np.expm1(1)]],
    )


def test_lognormal_moments__keep_the_digits_of_small_variances():
    _, variance = restored_moments(Log(), np.array(0.0), np.array(1e-14))
    np.testing.assert_allclose(variance, 1e-14, rtol=1e-12)


def test_hermite_table__is_orthogonal():
    table = _hermite_table()
    np.testing.assert_allclose(table @ table.T, np.eye(NODES), atol=1e-11)


@OVER_WARPS
@pytest.mark.parametrize("correlation", [-0.95, 0.0, 0.6])
def test_covariance__is_that_of_a_quadrature_over_the_plane(warp, correlation):
    mean, sd = np.array([0.5, -0.7]), np.array([0.4, 1.1])
    covariance = np.outer(sd, sd) * [[1, correlation], [correlation, 1]]
    found = restored_covariance(warp, mean, covariance)
    np.testing.assert_allclose(
        found[0, 1], covariance_on_a_grid(warp, mean, covariance), rtol=1e-6, atol=1e-9
    )
    assert found[0, 1] == found[1, 0]


@OVER_WARPS
def test_covariance__is_that_of_samples(warp):
    mean, covariance = make_normal(3, np.array([0.5, 0.3, 0.6]))
    draws = np.random.default_rng(1).multivariate_normal(mean, covariance, size=200_000)
    y = warp.inverse(draws)
    gaps = y - y.mean(axis=0)
    products = gaps[:, :, None] * gaps[:, None, :]
    error = products.std(axis=0) / np.sqrt(len(y))
    found = restored_covariance(warp, mean, covariance)
    assert (np.abs(found - products.mean(axis=0)) < 4 * error).all()


@OVER_WARPS
def test_covariance__has_the_variances_of_the_moments(warp):
    mean, covariance = make_normal(6, np.array([0.01, 0.3, 1.0, 2.0, 0.5, 3.0]))
    _, variance = restored_moments(warp, mean, np.diag(covariance))
    found = restored_covariance(warp, mean, covariance)
    np.testing.assert_allclose(np.diag(found), variance, rtol=1e-9)


@OVER_WARPS
def test_covariance__is_positive_semi_definite(warp):
    mean, covariance = make_normal(8, np.full(8, 0.9))
    rank_one = np.outer(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8))
    for given in (covariance, rank_one, covariance * 1e-8, rank_one * 9):
        values = np.linalg.eigvalsh(restored_covariance(warp, mean, given))
        assert values[0] > -1e-10 * values[-1]


@OVER_WARPS
def test_covariance__of_many_at_once_is_that_of_each(warp):
    cases = [make_normal(4, np.full(4, 0.7), seed) for seed in range(6)]
    means = np.stack([mean for mean, _ in cases]).reshape(2, 3, 4)
    covariances = np.stack([covariance for _, covariance in cases]).reshape(2, 3, 4, 4)
    found = restored_covariance(warp, means, covariances)
    np.testing.assert_allclose(
        found[1, 2], restored_covariance(warp, means[1, 2], covariances[1, 2]), rtol=1e-10
    )


@OVER_WARPS
def test_covariance__with_what_is_certain_is_zero(warp):
    found = restored_covariance(warp, np.array([1.0, 2.0]), np.diag([0.0, 0.5]))
    assert (found[0, 0], found[0, 1], found[1, 0]) == (0, 0, 0)
    assert found[1, 1] > 0


def test_lognormal_moments__are_those_of_a_limited_standard_deviation() -> None:
    wide, limit = (restored_moments(Log(), np.array([1.0]), np.array([v])) for v in (50.0, 4.0))
    np.testing.assert_array_equal(wide, limit)
    mean, covariance = np.array([1.0, 0.5]), np.array([[50.0, 3.0], [3.0, 1.0]])
    found = restored_covariance(Log(), mean, covariance)
    expected = restored_moments(Log(), mean, np.diagonal(covariance))[1]
    np.testing.assert_allclose(np.diagonal(found), expected, rtol=1e-12)
