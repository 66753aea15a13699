"""Tests of sweeps over terms: their gradients are those of TensorFlow."""

import numpy as np
import tensorflow as tf

from vbks.kernels.bank.sweeps import (
    Exponent,
    ExponentialLeaves,
    MaternLeaves,
    Powers,
    Ratio,
    line_sweep,
    mixed_sweep,
    plain_sweep,
    rank_one_sweep,
    rational_sweep,
)

T, S, R, N1, N2 = 2, 3, 2, 4, 5


def constant(*shape: int, low: float = -0.4, high: float = 0.4, seed: int = 0) -> tf.Tensor:
    return tf.constant(np.random.default_rng([seed, *shape]).uniform(low, high, shape))


LEFT, RIGHT = constant(T, S, R, N1), constant(T, S, R, N2)
UPSTREAM = constant(T, S, N1, N2, low=-1.0, high=1.0)
A1, A2 = constant(T, S, N1, low=0.5, high=2.0), constant(T, S, N2, low=0.5, high=2.0)
U_LEFT, U_RIGHT = constant(2, S, R, N1, low=0.5, high=1.0), constant(R, N2, low=0.5, high=1.0)
ALPHA, TERM = constant(2, S, low=0.5, high=2.0), tf.constant([0, 1])
M_LEFT, M_RIGHT = constant(2, S, R, N1, low=0.3, high=1.0), constant(R, N2, low=0.3, high=1.0)
CURVATURE = tf.constant([0.0, 1.0 / 3.0], tf.float64)
RELEVANCE, DISTANCE = constant(1, 1, S, low=0.1, high=1.0), constant(1, N1, N2, low=0.0, high=2.0)


def exponent(left: tf.Tensor) -> Exponent:
    return Exponent(left, RIGHT, RIGHT)


def powers(relevance: tf.Tensor, m_left: tf.Tensor) -> Powers:
    """An exponential leaf in the second term, and a Matérn leaf of either kind in each term."""
    return Powers(
        ExponentialLeaves(relevance, DISTANCE, tf.constant([1])),
        MaternLeaves(m_left, M_RIGHT, CURVATURE, TERM),
    )


def gradients(terms, variables):
    """Of the terms, weighted by what comes from above."""
    with tf.GradientTape() as tape:
        tape.watch(variables)
        value = tf.reduce_sum(UPSTREAM * terms(*variables))
    return tape.gradient(value, variables)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_plain_sweep__has_terms_and_gradients_of_an_exponential() -> None:
    terms, pull = plain_sweep(exponent(LEFT))
    np.testing.assert_allclose(terms, np.exp(np.einsum("tsri,tsrj->tsij", LEFT, RIGHT)), rtol=1e-12)
    assert_same([pull(UPSTREAM)], gradients(lambda own: plain_sweep(exponent(own))[0], [LEFT]))


def test_line_sweep__has_gradients_of_both_factors() -> None:
    terms, pull = line_sweep(A1, A2)
    np.testing.assert_allclose(terms, np.einsum("tsi,tsj->tsij", A1, A2), rtol=1e-12)
    assert_same(pull(UPSTREAM), gradients(lambda a, b: line_sweep(a, b)[0], [A1, A2]))


def test_rank_one_sweep__has_gradients_of_all_parts() -> None:
    def terms(left: tf.Tensor, a1: tf.Tensor, a2: tf.Tensor) -> tf.Tensor:
        return rank_one_sweep(exponent(left), a1, a2)[0]

    _, pull = rank_one_sweep(exponent(LEFT), A1, A2)
    assert_same(pull(UPSTREAM), gradients(terms, [LEFT, A1, A2]))


def test_rational_sweep__has_gradients_of_all_parts() -> None:
    def sweep(left: tf.Tensor, u_left: tf.Tensor, alpha: tf.Tensor):
        return rational_sweep(exponent(left), Ratio(u_left, U_RIGHT, alpha, TERM))

    variables = [LEFT, U_LEFT, ALPHA]
    _, pull = sweep(*variables)
    assert_same(pull(UPSTREAM), gradients(lambda *own: sweep(*own)[0], variables))


def test_mixed_sweep__has_gradients_of_all_parts() -> None:
    def sweep(left, u_left, alpha, relevance, m_left, a1, a2):
        others = powers(relevance, m_left)
        return mixed_sweep(exponent(left), Ratio(u_left, U_RIGHT, alpha, TERM), others, a1, a2)

    variables = [LEFT, U_LEFT, ALPHA, RELEVANCE, M_LEFT, A1, A2]
    _, pull = sweep(*variables)
    assert_same(pull(UPSTREAM), gradients(lambda *own: sweep(*own)[0], variables))


def test_powers__are_those_of_matern_kernels() -> None:
    found = powers(RELEVANCE, M_LEFT).add_to(tf.zeros([T, S, N1, N2], tf.float64))[0]
    root = np.sqrt(np.einsum("sri,rj->sij", M_LEFT[0], M_RIGHT))
    np.testing.assert_allclose(found, np.log1p(root) - root, rtol=1e-12)
