"""Tests of likelihoods in standardised units, beside the same in the user's."""

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.likelihoods import Gaussian, ScalarLikelihood, StudentT

from vbks.data.units import Units
from vbks.predict.models.standardised_likelihood import StandardisedLikelihood

MEAN, SCALE = 40.0, 3.0
UNITS = Units(np.zeros(1), np.ones(1), MEAN, SCALE)
X = np.zeros((3, 0))
F, V, Z = (np.array([[0.3], [-1.0], [2.0]]), np.array([[0.1], [0.5], [1.0]]), np.ones((3, 1)))


@pytest.fixture(params=[Gaussian(2.0), StudentT(2.0, df=5.0)], ids=["gaussian", "student_t"])
def likelihood(request: pytest.FixtureRequest) -> ScalarLikelihood:
    return request.param


def test_densities__are_those_of_the_user_times_the_scale(likelihood: ScalarLikelihood) -> None:
    own, raw = StandardisedLikelihood(likelihood, UNITS), MEAN + SCALE * F
    y, variance = MEAN + SCALE * Z, SCALE**2 * V
    for found, expected in [
        (own.log_prob(X, F, Z), likelihood.log_prob(X, raw, y)),
        (
            own.predict_log_density(X, F, V, Z),
            likelihood.predict_log_density(X, raw, variance, y),
        ),
        (
            own.variational_expectations(X, F, V, Z),
            likelihood.variational_expectations(X, raw, variance, y),
        ),
    ]:
        np.testing.assert_allclose(found, expected + np.log(SCALE), rtol=1e-10)


def test_moments__are_those_of_the_user_standardised(likelihood: ScalarLikelihood) -> None:
    own = StandardisedLikelihood(likelihood, UNITS)
    mean, variance = own.predict_mean_and_var(X, F, V)
    expected = likelihood.predict_mean_and_var(X, MEAN + SCALE * F, SCALE**2 * V)
    np.testing.assert_allclose(MEAN + SCALE * mean, expected[0], rtol=1e-10)
    np.testing.assert_allclose(SCALE**2 * variance, expected[1], rtol=1e-10)


def test_gaussian__is_one_of_a_smaller_variance() -> None:
    own, plain = StandardisedLikelihood(Gaussian(2.0), UNITS), Gaussian(2.0 / SCALE**2)
    at = tf.constant(F, gpflow.default_float())
    np.testing.assert_allclose(own.log_prob(X, at, Z), plain.log_prob(X, at, Z), rtol=1e-10)
