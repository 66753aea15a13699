import numpy as np
import pytest
import tensorflow as tf
from gpflow.kernels import White
from support.reference import kernel_matrix

from vbks.grammar.parser import parse
from vbks.kernels.gpflow.compiled import (
    CompiledKernel,
    compiled_kernel,
    noise_variance,
    signal_matrix,
    signal_variance,
)
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.kernels.layout import lay_out

TEXT = "SE * LIN + WN * PER"
LAYOUT = lay_out(TEXT)
RNG = np.random.default_rng(0)
X1, X2 = RNG.normal(size=(4, 1)), RNG.normal(size=(3, 1))
THETA = 0.4 * RNG.normal(size=len(LAYOUT))


@pytest.fixture(scope="module")
def kernel():
    return CompiledKernel(parse(TEXT), 1, ard=True)


def signal(theta, A, B):
    return kernel_matrix(LAYOUT, theta, A, B)


def test_signal__is_the_naive_twin_at_any_theta(kernel):
    for theta in (THETA, THETA + 0.3):
        found = kernel.value(signal_matrix, theta, X1, X2)
        np.testing.assert_allclose(found, signal(theta, X1, X2), rtol=1e-10)
        expected = np.diag(signal(theta, X1, X1.copy()))
        np.testing.assert_allclose(kernel.value(signal_variance, theta, X1), expected, rtol=1e-10)


def test_noise__is_what_the_diagonal_has_beside_the_signal(kernel):
    expected = np.diag(kernel_matrix(LAYOUT, THETA, X1)) - np.diag(signal(THETA, X1, X1.copy()))
    np.testing.assert_allclose(kernel.value(noise_variance, THETA, X1), expected, rtol=1e-10)
    assert expected.min() > 0


def test_pullback__is_the_slope_of_the_value(kernel):
    upstream = RNG.normal(size=(4, 3))
    pulled = kernel.pullback(signal_matrix, THETA, tf.constant(upstream), X1, X2)
    for slot in range(len(LAYOUT)):
        step = 1e-5 * np.eye(len(LAYOUT))[slot]
        difference = signal(THETA + step, X1, X2) - signal(THETA - step, X1, X2)
        assert pulled[slot] == pytest.approx(np.sum(upstream * difference) / 2e-5, abs=1e-8)


def test_kernel__is_the_same_for_all_who_ask():
    first = compiled_kernel(parse("SE"), 1, True)
    assert compiled_kernel(parse("SE"), 1, True) is first
    assert compiled_kernel(parse("SE"), 2, True) is not first


def test_white_noise__inside_an_opaque_kernel_is_noise():
    class Noisy(White):
        """White noise that no family describes."""

    reading = from_gpflow(Noisy(0.7))
    kernel = CompiledKernel(reading.expression, 1, reading.ard)
    np.testing.assert_allclose(kernel.value(noise_variance, reading.theta, X1), np.full(4, 0.7))
    np.testing.assert_allclose(kernel.value(signal_variance, reading.theta, X1), np.zeros(4))
