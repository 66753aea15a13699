"""Tests of Gaussian noise in closed form, beside GPflow's."""

from __future__ import annotations

import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.likelihoods.likelihood import Gaussian

Y = np.array([-1.2, 0.4, 2.5, 0.0])


def moments(*shape: int) -> tuple[tf.Tensor, ...]:
    """Means, variances and noise."""
    rng = np.random.default_rng(0)
    return tuple(
        tf.constant(part) for part in (rng.normal(size=shape), *rng.uniform(0.1, 2.0, (2, *shape)))
    )


def test_expectations__have_the_values_of_gpflow() -> None:
    mean, variance, noise = moments(3, 4)
    found = Gaussian().expectations(tf.constant(Y), mean, variance, noise).value
    for i, j in np.ndindex(3, 4):
        columns = [np.array([[part]]) for part in (0.0, mean[i, j], variance[i, j], Y[j])]
        likelihood = gpflow.likelihoods.Gaussian(noise[i, j].numpy(), variance_lower_bound=1e-9)
        expected = likelihood.variational_expectations(*columns)
        np.testing.assert_allclose(found[i, j], expected[0], rtol=1e-10)


def test_expectations__have_derivatives_as_automatic_ones() -> None:
    at = moments(4)
    with tf.GradientTape() as tape:
        tape.watch(at)
        expectations = Gaussian().expectations(tf.constant(Y), *at)
    slopes = tape.gradient(expectations.value, at)
    for found, expected in zip(expectations[1:], slopes, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_parameter__starts_at_the_logarithm_of_its_variance() -> None:
    assert Gaussian(0.3).parameter_start == pytest.approx(np.log(0.3))
    assert Gaussian().parameter_name == "variance"


@pytest.mark.parametrize("noise", [1e-9, 0.3])
def test_to_gpflow__has_the_variance_however_small(noise: float) -> None:
    found: Array = Gaussian().to_gpflow(noise).variance.numpy()
    assert found == pytest.approx(noise)
