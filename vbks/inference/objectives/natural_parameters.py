"""Gaussians q(v) of many candidates by natural parameters, and natural-gradient steps of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gpflow
import tensorflow as tf

from vbks.inference.objectives import whitening

FIRST_LENGTH = 0.7
"""The first natural-gradient step has this length: a full one overshoots where the likelihood is
far from a parabola. It is a numerical constant, like all here."""

LONGER, SHORTER = 1.4, 0.25
"""The next step is longer or shorter by these factors, after one that was accepted and one that was
not."""

LEAST_LENGTH = 1e-4
"""Below this length of a step no step raises the bound."""

TOLERANCE = 1e-4
"""Natural-gradient steps end when the last one has gained fewer nats than this."""

ROUNDING = 1e-12
"""A bound may fall by this share of it through rounding."""


class NaturalParameters(NamedTuple):
    """Precision [K, M, M] and precision times mean [K, M] of Gaussians q(v), one per candidate."""

    precision: tf.Tensor
    linear: tf.Tensor

    def moments(self) -> Moments:
        """Means, covariances and the value that KL(q(v)‖N(0, I)) has."""
        return Moments(*whitening.moments_of(self.precision, self.linear))

    def mixed(self, other: NaturalParameters, share: Any) -> NaturalParameters:
        """A natural-gradient step towards another Gaussian, of one length or one for each [K]."""
        share = tf.reshape(tf.convert_to_tensor(share, self.linear.dtype), [-1, 1])
        return NaturalParameters(
            (1.0 - share[:, :, tf.newaxis]) * self.precision
            + share[:, :, tf.newaxis] * other.precision,
            (1.0 - share) * self.linear + share * other.linear,
        )

    def where(self, chosen: tf.Tensor, other: NaturalParameters) -> NaturalParameters:
        """These for the candidates that are chosen [K], and the others' for the rest."""
        return NaturalParameters(
            tf.where(chosen[:, tf.newaxis, tf.newaxis], self.precision, other.precision),
            tf.where(chosen[:, tf.newaxis], self.linear, other.linear),
        )

    def or_prior(self) -> NaturalParameters:
        """The same, with N(0, I) for candidates whose moments are not all finite."""
        prior = NaturalParameters.prior(*self.linear.shape)
        return self.where(tf.math.is_finite(self.moments().kl), prior)

    def repeated(self, num: int) -> NaturalParameters:
        """These with every candidate several times, one after the other."""
        return NaturalParameters(*(tf.repeat(part, num, axis=0) for part in self))

    def under_prior(self, change: tf.Tensor) -> NaturalParameters:
        """The same sites beside another prior of u, for which v₀ = T v with a change T [K, M, M].

        What rows add to N(0, I) is linear in u, so that P₀ − I turns into Tᵀ(P₀ − I)T.
        """
        added = tf.linalg.set_diag(self.precision, tf.linalg.diag_part(self.precision) - 1.0)
        turned = tf.linalg.matmul(change, tf.linalg.matmul(added, change), transpose_a=True)
        precision = tf.linalg.set_diag(turned, tf.linalg.diag_part(turned) + 1.0)
        return NaturalParameters(precision, tf.linalg.matvec(change, self.linear, transpose_a=True))

    @classmethod
    def prior(cls, num_candidates: int, num_inducing: int) -> NaturalParameters:
        """N(0, I) for every candidate."""
        dtype = gpflow.default_float()
        return cls(
            tf.eye(num_inducing, batch_shape=[num_candidates], dtype=dtype),
            tf.zeros([num_candidates, num_inducing], dtype),
        )


class Moments(NamedTuple):
    """Means [K, M], covariances [K, M, M] and KL(q(v)‖N(0, I)) [K]."""

    mean: tf.Tensor
    covariance: tf.Tensor
    kl: tf.Tensor

    @classmethod
    def of_root(cls, mean: tf.Tensor, root: tf.Tensor) -> Moments:
        """From lower-triangular roots [K, M, M] of the covariances."""
        covariance = tf.linalg.matmul(root, root, transpose_b=True)
        half_log_det = tf.reduce_sum(tf.math.log(tf.abs(tf.linalg.diag_part(root))), -1)
        return cls(mean, covariance, whitening.kl_from_prior(mean, covariance, half_log_det))


class Ascended(NamedTuple):
    """Gaussians q(v) after natural-gradient steps, the bound with them [K], and who has arrived."""

    q: NaturalParameters
    value: tf.Tensor
    converged: tf.Tensor


def natural_ascent(
    step_and_value: Callable[[NaturalParameters], tuple[NaturalParameters, tf.Tensor]],
    q: NaturalParameters,
    max_steps: int,
    tolerance: float = TOLERANCE,
) -> Ascended:
    """Natural-gradient steps, each candidate's as long as its bound rises.

    A likelihood with linear tails has no curvature far from its target: a step of length one from
    there leads anywhere. A step that lowers the bound is taken back, and the next one is shorter.
    """
    target, value = step_and_value(q)
    length = tf.fill(tf.shape(value), tf.constant(FIRST_LENGTH, value.dtype))
    converged = ~tf.math.is_finite(value)
    for _ in range(max_steps):
        if tf.reduce_all(converged):
            break
        proposal = q.mixed(target, length)
        new_target, new_value = step_and_value(proposal)
        gain = new_value - value
        is_better = gain >= -ROUNDING * tf.abs(value)
        converged |= is_better & (gain < tolerance) | (length < LEAST_LENGTH)
        q, target = proposal.where(is_better, q), new_target.where(is_better, target)
        value = tf.where(is_better, new_value, value)
        length = tf.where(is_better, tf.minimum(LONGER * length, 1.0), SHORTER * length)
    return Ascended(q, value, converged & tf.math.is_finite(value))
