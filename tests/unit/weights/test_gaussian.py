import math
from itertools import product

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import multivariate_normal
from support.gaussians import gaussian_kl

from vbks.errors import DataError, SettingsError
from vbks.weights.belief import bayes_belief
from vbks.weights.gaussian import vbks_belief

RNG = np.random.default_rng(0)
COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.5]])


def uniform(size):
    return np.full(size, -math.log(size))


def normal_grid(size, points=16):
    """Nodes [S, K] and weights [S] of a product of Gauss-Hermite rules."""
    nodes, weights = hermegauss(points)
    weights = weights / weights.sum()
    return (
        np.array(list(product(nodes, repeat=size))),
        np.array([math.prod(w) for w in product(weights, repeat=size)]),
    )


def optimum_by_quadrature(L, prior_mean, prior_covariance):
    """Probabilities and bound at the best Gaussian, by quadrature and numerical slopes alone."""
    K = len(L)
    nodes, weights = normal_grid(K)
    lower = np.tril_indices(K)

    def unpack(x):
        C = np.zeros((K, K))
        C[lower] = x[K:]
        return x[:K], C

    def probabilities(x):
        m, C = unpack(x)
        return weights @ softmax(m + nodes @ C.T, axis=1)

    def loss(x):
        m, C = unpack(x)
        if abs(np.linalg.det(C)) < 1e-12:
            return math.inf
        return gaussian_kl(m, C @ C.T, prior_mean, prior_covariance) - probabilities(x) @ L

    start = np.concatenate([prior_mean, np.linalg.cholesky(prior_covariance)[lower]])
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-4})
    return probabilities(found.x), -found.fun


