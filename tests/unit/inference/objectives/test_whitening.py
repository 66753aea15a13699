"""Tests of the algebra of whitened inducing values, beside naive NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.objectives import whitening

K, S, M, B = 2, 3, 4, 5


@pytest.fixture
def parts() -> dict[str, Array]:
    """Kuu, Kuf, noise, targets, and a q(v) that all samples share."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(K, S, M, M))
    spread = rng.normal(size=(K, M, M))
    return {
        "Kuu": root @ np.swapaxes(root, -1, -2) + np.eye(M),
        "Kuf": rng.normal(size=(K, S, M, B)),
        "noise": rng.uniform(0.5, 2.0, (K, S, B)),
        "y": rng.normal(size=B),
        "m": rng.normal(size=(K, M)),
        "S": spread @ np.swapaxes(spread, -1, -2) / M + 0.1 * np.eye(M),
        "diagonal": rng.uniform(30.0, 40.0, (K, S, B)),
    }


def test_factor__is_that_of_kuu_and_not_a_number_where_there_is_none(
    parts: dict[str, Array],
) -> None:
    L = whitening.factorise(tf.constant(parts["Kuu"]), tf.constant(0.1, tf.float64)).numpy()
    again = L @ np.swapaxes(L, -1, -2)
    np.testing.assert_allclose(again, parts["Kuu"] + 0.1 * np.eye(M), rtol=1e-10)
    none = whitening.factorise(tf.constant(-parts["Kuu"]), tf.constant(0.1, tf.float64))
    assert np.all(np.isnan(np.diagonal(none, axis1=-2, axis2=-1)[..., 0]))


def test_moments__are_those_of_natural_parameters(parts: dict[str, Array]) -> None:
    precision, linear = np.linalg.inv(parts["S"]), parts["m"]
    mean, covariance, kl = whitening.moments_of(tf.constant(precision), tf.constant(linear))
    np.testing.assert_allclose(covariance, parts["S"], rtol=1e-9)
    for k in range(K):
        expected = parts["S"][k] @ linear[k]
        np.testing.assert_allclose(mean[k], expected, rtol=1e-9)
        squares = np.trace(parts["S"][k]) + expected @ expected
        _, log_det = np.linalg.slogdet(parts["S"][k])
        np.testing.assert_allclose(kl[k], 0.5 * (squares - M - log_det), rtol=1e-9)


def test_marginals__are_those_of_conditionals(parts: dict[str, Array]) -> None:
    L = np.linalg.cholesky(parts["Kuu"])
    given = [tf.constant(parts[name]) for name in ("Kuf", "diagonal", "m", "S")]
    mean, variance = whitening.marginals(tf.constant(L), *given)
    for k, s, b in np.ndindex(K, S, B):
        a = np.linalg.solve(L[k, s], parts["Kuf"][k, s, :, b])
        np.testing.assert_allclose(mean[k, s, b], a @ parts["m"][k], rtol=1e-8, atol=1e-10)
        expected = parts["diagonal"][k, s, b] + a @ (parts["S"][k] - np.eye(M)) @ a
        np.testing.assert_allclose(variance[k, s, b], expected, rtol=1e-8)


def test_natural_parameters__of_gaussian_noise_are_those_of_a_regression(
    parts: dict[str, Array],
) -> None:
    L = np.linalg.cholesky(parts["Kuu"])
    given = [tf.constant(parts[name]) for name in ("Kuf", "noise", "y")]
    weight = tf.constant(1.5, tf.float64)
    precision, linear = whitening.gaussian_natural(tf.constant(L), *given, weight)
    for k in range(K):
        A = [np.linalg.solve(L[k, s], parts["Kuf"][k, s]) for s in range(S)]
        noise = parts["noise"][k]
        expected = np.mean([(a / noise[s]) @ a.T for s, a in enumerate(A)], axis=0)
        np.testing.assert_allclose(precision[k], np.eye(M) + 1.5 * expected, rtol=1e-8)
        expected = np.mean([a @ (parts["y"] / noise[s]) for s, a in enumerate(A)], axis=0)
        np.testing.assert_allclose(linear[k], 1.5 * expected, rtol=1e-8)


def test_gaussian_fit__is_the_sum_of_expected_log_densities(parts: dict[str, Array]) -> None:
    L = tf.constant(np.linalg.cholesky(parts["Kuu"]))
    Kuf, diagonal, noise, y, m, cov = (
        tf.constant(parts[name]) for name in ("Kuf", "diagonal", "noise", "y", "m", "S")
    )
    found = whitening.gaussian_fit(
        *whitening.gaussian_sums(L, Kuf, diagonal, noise, y), m, cov
    ).numpy()
    mean, variance = whitening.marginals(L, Kuf, diagonal, m, cov)
    squares = (parts["y"] - mean) ** 2 + variance
    expected = -0.5 * np.sum(np.log(parts["noise"]) + squares / parts["noise"], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
