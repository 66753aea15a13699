"""Tests of one function's covariance: from an expression as from GPflow's kernel."""

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.kernels import SquaredExponential, White
from support.reference import kernel_matrix

from vbks.errors import DataError
from vbks.inference.bounds.covariance import (
    ExpressionCovariance,
    KernelCovariance,
    as_array,
    in_rows,
)
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.layout import lay_out

X = np.random.default_rng(0).uniform(-2, 2, (7, 1))
THETA = {text: 0.3 * np.arange(len(lay_out(text))) - 0.4 for text in ("SE + LIN", "SE + WN")}


@pytest.mark.parametrize("text", THETA)
def test_expression__has_the_matrix_of_its_twin(text: str) -> None:
    own, inputs = ExpressionCovariance(text, THETA[text]), tf.constant(X)
    expected = kernel_matrix(lay_out(text), THETA[text], X, X)
    np.testing.assert_allclose(own.matrix(inputs, inputs), expected, rtol=1e-9)
    np.testing.assert_allclose(own.diagonal(inputs), np.diag(expected), rtol=1e-9)
    assert np.all(as_array(own.noise(inputs)) >= np.exp(THETA[text][0]) - 1e-12)


def test_kernel__is_the_same_as_its_expression() -> None:
    text, inputs = "SE + LIN", tf.constant(X)
    kernel = KernelCovariance(to_gpflow(text, 1, theta=THETA[text]))
    own = ExpressionCovariance(text, THETA[text])
    for name in ("matrix", "diagonal"):
        arguments = (inputs, inputs) if name == "matrix" else (inputs,)
        found, expected = (getattr(part, name)(*arguments) for part in (kernel, own))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_kernel__keeps_white_noise_apart() -> None:
    kernel, inputs = KernelCovariance(SquaredExponential() + White(0.3)), tf.constant(X)
    np.testing.assert_allclose(kernel.diagonal(inputs), 1.0, rtol=1e-12)
    np.testing.assert_allclose(kernel.noise(inputs), 0.3, rtol=1e-12)
    plain = KernelCovariance(SquaredExponential())
    np.testing.assert_array_equal(plain.noise(inputs), np.zeros(7))


def test_expression__refuses_a_theta_of_another_size() -> None:
    with pytest.raises(DataError, match=r"θ of 'SE' on 1 inputs has shape \(3,\), got \(2,\)"):
        ExpressionCovariance("SE", np.zeros(2))


def test_rows__a_few_at_a_time_give_the_same() -> None:
    inputs = tf.constant(X, gpflow.default_float())
    found = in_rows(lambda rows: tf.square(rows[:, 0]), inputs, 3)
    np.testing.assert_array_equal(found, X[:, 0] ** 2)
