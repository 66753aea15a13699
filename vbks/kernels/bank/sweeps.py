"""Sweeps over all terms of many kernels: values and gradients in as few passes as possible.

At a hundred inducing points and more, the time goes into reading and writing arrays [T, S, n1, n2].
So exponents are products of low-rank features, and a gradient is contracted with the features of
the right inputs at once, the left ones being left to small arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf


class Exponent(NamedTuple):
    """E = Σᵣ leftᵣ(x) rightᵣ(x'), and what to contract a gradient with: [T, S, r, n]."""

    left: tf.Tensor
    right: tf.Tensor
    right_and_tangent: tf.Tensor


class Ratio(NamedTuple):
    """u = Σᵣ leftᵣ(x) rightᵣ(x') and α of rational leaves, and the term of each: [L, S, r, n1],
    [r, n2], [L, S], [L]."""

    left: tf.Tensor
    right: tf.Tensor
    alpha: tf.Tensor
    term: tf.Tensor


class ExponentialLeaves(NamedTuple):
    """r and |x−x'| in the exponents −Σ r |x−x'| of some terms, and which they are: [R, D, S],
    [D, n1, n2], [R]."""

    relevance: tf.Tensor
    distance: tf.Tensor
    term: tf.Tensor


class MaternLeaves(NamedTuple):
    """s² = Σᵣ leftᵣ(x) rightᵣ(x') of Matérn leaves (1 + s + c s²) e⁻ˢ, c, and the term of each:
    [L, S, r, n1], [r, n2], [L], [L]."""

    left: tf.Tensor
    right: tf.Tensor
    curvature: tf.Tensor
    term: tf.Tensor


def _product(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    return tf.linalg.matmul(left, right, transpose_a=True)


def _contract(gradient: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Σⱼ gradient(x, x'ⱼ) rightᵣ(x'ⱼ): [..., n1, n2], [..., r, n2] -> [..., r, n1]."""
    return tf.linalg.matmul(right, gradient, transpose_b=True)


def _row(vector: tf.Tensor) -> tf.Tensor:
    return tf.expand_dims(vector, -2)


def plain_sweep(e: Exponent) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    """Terms exp(E), and how a gradient of the terms is contracted."""
    terms = tf.exp(_product(e.left, e.right))

    def pull(upstream: tf.Tensor) -> tf.Tensor:
        return _contract(upstream * terms, e.right_and_tangent)

    return terms, pull


def rank_one_sweep(
    e: Exponent, a1: tf.Tensor, a2: tf.Tensor
) -> tuple[tf.Tensor, Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor, tf.Tensor]]]:
    """Terms a(x) exp(E) a(x'), and gradients for the exponent, a(x) and a(x')."""
    V = tf.exp(_product(e.left, e.right))
    terms = V * _product(_row(a1), _row(a2))

    def pull(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        W = upstream * V
        right = tf.concat([e.right_and_tangent * _row(a2), _row(a2)], axis=-2)
        pulled = _contract(W, right)
        exponent, last = tf.split(pulled, [tf.shape(pulled)[2] - 1, 1], axis=2)
        return (
            exponent * _row(a1),
            tf.squeeze(last, axis=2),
            tf.linalg.matvec(W, a1, transpose_a=True),
        )

    return terms, pull


def line_sweep(
    a1: tf.Tensor, a2: tf.Tensor
) -> tuple[tf.Tensor, Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]]:
    """Terms a(x) a(x'), and gradients for both factors."""

    def pull(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.linalg.matvec(upstream, a2), tf.linalg.matvec(upstream, a1, transpose_a=True)

    return _product(_row(a1), _row(a2)), pull


def rational_sweep(
    e: Exponent, u: Ratio, others: Powers | None = None
) -> tuple[tf.Tensor, Callable[[tf.Tensor], tuple[tf.Tensor, ...]]]:
    """Terms exp(E − Σ α log u), and gradients for exponent, left features of u, and α.

    Others may be in the exponent besides, whose gradients then follow.
    """
    ratio = _product(u.left, u.right)
    log_ratio = tf.math.log(ratio)
    minus_alpha = tf.expand_dims(tf.expand_dims(-u.alpha, -1), -1)
    powers = tf.math.unsorted_segment_sum(minus_alpha * log_ratio, u.term, tf.shape(e.left)[0])
    if others is not None:
        powers = others.add_to(powers)
    terms = tf.exp(_product(e.left, e.right) + powers)

    def pull(upstream: tf.Tensor) -> tuple[tf.Tensor, ...]:
        W = upstream * terms
        own = tf.gather(W, u.term)
        pulled = (
            _contract(W, e.right_and_tangent),
            minus_alpha * _contract(own / ratio, u.right),
            -tf.reduce_sum(own * log_ratio, axis=[-2, -1]),
        )
        return pulled if others is None else (*pulled, *others.pull(W))

    return terms, pull


class Powers:
    """What exponential and Matérn leaves add to the exponents of their terms."""

    def __init__(self, exponential: ExponentialLeaves, matern: MaternLeaves) -> None:
        self.exponential, self.matern = exponential, matern
        self.curvature = matern.curvature[:, tf.newaxis, tf.newaxis, tf.newaxis]
        # Rounding may leave a square a little below zero where points are equal.
        square = tf.maximum(_product(matern.left, matern.right), 0.0)
        self.root = tf.sqrt(square)
        self.polynomial = 1.0 + self.root + self.curvature * square

    def add_to(self, powers: tf.Tensor) -> tf.Tensor:
        """The exponents with theirs: [T, S, n1, n2]."""
        num_terms, own = tf.shape(powers)[0], self.exponential
        decay = -tf.einsum("rds,dij->rsij", own.relevance, own.distance)
        powers += tf.math.unsorted_segment_sum(decay, own.term, num_terms)
        decay = tf.math.log(self.polynomial) - self.root
        return powers + tf.math.unsorted_segment_sum(decay, self.matern.term, num_terms)

    def pull(self, W: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Gradients of relevances of exponential leaves, and of left features of Matérn ones."""
        own = tf.gather(W, self.exponential.term)
        of_exponential = -tf.einsum("rsij,dij->rds", own, self.exponential.distance)
        # The derivative of log (1 + s + c s²) − s by s², which is finite at zero.
        slope = 0.5 * (2.0 * self.curvature - 1.0 - self.curvature * self.root) / self.polynomial
        own = tf.gather(W, self.matern.term) * slope
        return of_exponential, _contract(own, self.matern.right)


def mixed_sweep(
    e: Exponent, u: Ratio, others: Powers, a1: tf.Tensor, a2: tf.Tensor
) -> tuple[tf.Tensor, Callable[[tf.Tensor], tuple[tf.Tensor, ...]]]:
    """Terms a(x) exp(E − Σ α log u + others) a(x'), and gradients of all of it."""
    V, pull_rational = rational_sweep(e, u, others)
    a = _product(_row(a1), _row(a2))

    def pull(upstream: tf.Tensor) -> tuple[tf.Tensor, ...]:
        W = upstream * V
        return (
            *pull_rational(upstream * a),
            tf.linalg.matvec(W, a2),
            tf.linalg.matvec(W, a1, transpose_a=True),
        )

    return V * a, pull
