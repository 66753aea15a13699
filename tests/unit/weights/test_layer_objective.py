"""Tests of the bound of the VBKS layer."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import softmax
from support.gaussians import gaussian_kl

from vbks.weights.layer_objective import Objective
from vbks.weights.policy import LayerPolicy

COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.5]])


@pytest.mark.parametrize("root", ["diagonal", "full"])
@pytest.mark.parametrize("size", [3, LayerPolicy().coupled + 4])
def test_gradient__agrees_with_finite_differences(size, root):
    rng = np.random.default_rng(1)
    factor = np.eye(size) + np.tril(0.2 * rng.normal(size=(size, size)))
    prior_root = factor if root == "full" else np.abs(np.diag(factor))
    gains, mean = rng.normal(scale=2.0, size=(2, size))
    objective = Objective(gains, mean, prior_root)
    eta = rng.normal(size=(30, size))
    x = 0.3 * rng.normal(size=len(objective.start))
    _, gradient = objective(x, eta)
    directions = rng.normal(size=(20, len(x)))
    slopes = [
        (objective(x + 1e-5 * d, eta)[0] - objective(x - 1e-5 * d, eta)[0]) / 2e-5
        for d in directions
    ]
    np.testing.assert_allclose(directions @ gradient, slopes, rtol=1e-6, atol=1e-6)
    if size == 3:
        entries = approx_fprime(x, lambda x: objective(x, eta)[0], 1e-7)
        np.testing.assert_allclose(gradient, entries, atol=1e-5)


def test_objective__is_the_expectation_less_the_divergence():
    rng = np.random.default_rng(2)
    gains, mean = rng.normal(size=(2, 3))
    objective = Objective(gains, mean, np.linalg.cholesky(COVARIANCE))
    x = 0.3 * rng.normal(size=len(objective.start))
    eta = rng.normal(size=(50, 3))
    m, C = objective.gaussian(x)
    expected = np.mean([softmax(m + C @ each) @ gains for each in eta])
    expected -= gaussian_kl(m, C @ C.T, mean, COVARIANCE)
    assert objective(x, eta)[0] == pytest.approx(expected, abs=1e-10)
    np.testing.assert_array_equal(C, np.tril(C))


def test_start__is_the_prior():
    objective = Objective(np.zeros(3), np.arange(3.0), np.linalg.cholesky(COVARIANCE))
    m, C = objective.gaussian(objective.start)
    np.testing.assert_allclose(m, np.arange(3.0), atol=1e-12)
    np.testing.assert_allclose(C @ C.T, COVARIANCE, atol=1e-12)
    assert objective.kl(objective.start) == pytest.approx(0.0, abs=1e-12)
