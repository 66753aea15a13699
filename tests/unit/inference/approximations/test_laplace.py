"""Tests of Laplace's approximation, on posteriors that are Gaussian."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from vbks.arrays import Array
from vbks.inference.approximations.laplace import LEAST_PRECISION, approximate, from_precision
from vbks.kernels.parameters import NormalPrior
from vbks.kernels.priors import Priors


def make_priors(num_rows: int = 1) -> Priors:
    """Normal ones for three parameters."""
    return Priors([(NormalPrior(0.0, 1.0),) * 3] * num_rows, 3)


class Quadratic:
    """A posterior that is a Gaussian density times a constant."""

    def __init__(self, mean: Array, precision: Array, priors: Priors) -> None:
        self.mean, self.precision, self.priors = mean, precision, priors

    def __call__(self, rows: Array, theta: Array) -> tuple[Array, Array]:
        steps = theta - self.mean
        turned = steps @ self.precision
        return 1.7 - 0.5 * np.sum(steps * turned, axis=1), -turned


@pytest.fixture
def precision() -> Array:
    root = np.random.default_rng(0).normal(size=(3, 3))
    return root @ root.T + np.eye(3)


def test_approximation__of_a_gaussian_is_exact(precision: Array) -> None:
    mean = np.array([0.3, -1.0, 0.5])
    found = approximate(Quadratic(mean, precision, make_priors()), mean[np.newaxis])
    covariance = np.linalg.inv(precision)
    np.testing.assert_allclose(found.factor[0] @ found.factor[0].T, covariance, rtol=1e-6)
    np.testing.assert_allclose(found.precision[0], precision, rtol=1e-6)
    expected = 1.7 - multivariate_normal(mean, covariance).logpdf(mean)
    assert found.log_evidence[0] == pytest.approx(expected, rel=1e-8)


def test_factor__is_a_lower_triangle_with_a_positive_diagonal(precision: Array) -> None:
    found = from_precision(np.zeros((1, 3)), precision[np.newaxis], np.zeros(1), make_priors())
    np.testing.assert_allclose(found.factor[0], np.tril(found.factor[0]))
    assert np.all(np.diag(found.factor[0]) > 0)


def test_precision__that_is_not_positive_is_mended(precision: Array) -> None:
    values, vectors = np.linalg.eigh(precision)
    values[0] = -5.0
    saddle = (vectors * values) @ vectors.T
    found = from_precision(np.zeros((1, 3)), saddle[np.newaxis], np.zeros(1), make_priors())
    mended = np.linalg.eigvalsh(found.precision[0])
    assert mended.min() >= LEAST_PRECISION * (1 - 1e-9)
    np.testing.assert_allclose(np.sort(mended)[1:], values[1:], rtol=1e-9)


def test_precision__that_is_not_finite_has_no_volume(precision: Array) -> None:
    broken = precision.copy()
    broken[0, 0] = np.nan
    both = np.stack([precision, broken])
    found = from_precision(np.zeros((2, 3)), both, np.zeros(2), make_priors(2))
    assert np.isfinite(found.log_volume[0]) and np.isnan(found.log_volume[1])
