"""Evaluation of many kernels from their structure, θ and inputs, as TensorFlow operations.

A kernel is a sum of terms. Those whose leaves have low-rank features are computed from these, the
others as products of formulas.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from vbks.kernels.bank.feature_terms import FeatureTerms
from vbks.kernels.bank.formula_terms import (
    add_formula_terms,
    formula_leaves,
    log_scales,
    rank_ones_at,
    signs,
)
from vbks.kernels.bank.structure import DenseKind, Structure
from vbks.kernels.family import centring

LOG_ZERO = -1e30
"""Stands for the logarithm of an absent share; its exponential is exactly zero."""


def evaluate(
    structure: Structure,
    dense_kinds: tuple[DenseKind, ...],
    by_formula: bool,
    theta: tf.Tensor,
    X1: tf.Tensor,
    X2: tf.Tensor,
) -> tf.Tensor:
    """Kernels of the candidates, without noise: θ [K, S, H] -> [K, S, n1, n2].

    Gradients are for θ; with ``by_formula``, for which the structure must be made, also for inputs.
    """
    num_candidates = tf.shape(theta)[0]
    values = _values(structure, theta)
    parts = []
    if not by_formula:
        # Features have no gradient for inputs, so formulas must not add a part of it.
        X1, X2 = tf.stop_gradient(X1), tf.stop_gradient(X2)

        @tf.custom_gradient
        def kernels(
            slot_values: tf.Tensor,
        ) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            terms = FeatureTerms(structure, slot_values, X1, X2)
            return terms.add_up(num_candidates), terms.pull

        parts.append(kernels(tf.gather(values, structure.slots)))
    if by_formula or dense_kinds:
        parts.append(add_formula_terms(structure, dense_kinds, values, num_candidates, X1, X2))
    return tf.add_n(parts)


def evaluate_diag(
    structure: Structure, dense_kinds: tuple[DenseKind, ...], theta: tf.Tensor, X: tf.Tensor
) -> tf.Tensor:
    """The diagonals of the kernels at X, without noise: [K, S, n]."""
    return _diagonal(structure, dense_kinds, theta, X, members=tf.range(_num_signal(structure)))


def evaluate_noise(
    structure: Structure, dense_kinds: tuple[DenseKind, ...], theta: tf.Tensor, X: tf.Tensor
) -> tf.Tensor:
    """The noise variance at X, the likelihood's own (slot 0 of θ) included: [K, S, n]."""
    own = tf.exp(theta[:, :, :1])
    members = tf.range(_num_signal(structure), tf.shape(structure.term_candidate)[0])
    return own + _diagonal(structure, dense_kinds, theta, X, members)


def _num_signal(structure: Structure) -> tf.Tensor:
    """How many terms are not noise; noise comes last."""
    return tf.reduce_sum(structure.term_counts[:-1])


def _values(structure: Structure, theta: tf.Tensor) -> tf.Tensor:
    """All numbers that indices may point at: θ, 0, log 0, log shares, of centred leaves: [V, S]."""
    S = tf.shape(theta)[1]
    constants = tf.repeat(tf.constant([[0.0], [LOG_ZERO]], theta.dtype), S, axis=1)
    values = tf.concat([tf.reshape(tf.transpose(theta, [0, 2, 1]), [-1, S]), constants], axis=0)
    log_shares = tf.nn.log_softmax(tf.gather(values, structure.shares), axis=1)
    centred = centring(tf.gather(values, structure.centred))
    return tf.concat(
        [values, tf.reshape(log_shares, [-1, S]), tf.reshape(centred, [-1, S])], axis=0
    )


def _diagonal(
    structure: Structure,
    dense_kinds: tuple[DenseKind, ...],
    theta: tf.Tensor,
    X: tf.Tensor,
    members: tf.Tensor,
) -> tf.Tensor:
    """Some terms at x' = x, where all leaves with features but lines are 1, added up: [K, S, n]."""
    values = _values(structure, theta)
    rank_ones = rank_ones_at(structure, values, X, members)
    scale = signs(structure, members, values.dtype) * tf.exp(log_scales(structure, values, members))
    terms = scale[..., tf.newaxis] * tf.square(rank_ones)
    if dense_kinds:
        points = X[:, tf.newaxis]
        leaves = formula_leaves(structure, dense_kinds, values, points, points)[..., 0]
        terms *= tf.reduce_prod(tf.gather(leaves, tf.gather(structure.term_dense, members)), axis=1)
    candidate = tf.gather(structure.term_candidate, members)
    return tf.math.unsorted_segment_sum(terms, candidate, tf.shape(theta)[0])
