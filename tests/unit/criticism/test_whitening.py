"""Whitened residuals beside a naive twin, and replicates that are treated as if fitted."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import kstest
from support.residuals import make_residuals, make_sequence
from support.selections import make_fit

from vbks.criticism.whitening import as_if_fitted, standardised, whiten
from vbks.data.training import prepare

N = 24
X = np.arange(float(N))


def covariance(theta, x):
    """SE and noise, for θ = log of noise, variance and lengthscale."""
    noise, variance, lengthscale = np.exp(theta)
    squares = np.subtract.outer(x, x) ** 2
    return variance * np.exp(-0.5 * squares / lengthscale**2) + noise * np.eye(len(x))


def test_residuals__are_errors_one_row_ahead_of_a_naive_twin():
    y = np.sin(X / 3) + 0.3 * np.random.default_rng(0).normal(size=N)
    data, fit = prepare((X, y)), make_fit("SE", N)
    residuals = whiten(fit, 0, data, make_sequence(X, y), 5, np.random.default_rng(0))
    x, targets = data.arrays()
    C = covariance(fit.theta, x[:, 0])
    for n in (0, 1, 7, 23):
        before = np.arange(n)
        gain = np.linalg.solve(C[:n, :n], C[:n, n])
        mean, variance = gain @ targets[before], C[n, n] - gain @ C[:n, n]
        assert residuals.z[0, n] == pytest.approx((targets[n] - mean) / np.sqrt(variance))
        assert residuals.predicted[0, n] == pytest.approx(mean, abs=1e-10)
        assert residuals.spreads[n] == pytest.approx(np.sqrt(variance))


def test_left_out__is_the_error_of_a_row_given_all_others():
    rng = np.random.default_rng(0)
    C = covariance(np.array([-1.0, 0.0, 1.0]), X)
    y = rng.standard_normal(N)
    residuals = make_residuals(X, y, C, num=2)
    others = np.delete(np.arange(N), 5)
    gain = np.linalg.solve(C[np.ix_(others, others)], C[others, 5])
    sd = np.sqrt(C[5, 5] - gain @ C[others, 5])
    assert residuals.left_out[0, 5] == pytest.approx((y[5] - gain @ y[others]) / sd)


def test_known_parameters__leave_residuals_independent_and_normal():
    y = np.random.default_rng(0).standard_normal(N)
    fit = make_fit("SE", N)
    held = replace(fit, fixed=tuple(range(len(fit.theta))))
    data = prepare((X, y), standardise_targets=False)
    residuals = whiten(held, 0, data, make_sequence(X, y), 400, np.random.default_rng(1))
    assert kstest(residuals.z[1:].ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(residuals.z @ residuals.root.T, residuals.targets, atol=1e-10)


def test_scale__is_fitted_to_each_replicate():
    z = 2.0 * np.random.default_rng(0).standard_normal((6, 40))
    found = as_if_fitted(z, np.eye(40)[np.newaxis], np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(np.mean(found**2, axis=1), 1.0, atol=0.03)
    np.testing.assert_allclose(found / z, (found / z)[:, :1] * np.ones(40))


def test_replicates__are_as_if_each_had_been_fitted_again():
    """Beside an optimiser that refits all of θ to each of them."""
    theta, x = np.array([-2.0, 0.0, np.log(4.0)]), X
    C = covariance(theta, x)
    L = np.linalg.cholesky(C)
    inverse = np.linalg.inv(L)
    h = 1e-5
    slopes = np.stack(
        [
            inverse @ (covariance(theta + e, x) - covariance(theta - e, x)) @ inverse.T / (2 * h)
            for e in h * np.eye(3)
        ]
    )
    precision = np.ones(3)
    drawn = np.random.default_rng(0).standard_normal((25, N))
    found = as_if_fitted(drawn, slopes, np.zeros(3), precision)

    def refitted(z):
        y = L @ z

        def loss(own):
            K = covariance(own, x)
            fit = y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1]
            return 0.5 * fit + 0.5 * np.sum(precision * (own - theta) ** 2)

        best = minimize(loss, theta, method="BFGS").x
        return np.linalg.solve(np.linalg.cholesky(covariance(best, x)), y)

    exact = np.stack([refitted(z) for z in drawn])
    assert np.std(found - exact) < 0.6 * np.std(exact - drawn)
    before = np.std(np.mean(drawn**2, axis=1) - np.mean(exact**2, axis=1))
    assert np.std(np.mean(found**2, axis=1) - np.mean(exact**2, axis=1)) < 0.2 * before


def test_standardised__replicates_have_mean_zero_and_variance_one():
    L = np.linalg.cholesky(covariance(np.array([-1.0, 0.0, 1.0]), X))
    targets = standardised(np.random.default_rng(0).standard_normal((4, N)), L) @ L.T
    np.testing.assert_allclose(targets.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(targets.std(axis=1), 1.0)
