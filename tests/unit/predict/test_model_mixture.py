"""Tests of averages over any GPflow models, beside the formulas of a mixture."""

import gpflow
import numpy as np
import pytest
from gpflow.models import GPR
from scipy.stats import norm

from vbks.errors import VbksError
from vbks.predict.model_mixture import ModelMixture

X = np.linspace(0, 4, 12)[:, np.newaxis]
Y = np.sin(2 * X)
XNEW = np.array([[0.3], [2.2], [5.0]])
WEIGHTS = np.array([0.2, 0.5, 0.3])


@pytest.fixture(scope="module")
def models() -> list[GPR]:
    kernels = gpflow.kernels.SquaredExponential, gpflow.kernels.Matern32, gpflow.kernels.Linear
    return [GPR((X, Y), kernel(), noise_variance=0.1) for kernel in kernels]


def test_moments__are_by_total_expectation_and_variance(models: list[GPR]) -> None:
    own = [model.predict_y(XNEW) for model in models]
    means = np.stack([mean.numpy() for mean, _ in own])
    variances = np.stack([variance.numpy() for _, variance in own])
    mean, variance = ModelMixture(models, WEIGHTS).predict_y(XNEW)
    expected = np.einsum("k,knp->np", WEIGHTS, means)
    spread = np.einsum("k,knp->np", WEIGHTS, variances + (means - expected) ** 2)
    np.testing.assert_allclose(mean, expected, rtol=1e-9)
    np.testing.assert_allclose(variance, spread, rtol=1e-9)


def test_density__is_that_of_the_mixture_not_of_one_gaussian(models: list[GPR]) -> None:
    targets = np.array([[0.5], [-1.0], [4.0]])
    own = [model.predict_y(XNEW) for model in models]
    density = sum(
        w * norm.pdf(targets, mean, np.sqrt(variance))
        for w, (mean, variance) in zip(WEIGHTS, own, strict=True)
    )
    found = ModelMixture(models, WEIGHTS).predict_log_density((XNEW, targets))
    np.testing.assert_allclose(np.ravel(found), np.ravel(np.log(density)), rtol=1e-8)


def test_one_model__is_itself(models: list[GPR]) -> None:
    mixture = ModelMixture(models, [0.0, 1.0, 0.0])
    assert mixture.averaged == (models[1],)
    for found, expected in zip(mixture.predict_f(XNEW), models[1].predict_f(XNEW), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("weights", [[0.5, 0.5], [1.0, -0.5, 0.5], [0.0, 0.0, 0.0]])
def test_weights__that_are_none_are_refused(models: list[GPR], weights: list[float]) -> None:
    with pytest.raises(VbksError, match="weights"):
        ModelMixture(models, weights)


def test_average__is_not_trained(models: list[GPR]) -> None:
    with pytest.raises(VbksError, match="an average is not trained"):
        ModelMixture(models, WEIGHTS).maximum_log_likelihood_objective()
