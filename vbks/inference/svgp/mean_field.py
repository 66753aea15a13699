"""A q(u) that samples of θ share, as in the VBKS paper: q(θ) and q(u) are independent.

Its family is that of the unwhitened u. Only its coordinates are whitened: w = L₀⁻¹u, where L₀ is
the factor of Kuu at one θ. A q(v) shared in the coordinates v = L⁻¹u of each sample would be
another family, in which the function moves with the scales in θ, which data forbid.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.objectives.natural_parameters import Moments, NaturalParameters
from vbks.inference.objectives.svgp import Batch
from vbks.inference.svgp.stage import StochasticStage


class MeanField:
    """The bound at samples of θ [K, S, H] for a q(w) of each candidate, w = L₀⁻¹u at θ₀ [K, H]."""

    def __init__(self, stage: StochasticStage, theta: Array, samples: Array) -> None:
        K, self.num_samples, H = samples.shape
        rows = stage.repeated(self.num_samples)
        self.here = rows.at(samples.reshape(K * self.num_samples, 1, H))
        self.block_size = rows.block_size()
        base = stage.at(theta[:, np.newaxis]).L[:, 0]
        base = tf.repeat(base, self.num_samples, axis=0)
        self.change = tf.linalg.triangular_solve(self.here.L[:, 0], base)

    def moments(self, q: NaturalParameters) -> Moments:
        """q(v) of each sample, whose KL is that of q(u) from p(u|θ): rows k·S + s."""
        mean, covariance, _ = q.moments()
        mean, covariance = (
            tf.repeat(part, self.num_samples, axis=0) for part in (mean, covariance)
        )
        root = tf.linalg.matmul(self.change, tf.linalg.cholesky(covariance))
        return Moments.of_root(tf.linalg.matvec(self.change, mean), root)

    def step_and_value(
        self, blocks: Iterable[Batch], q: NaturalParameters
    ) -> tuple[NaturalParameters, tf.Tensor]:
        """Where a natural-gradient step of length one leads, and the bound before it: [K]."""
        target, value = self.here.step_and_value(blocks, self.moments(q))
        return self._shared(target), self._over_samples(value)

    def best_gaussian(self, blocks: Iterable[Batch]) -> NaturalParameters:
        """The best q(w) where noise is Gaussian."""
        rows = NaturalParameters.prior(len(self.change), int(self.change.shape[-1]))
        return self._shared(self.here.full_step(blocks, rows))

    def value(self, blocks: Iterable[Batch], q: NaturalParameters) -> tuple[Array, Array]:
        """The bound without KL(q(θ)‖p(θ)) and its standard error: [K, S]."""
        value, error = self.here.value(blocks, self.moments(q))
        return self._by_sample(value), self._by_sample(error)

    def _shared(self, rows: NaturalParameters) -> NaturalParameters:
        """Natural parameters of w that the samples of a candidate lead to on average."""
        precision = tf.linalg.matmul(rows.precision, self.change)
        precision = tf.linalg.matmul(self.change, precision, transpose_a=True)
        linear = tf.linalg.matvec(self.change, rows.linear, transpose_a=True)
        return NaturalParameters(self._over_samples(precision), self._over_samples(linear))

    def _over_samples(self, rows: tf.Tensor) -> tf.Tensor:
        shape = tf.concat([[-1, self.num_samples], tf.shape(rows)[1:]], axis=0)
        return tf.reduce_mean(tf.reshape(rows, shape), axis=1)

    def _by_sample(self, rows: tf.Tensor) -> Array:
        found = rows.numpy()
        return np.asarray(found.reshape(-1, self.num_samples, *found.shape[2:]))
