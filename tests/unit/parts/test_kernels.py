import random

import numpy as np
import pytest
from scipy.integrate import quad
from support.reference import kernel_matrix
from support.strategies import random_expression

from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.bank import bank_of
from vbks.kernels.layout import lay_out
from vbks.parts.kernels import TermKernels

rng = np.random.default_rng(3)
X1, X2 = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))


def random_theta(layout, num=3):
    own = np.random.default_rng(len(layout))
    return layout.prior_mean + 0.5 * own.normal(size=(num, len(layout)))


@pytest.mark.parametrize("ard", [True, False])
def test_kernels_of_terms__add_up_to_the_kernel(ard):
    generator = random.Random(1)
    for _ in range(12):
        expression = random_expression(generator, 5, max_dim=3)
        if not is_batchable(expression, 3):
            continue
        layout = lay_out(expression, 3, ard)
        theta = random_theta(layout)
        kernels = TermKernels(layout, theta)
        whole = bank_of([expression], 3, ard=ard)
        expected = whole(theta[np.newaxis], X1, X2).numpy()[0]
        scale = np.abs(expected).max() + 1.0
        np.testing.assert_allclose(kernels(X1, X2).sum(1), expected, atol=1e-10 * scale)
        diagonal = whole.diag(theta[np.newaxis], X1).numpy()[0]
        np.testing.assert_allclose(kernels.diag(X1).sum(1), diagonal, atol=1e-10 * scale)


def test_kernels_of_terms__are_those_of_the_naive_twin():
    layout = lay_out("(SE + LIN) * CP(PER0, RQ) + CW(OU, C) * M32")
    (theta,) = random_theta(layout, 1)
    found = TermKernels(layout, theta[np.newaxis])(X1[:, :1], X2[:, :1])[0]
    expected = kernel_matrix(layout, theta, X1[:, :1], X2[:, :1])
    np.testing.assert_allclose(found.sum(0), expected, atol=1e-10)
    assert len(found) == 6


def test_wave_and_level__are_the_periodic_kernel_less_its_mean_and_that_mean():
    layout = lay_out("PER")
    (theta,) = random_theta(layout, 1)
    kernels = TermKernels(layout, theta[np.newaxis])
    x = np.linspace(0, 1, 7)[:, np.newaxis]
    wave, level = kernels(x, x)[0]
    period = np.exp(theta[layout.names.index(".period")])
    mean = quad(
        lambda d: kernel_matrix(layout, theta, np.zeros((1, 1)), np.array([[d]]))[0, 0], 0, period
    )[0]
    np.testing.assert_allclose(level, mean / period, rtol=1e-8)
    np.testing.assert_allclose(
        wave + level, kernel_matrix(layout, theta, x, x), rtol=1e-10, atol=1e-12
    )


def test_groups__add_terms_up():
    layout = lay_out("SE + LIN * PER")
    theta = random_theta(layout)
    singles = TermKernels(layout, theta)(X1[:, :1], X2[:, :1])
    grouped = TermKernels(layout, theta, [[0, 2], [1]])(X1[:, :1], X2[:, :1])
    np.testing.assert_allclose(grouped[:, 0], singles[:, 0] + singles[:, 2], rtol=1e-12)
    np.testing.assert_allclose(grouped[:, 1], singles[:, 1], rtol=1e-12)
