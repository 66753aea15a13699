from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

from vbks.errors import VbksError
from vbks.predict.models.theta_posterior import INITIAL_SD, ThetaPosterior

START = np.array([0.3, -1.0, 0.7])
PRIOR_MEAN = np.array([0.0, -0.5, 2.0])
PRIOR_SD = np.array([0.5, 1.0, 2.0])
FACTOR = np.array([[0.3, 0.0, 0.0], [0.1, -0.5, 0.0], [0.2, 0.4, 0.9]])


def make(covariance: str) -> ThetaPosterior:
    return ThetaPosterior(START, covariance, PRIOR_MEAN, PRIOR_SD)


def make_full() -> ThetaPosterior:
    posterior = make("full")
    posterior.sqrt.assign(FACTOR)
    return posterior


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_posterior__starts_close_around_the_given_values(covariance: str) -> None:
    posterior = make(covariance)
    np.testing.assert_array_equal(posterior.mean, START)
    np.testing.assert_allclose(posterior.factor, INITIAL_SD * np.eye(3), rtol=1e-12)


def test_covariance__is_that_of_the_factor() -> None:
    np.testing.assert_allclose(make_full().covariance, FACTOR @ FACTOR.T, rtol=1e-12)


def test_at__is_the_affine_map_of_eta() -> None:
    eta = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(make_full().at(eta), FACTOR @ eta + START, rtol=1e-12)


def test_at__of_a_point_is_the_mean() -> None:
    np.testing.assert_array_equal(make("point").at(np.ones(3)), START)


def test_kl__is_that_of_two_gaussians() -> None:
    prior = tfp.distributions.MultivariateNormalDiag(PRIOR_MEAN, PRIOR_SD)
    # TFP wants a factor with a positive diagonal; a change of a column's sign leaves CCᵀ alone.
    factor = FACTOR * np.sign(np.diag(FACTOR))
    full = tfp.distributions.MultivariateNormalTriL(START, factor)
    np.testing.assert_allclose(make_full().kl(), full.kl_divergence(prior), rtol=1e-12)
    diagonal = tfp.distributions.MultivariateNormalDiag(START, np.full(3, INITIAL_SD))
    np.testing.assert_allclose(make("diagonal").kl(), diagonal.kl_divergence(prior), rtol=1e-12)


def test_kl__of_a_point_is_left_out_and_its_mean_has_the_prior() -> None:
    point = make("point")
    density = tfp.distributions.MultivariateNormalDiag(PRIOR_MEAN, PRIOR_SD).log_prob(START)
    assert point.kl() == 0.0
    np.testing.assert_allclose(point.mean.log_prior_density(), density, rtol=1e-12)


@pytest.mark.parametrize(
    ("covariance", "count"), [("full", 3 + 6), ("diagonal", 3 + 3), ("point", 3)]
)
def test_posterior__trains_its_mean_and_factor(covariance: str, count: int) -> None:
    variables = make(covariance).trainable_variables
    assert sum(int(tf.size(variable)) for variable in variables) == count


def test_posterior__names_an_unknown_covariance() -> None:
    with pytest.raises(VbksError, match=r"unknown covariance 'banded'\. Known: diagonal, full"):
        make("banded")


def test_posterior__takes_one_prior_for_all_or_one_for_each() -> None:
    posterior = ThetaPosterior(START, "full", 0.0, 2.0)
    np.testing.assert_array_equal(posterior.prior_mean, np.zeros(3))
    np.testing.assert_array_equal(posterior.prior_sd, np.full(3, 2.0))
    with pytest.raises(
        VbksError, match=r"prior_mean must be one number, or 3 .*, got shape \(2,\)"
    ):
        ThetaPosterior(START, "full", np.zeros(2), 1.0)
    with pytest.raises(VbksError, match="prior_sd must be positive"):
        ThetaPosterior(START, "full", 0.0, 0.0)