@pytest.mark.parametrize("variance", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("L", [(1.0, 0.0, -1.0), (0.0, 3.0, 2.5), (-0.2, -8.0, 0.0)])
def test_three_kernels__have_the_optimum_found_by_quadrature(L, variance):
    p = np.log([0.5, 0.3, 0.2])
    expected, bound = optimum_by_quadrature(np.array(L), p, variance * np.eye(3))
    belief = vbks_belief(L, p, prior_variance=variance)
    np.testing.assert_allclose(belief.probabilities, expected, atol=0.01)
    assert belief.bound == pytest.approx(bound, abs=0.02)


def test_any_gaussian_prior__gives_the_optimum_found_by_quadrature():
    L, mean = np.array([2.0, 0.0, 1.0]), np.array([0.0, 1.0, -1.0])
    expected, bound = optimum_by_quadrature(L, mean, COVARIANCE)
    belief = vbks_belief(L, uniform(3), prior_mean=mean, prior_covariance=COVARIANCE)
    np.testing.assert_allclose(belief.probabilities, expected, atol=0.01)
    assert belief.bound == pytest.approx(bound, abs=0.02)
    np.testing.assert_array_equal(belief.prior_covariance, COVARIANCE)
    np.testing.assert_array_equal(belief.prior_mean, mean)


def test_covariance_given__equals_the_same_variance_given():
    L = [2.0, 0.0, 1.0]
    by_variance = vbks_belief(L, uniform(3), prior_variance=3.0)
    by_matrix = vbks_belief(L, uniform(3), prior_covariance=3.0 * np.eye(3))
    np.testing.assert_allclose(by_matrix.probabilities, by_variance.probabilities, atol=1e-4)
    np.testing.assert_allclose(by_variance.prior_covariance, 3.0 * np.eye(3), atol=1e-12)


@pytest.mark.parametrize(("variance", "expected"), [(0.5, 0.584), (10.0, 0.775), (1e5, 0.833)])
def test_two_kernels_two_nats_apart__have_known_probabilities(variance, expected):
    belief = vbks_belief([2.0, 0.0], uniform(2), prior_variance=variance)
    assert belief.probabilities[0] == pytest.approx(expected, abs=0.01)
    assert belief.probabilities.sum() == pytest.approx(1.0, abs=1e-12)


def test_narrow_prior__holds_the_belief():
    p = np.array([0.6, 0.3, 0.1])
    distances = [
        np.abs(vbks_belief([0.0, 4.0, 1.0], np.log(p), prior_variance=v).probabilities - p).max()
        for v in (1.0, 0.1, 0.01, 1e-4)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-3


@pytest.mark.parametrize("variance", [0.5, 10.0])
def test_larger_evidence__never_lowers_the_probability(variance):
    others = np.array([1.0, -0.5, 0.3])
    probabilities = [
        vbks_belief([value, *others], uniform(4), prior_variance=variance).probabilities[0]
        for value in np.linspace(-6.0, 6.0, 25)
    ]
    assert np.diff(probabilities).min() > -0.001
    assert probabilities[-1] > probabilities[0] + 0.2


@pytest.mark.slow
def test_bound__is_never_above_that_of_bayes():
    rng = np.random.default_rng(5)
    for _ in range(1000):
        K = rng.integers(3, 6)
        L = rng.normal(scale=rng.choice([0.5, 2.0, 8.0]), size=K)
        belief = vbks_belief(L, uniform(K), prior_variance=rng.choice([0.5, 3.0, 10.0]))
        assert belief.bound < bayes_belief(L, uniform(K)).bound + 0.01


def test_temperature__divides_evidences():
    L = np.array([-20.0, -30.0, -26.0])
    warm, divided = vbks_belief(L, uniform(3), temperature=4.0), vbks_belief(L / 4, uniform(3))
    np.testing.assert_allclose(warm.probabilities, divided.probabilities, atol=1e-6)
    assert warm.bound == pytest.approx(divided.bound, abs=1e-6)


def test_gaussian__gives_the_probabilities_back():
    L = np.array([0.0, -math.inf, 1.0, 2.5])
    belief = vbks_belief(L, uniform(4))
    assert belief.mean[1] == 0.0
    np.testing.assert_array_equal(belief.factor[1], 0.0)
    np.testing.assert_array_equal(belief.factor[:, 1], 0.0)
    np.testing.assert_array_equal(belief.factor, np.tril(belief.factor))
    kept = [0, 2, 3]
    covariance = (belief.factor @ belief.factor.T)[np.ix_(kept, kept)]
    g = multivariate_normal(belief.mean[kept], covariance).rvs(100_000, random_state=0)
    expected = softmax(g, axis=1).mean(axis=0)
    np.testing.assert_allclose(belief.probabilities[kept], expected, atol=0.01)
    correlations = belief.correlations[np.ix_(kept, kept)]
    np.testing.assert_allclose(np.diag(correlations), 1.0, atol=1e-12)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(correlations, covariance / np.outer(sd, sd), atol=1e-12)


def test_seed__changes_the_belief_by_no_more_than_the_samples_error():
    L = RNG.normal(scale=2.0, size=6)
    one, other = (vbks_belief(L, uniform(6), seed=seed).probabilities for seed in (0, 1))
    np.testing.assert_allclose(one, other, atol=0.01)


@pytest.mark.parametrize("variance", [0.5, 10.0])
def test_stochastic_ascent__agrees_with_quasi_newton(variance):
    L, p = [0.0, 2.0, 1.0, -3.0], np.log([0.4, 0.3, 0.2, 0.1])
    plain, quick = (
        vbks_belief(L, p, prior_variance=variance, ascent=ascent)
        for ascent in ("stochastic", "quasi-newton")
    )
    np.testing.assert_allclose(plain.probabilities, quick.probabilities, atol=0.02)
    assert plain.bound == pytest.approx(quick.bound, abs=0.02)


@pytest.mark.parametrize("size", [144, 432])
def test_gaps_of_hundreds_of_nats__leave_the_best(size):
    rng = np.random.default_rng(size)
    L = np.concatenate([[-1000.0, -1005.0], -1050.0 - rng.gamma(2.0, 150.0, size=size - 2)])
    belief = vbks_belief(L, uniform(size))
    assert belief.probabilities.sum() == pytest.approx(1.0, abs=1e-9)
    assert belief.probabilities[0] > 0.95
    assert belief.probabilities[1:].max() < 0.01
    assert belief.bound < bayes_belief(L, uniform(size)).bound


def test_strongest__is_not_hidden_by_many_weak_ones():
    L, p = np.concatenate([[0.0], np.full(149, -300.0)]), uniform(150)
    at_the_prior = np.mean(L)
    belief = vbks_belief(L, p, prior_variance=0.5)
    assert belief.bound > at_the_prior + 100
    assert belief.probabilities[0] > 0.9


@pytest.mark.parametrize("gap", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("variance", [0.5, 10.0])
def test_stronger_of_two_above_many_weak_ones__is_the_likelier(gap, variance):
    L = np.concatenate([[-gap, 0.0], np.full(40, -300.0)])
    probabilities = vbks_belief(L, uniform(42), prior_variance=variance).probabilities
    assert probabilities[1] > probabilities[0] > 0
    equal = vbks_belief(L * (L < -1.5), uniform(42), prior_variance=variance).probabilities
    assert equal[0] == pytest.approx(equal[1], abs=1e-9)


def test_prior_variance__must_be_positive():
    with pytest.raises(SettingsError, match=r"prior_variance is 0\.0, expected a number above 0"):
        vbks_belief([0.0, 1.0], uniform(2), prior_variance=0.0)


def test_unknown_ascent__is_refused():
    with pytest.raises(SettingsError, match="ascent is 'newton', expected one of quasi-newton"):
        vbks_belief([0.0, 1.0], uniform(2), ascent="newton")


@pytest.mark.parametrize("mean", [[0.0], [0.0, math.nan]])
def test_prior_mean__must_be_a_number_for_each(mean):
    with pytest.raises(DataError, match=r"prior_mean .* a finite number for each of the 2 cand"):
        vbks_belief([0.0, 1.0], uniform(2), prior_mean=mean)


def test_prior_covariance__must_be_a_square_of_the_candidates():
    with pytest.raises(
        DataError, match=r"prior_covariance has shape \(3, 3\), expected .* \(2, 2\)"
    ):
        vbks_belief([0.0, 1.0], uniform(2), prior_covariance=COVARIANCE)


@pytest.mark.parametrize("off", [(2.0, 2.0), (0.5, 0.0), (math.nan, math.nan)])
def test_prior_covariance__must_be_positive_definite(off):
    covariance = [[1.0, off[0]], [off[1], 1.0]]
    with pytest.raises(DataError, match="must be symmetric and positive definite"):
        vbks_belief([0.0, 1.0], uniform(2), prior_covariance=covariance)
