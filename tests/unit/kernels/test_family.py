"""Tests of the families: formulas beside naive twins, and spectra beside formulas."""

import numpy as np
import pytest
import tensorflow as tf
from support.reference import kernel_matrix

from vbks.arrays import Array
from vbks.kernels.family import BUILT_IN, centring, periodic, periodic_without_constant
from vbks.kernels.layout import lay_out

X1 = np.random.default_rng(0).uniform(-2, 2, (4, 1))
X2 = np.random.default_rng(1).uniform(-2, 2, (3, 1))
WITH_TWIN = sorted(set(BUILT_IN) & {"C", "LIN", "M32", "M52", "OU", "PER", "PER0", "RQ", "SE"})
WITH_SPECTRUM = sorted(name for name, own in BUILT_IN.items() if own.draw_frequencies is not None)


def values_of(name: str) -> tuple[Array, dict[str, Array]]:
    """θ of a leaf, and its parameters by name."""
    layout = lay_out(name)
    theta = layout.prior_mean + 0.3 * np.arange(len(layout))
    parameters = BUILT_IN[name].parameters
    own = theta[len(theta) - len(parameters) :]
    named = {
        p.name: np.array([np.exp(v) if p.positive else v])
        for p, v in zip(parameters, own, strict=True)
    }
    return theta, named


@pytest.mark.parametrize("name", WITH_TWIN)
def test_formula__is_that_of_its_twin(name: str) -> None:
    theta, parameters = values_of(name)
    layout = lay_out(name)
    shaped = {
        p.name: parameters[p.name].reshape((1, 1, 1) if p.per_input else (1, 1))
        for p in BUILT_IN[name].parameters
    }
    found = BUILT_IN[name].formula(
        tf.constant(X1[:, np.newaxis]), tf.constant(X2[np.newaxis]), **shaped
    )
    scale = np.exp(theta[layout.root.scale]) if layout.root.scale is not None else 1.0
    np.testing.assert_allclose(scale * found, kernel_matrix(layout, theta, X1, X2), rtol=1e-9)


@pytest.mark.parametrize("name", WITH_SPECTRUM)
def test_frequencies__have_the_mean_cosine_of_the_formula(name: str) -> None:
    _, parameters = values_of(name)
    draw = BUILT_IN[name].draw_frequencies
    assert draw is not None
    num = 20_000
    v = draw(np.random.default_rng(0), (num, 1), **parameters)[:, 0]
    shaped = {
        p.name: parameters[p.name].reshape((1, 1, 1) if p.per_input else (1, 1))
        for p in BUILT_IN[name].parameters
    }
    for distance in (0.1, 0.5, 1.7):
        cosines = np.cos(v * distance)
        at = tf.constant([[[0.0]]], tf.float64)
        expected = BUILT_IN[name].formula(at, at + distance, **shaped).numpy().item()
        assert abs(cosines.mean() - expected) < 4 * cosines.std() / np.sqrt(num)


@pytest.mark.parametrize("log_lengthscale", [-1.0, 0.0, 1.5, 3.0])
def test_centring__makes_the_periodic_family_without_its_mean(log_lengthscale: float) -> None:
    at, to = tf.constant(X1[:, np.newaxis]), tf.constant(X2[np.newaxis])
    own, lift, taken = centring(tf.constant([[log_lengthscale]], tf.float64)).numpy()[0, :, 0]
    plain = periodic(at, to, tf.constant([[[np.exp(own)]]]), tf.constant([[[0.7]]], tf.float64))
    expected = periodic_without_constant(
        at, to, tf.constant([[[np.exp(log_lengthscale)]]]), tf.constant([[[0.7]]], tf.float64)
    )
    found = np.exp(lift) * plain - np.exp(taken)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_family__is_one_at_no_distance_if_stationary(name: str) -> None:
    family = BUILT_IN[name]
    assert family.name == name
    if not family.stationary or not family.uses_input:
        return
    _, parameters = values_of(name)
    shaped = {
        p.name: parameters[p.name].reshape((1, 1, 1) if p.per_input else (1, 1))
        for p in family.parameters
    }
    at = tf.constant(X1[:1, np.newaxis])
    np.testing.assert_allclose(family.formula(at, at, **shaped), 1.0, rtol=1e-9)
