"""Tests of the layer of the VBKS paper under other forms of q(g) than a single Gaussian."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import softmax
from scipy.stats import norm

from vbks.weights.belief import bayes_belief
from vbks.weights.gaussian import vbks_belief

NEAR_TIE = (0.0, -0.3)


def uniform(size):
    return np.full(size, -math.log(size))


def above(rivals, *leaders):
    """Evidences of some leaders above rivals that are far behind."""
    return np.array([*leaders, *[-30.0] * rivals])


def free_by_quadrature(L, mean, covariance, points=24):
    """E[softmax(g)] and log E_p[exp(softmax(g)·L)] by a product of Gauss-Hermite rules."""
    nodes, weights = hermegauss(points)
    eta = np.array(list(product(nodes, repeat=len(L))))
    p = np.prod(list(product(weights / weights.sum(), repeat=len(L))), axis=1)
    W = softmax(mean + eta @ np.linalg.cholesky(covariance).T, axis=1)
    q = p * np.exp(W @ L)
    return q @ W / q.sum(), math.log(q.sum())


@pytest.mark.parametrize("variance", [0.5, 4.0])
@pytest.mark.parametrize("L", [(1.0, 0.0, -1.0), (0.0, -6.0, -0.2)])
def test_free_form__is_that_found_by_quadrature(L, variance):
    mean = np.log([0.5, 0.3, 0.2])
    expected, bound = free_by_quadrature(np.array(L), mean, variance * np.eye(3))
    belief = vbks_belief(L, mean, prior_variance=variance, form="free")
    np.testing.assert_allclose(belief.probabilities, expected, atol=0.005)
    assert belief.bound == pytest.approx(bound, abs=0.01)


def test_free_form__with_any_covariance_is_that_found_by_quadrature():
    L, mean = np.array([1.0, 0.0, 0.5]), np.array([0.0, 0.5, -0.5])
    covariance = np.array([[2.0, 1.2, 0.0], [1.2, 2.0, -0.3], [0.0, -0.3, 1.0]])
    expected, bound = free_by_quadrature(L, mean, covariance)
    belief = vbks_belief(L, uniform(3), prior_mean=mean, prior_covariance=covariance, form="free")
    np.testing.assert_allclose(belief.probabilities, expected, atol=0.005)
    assert belief.bound == pytest.approx(bound, abs=0.01)


@pytest.mark.parametrize("rivals", [0, 6, 60])
def test_free_form__tends_to_bayes_as_the_prior_variance_grows(rivals):
    L = above(rivals, *NEAR_TIE)
    bayes = bayes_belief(L, uniform(len(L)))
    distances = []
    for variance in (10.0, 1e3, 1e6):
        free = vbks_belief(L, uniform(len(L)), prior_variance=variance, form="free")
        distances.append(np.abs(free.probabilities - bayes.probabilities).max())
        assert free.bound <= bayes.bound + 0.02
    assert distances[-1] < 0.01
    assert distances[-1] <= distances[0]
    assert free.bound == pytest.approx(bayes.bound, abs=0.02)


@pytest.mark.parametrize("first", [0.2, 0.9])
def test_free_form__tends_to_bayes_with_a_prior_over_kernels(first):
    """p(g) has the mean under which softmax(g) is p(k) as the variance grows."""
    p, L, variance = np.array([first, 1 - first]), np.array([0.0, -1.0]), 1e6
    mean = np.array([math.sqrt(2 * variance) * norm.ppf(first), 0.0])
    free = vbks_belief(L, np.log(p), prior_mean=mean, prior_variance=variance, form="free")
    bayes = bayes_belief(L, np.log(p))
    np.testing.assert_allclose(free.probabilities, bayes.probabilities, atol=0.01)


@pytest.mark.parametrize("form", ["mixture", "free"])
def test_near_tie_above_rivals__is_shared(form):
    L = above(20, *NEAR_TIE)
    first, second, *_ = vbks_belief(L, uniform(len(L)), form=form).probabilities
    assert 1.0 < first / second < 1.6
    single = vbks_belief(L, uniform(len(L))).probabilities
    assert single[0] / single[1] > 5.0


def test_mixture__has_a_higher_bound_than_its_best_gaussian_and_a_lower_one_than_the_free_form():
    L = above(12, *NEAR_TIE, -1.0)
    gaussian, mixture, free = (
        vbks_belief(L, uniform(len(L)), form=form).bound for form in ("gaussian", "mixture", "free")
    )
    assert gaussian < mixture < free


def test_mixture__of_one_optimum_is_the_gaussian():
    single = vbks_belief([0.0, -2.0], uniform(2))
    mixture = vbks_belief([0.0, -2.0], uniform(2), form="mixture")
    np.testing.assert_allclose(mixture.probabilities, single.probabilities, atol=1e-6)
    assert mixture.bound == pytest.approx(single.bound, abs=0.02)
    np.testing.assert_allclose(mixture.correlations, single.correlations, atol=1e-6)


@pytest.mark.parametrize("form", ["gaussian", "mixture", "free"])
def test_equal_candidates__are_believed_alike(form):
    p = vbks_belief(above(5, 0.0, 0.0), uniform(7), form=form).probabilities
    assert p[0] == pytest.approx(p[1], abs=1e-12)


def test_correlations__of_a_mixture_are_negative_between_its_leaders():
    L = above(20, *NEAR_TIE)
    for form in ("mixture", "free"):
        belief = vbks_belief(L, uniform(len(L)), form=form)
        assert belief.correlations[0, 1] < -0.3
        np.testing.assert_allclose(np.diag(belief.correlations), 1.0)
