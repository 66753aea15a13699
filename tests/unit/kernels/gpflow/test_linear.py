from __future__ import annotations

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.expectations import expectation, quadrature_expectation
from gpflow.probability_distributions import Gaussian

from vbks.kernels.gpflow.linear import Linear

X = np.random.default_rng(0).normal(size=(6, 3))
X2 = np.random.default_rng(1).normal(size=(4, 3))


def test_linear__multiplies_distances_from_its_location() -> None:
    location = np.array([0.3, -1.0, 2.0])
    expected = 0.7 * (X - location) @ (X2 - location).T
    np.testing.assert_allclose(Linear(0.7, location)(X, X2), expected, rtol=1e-12)


def test_linear__through_zero_is_gpflow_linear() -> None:
    np.testing.assert_allclose(Linear(0.7)(X, X2), gpflow.kernels.Linear(0.7)(X, X2), rtol=1e-12)


def test_linear__of_uncertain_inputs_keeps_its_location() -> None:
    inputs = Gaussian(tf.constant(X[:, :1]), tf.constant(np.full((6, 1, 1), 0.1)))
    expected = 0.7 * (np.square(X[:, 0] - 2.0) + 0.1)
    np.testing.assert_allclose(expectation(inputs, Linear(0.7, 2.0)), expected, rtol=1e-10)
    np.testing.assert_allclose(
        quadrature_expectation(inputs, Linear(0.7, 2.0)), expected, rtol=1e-10
    )


def test_linear__needs_a_location_for_each_active_input() -> None:
    with pytest.raises(ValueError, match="does not match size of ard parameter"):
        Linear(location=[1.0, 2.0, 3.0], active_dims=[0, 1])
