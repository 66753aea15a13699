"""Evaluation without graphs, against naive twins."""

import numpy as np
import pytest
import tensorflow as tf
from support.banks import X1, X2, make_kernels
from support.reference import kernel_matrix

from vbks.kernels.bank.evaluation import evaluate, evaluate_diag, evaluate_noise

TEXTS = (
    "SE * LIN[1] + PER[2]",
    "(RQ + C) * (OU[1] + M32)",
    "CP[1](PER0[1], SE) + WN",
    "WN * LIN[2] + SE",
)


@pytest.fixture(scope="module", params=[False, True], ids=["features", "formulas"])
def kernels(request):
    return make_kernels(*TEXTS, by_formula=request.param)


def test_evaluate__is_the_naive_twin(kernels):
    by_formula = not kernels.structure.term_counts[:4].any()
    found = evaluate(kernels.structure, kernels.dense_kinds, by_formula, kernels.theta, X1, X2)
    np.testing.assert_allclose(found, kernels.matrices(X1, X2), rtol=1e-9, atol=1e-12)


def test_diag__is_the_diagonal_without_noise(kernels):
    found = evaluate_diag(kernels.structure, kernels.dense_kinds, kernels.theta, X1)
    whole = kernels.matrices(X1, X1.copy())
    expected = np.diagonal(whole, axis1=-2, axis2=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_noise__is_the_likelihoods_and_what_white_noise_adds(kernels):
    found = evaluate_noise(kernels.structure, kernels.dense_kinds, kernels.theta, X1).numpy()
    own = np.exp(kernels.theta[..., :1])
    np.testing.assert_allclose(found[:3], np.broadcast_to(own[:3], found[:3].shape), rtol=1e-12)
    layout = kernels.layouts[3]
    for theta, sample in zip(kernels.theta[3], found[3], strict=True):
        both = np.diag(kernel_matrix(layout, theta, X1))
        alone = np.diag(kernel_matrix(layout, theta, X1, X1.copy()))
        np.testing.assert_allclose(sample, np.exp(theta[0]) + both - alone, rtol=1e-9)


def test_gradient__of_features_is_that_of_formulas():
    upstream = tf.constant(np.random.default_rng(2).normal(size=(4, 2, 4, 3)))
    found = []
    for by_formula in (False, True):
        kernels = make_kernels(*TEXTS, by_formula=by_formula)
        theta = tf.constant(kernels.theta)
        with tf.GradientTape() as tape:
            tape.watch(theta)
            value = evaluate(
                kernels.structure,
                kernels.dense_kinds,
                by_formula,
                theta,
                tf.constant(X1),
                tf.constant(X2),
            )
        found.append(tape.gradient(value, theta, upstream))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8, atol=1e-10)
