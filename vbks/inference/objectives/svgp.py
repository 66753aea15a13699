"""The stochastic bound of many candidates, minibatch by minibatch, at a θ that stays for a while.

The function at the inducing inputs is whitened, u = L v with L Lᵀ = Kuu, and q(v) = N(m, S). With
rows weighted by N/B,

    L = E_q(θ)[ Σ N/B · E_q(f|θ) log p(y|f) ] − KL(q(v)‖N(0, I)) − KL(q(θ)‖p(θ))

is unbiased over minibatches, and so are its gradients. The first two terms are computed here. L is
factorised once for all minibatches at the same θ, and Kuu is pulled back once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import gpflow
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.likelihoods.likelihood import LOG_TWO_PI, Likelihood
from vbks.inference.objectives import whitening
from vbks.inference.objectives.natural_parameters import (
    Ascended,
    Moments,
    NaturalParameters,
    natural_ascent,
)
from vbks.kernels.gpflow.bank import KernelBank

Batch = tuple[Array, Array]
"""Inputs [B, D] and targets [B]."""


class Slopes(NamedTuple):
    """Expected log likelihoods less KL(q(v)‖N(0, I)) [K, S], and their gradients.

    For θ [K, S, H], and for means [K, M] and covariances [K, M, M] of q(v).
    """

    value: tf.Tensor
    gradient: tf.Tensor
    by_mean: tf.Tensor
    by_covariance: tf.Tensor


class _Sums(NamedTuple):
    """What minibatches add up to: values [K, S], A_bar Aᵀ [K, S, M, M], and ∂/∂m and ∂/∂S."""

    value: tf.Tensor
    outer: tf.Tensor
    by_mean: tf.Tensor
    by_covariance: tf.Tensor


class FixedTheta:
    """The bound at θ [K, S, H], for any minibatches; samples of one candidate share its q(v).

    ``jitter`` is one number, or one for each candidate.
    """

    def __init__(
        self,
        bank: KernelBank,
        theta: Any,
        Z: tf.Tensor,
        likelihood: Likelihood,
        num_rows: int,
        jitter: Any,
    ) -> None:
        self.bank, self.Z, self.likelihood, self.num_rows = bank, Z, likelihood, num_rows
        self.theta = tf.convert_to_tensor(theta, gpflow.default_float())
        jitter = tf.reshape(tf.constant(jitter, self.theta.dtype), [-1, 1, 1])
        self.L = whitening.factorise(bank(self.theta, Z), jitter)

    def fitted(
        self, batches: Iterable[Batch], q: NaturalParameters, max_steps: int
    ) -> NaturalParameters:
        """q(v) after natural-gradient steps on these rows: one if noise is Gaussian, else several.

        With Gaussian noise one step of length one leads to the best q(v) from anywhere.
        """
        if self.likelihood.is_gaussian:
            return self.full_step(batches, q)
        batches = list(batches)
        return self.ascended(lambda: batches, q, max_steps).q

    def ascended(
        self, rows: Callable[[], Iterable[Batch]], q: NaturalParameters, max_steps: int
    ) -> Ascended:
        """q(v) after natural-gradient steps that never lower the bound of these rows."""
        return natural_ascent(lambda own: self.step_and_value(rows(), own.moments()), q, max_steps)

    def optimum(self, blocks: Iterable[Batch]) -> tuple[NaturalParameters, tf.Tensor]:
        """The best q(v) for Gaussian noise, and the bound with it [K, S], by one pass over rows."""
        sums: tuple[tf.Tensor, ...] | None = None
        seen = 0
        for batch in blocks:
            X, y = self._tensors(batch)
            new = whitening.gaussian_sums(self.L, *self._kernels(X), y)
            sums = new if sums is None else tuple(map(tf.add, sums, new))
            seen += len(batch[1])
        assert sums is not None
        sums = tuple(total * (self.num_rows / seen) for total in sums)
        q = NaturalParameters(*whitening.shared_by_samples(*sums[:2]))
        moments = q.moments()
        fit = whitening.gaussian_fit(*sums, moments.mean, moments.covariance)
        num_rows = tf.cast(self.num_rows, fit.dtype)
        return q, fit - 0.5 * num_rows * LOG_TWO_PI - moments.kl[:, tf.newaxis]

    def marginals(self, X: Array, q: Moments) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Means and variances of q(f), and noise variances, at rows X [n, D]: [K, S, n]."""
        Kuf, diagonal, noise = self._kernels(tf.constant(X, self.Z.dtype))
        return *whitening.marginals(self.L, Kuf, diagonal, q.mean, q.covariance), noise

    def full_step(self, blocks: Iterable[Batch], q: NaturalParameters) -> NaturalParameters:
        """Where a natural-gradient step of length one on these rows leads."""
        moments = None if self.likelihood.is_gaussian else q.moments()
        return self._full_step(blocks, moments)[0]

    def step_and_value(
        self, blocks: Iterable[Batch], q: Moments
    ) -> tuple[NaturalParameters, tf.Tensor]:
        """Where a natural-gradient step of length one leads, and the bound before it: [K].

        Samples of θ count alike in the bound, which is without KL(q(θ)‖p(θ)).
        """
        target, value = self._full_step(blocks, q)
        return target, tf.reduce_mean(value, axis=1) - q.kl

    def _full_step(
        self, blocks: Iterable[Batch], q: Moments | None
    ) -> tuple[NaturalParameters, tf.Tensor]:
        total, seen = None, 0
        value = tf.zeros(self.theta.shape[:2], self.theta.dtype)
        for batch in blocks:
            size = len(batch[1])
            new, rows = self._natural(*self._tensors(batch), q)
            seen += size
            value += tf.reduce_sum(rows, axis=-1)
            total = new if total is None else total.mixed(new, size / seen)
        assert total is not None
        return total, value * (self.num_rows / seen)

    def value(self, blocks: Iterable[Batch], q: Moments) -> tuple[tf.Tensor, tf.Tensor]:
        """The bound without KL(q(θ)‖p(θ)) [K, S] and its standard error, by all or some rows."""
        total = squares = tf.zeros(self.theta.shape[:2], self.theta.dtype)
        seen = 0
        for batch in blocks:
            X, y = self._tensors(batch)
            Kuf, diagonal, noise = self._kernels(X)
            mean, variance = whitening.marginals(self.L, Kuf, diagonal, q.mean, q.covariance)
            rows = self.likelihood.expectations(y, mean, variance, noise).value
            total += tf.reduce_sum(rows, -1)
            squares += tf.reduce_sum(tf.square(rows), -1)
            seen += len(batch[1])
        spread = tf.sqrt(tf.maximum(squares / seen - tf.square(total / seen), 0.0))
        left = max(1.0 - seen / self.num_rows, 0.0)
        error = spread * self.num_rows * (left / seen) ** 0.5
        return total * (self.num_rows / seen) - q.kl[:, tf.newaxis], error

    def slopes(
        self,
        batches: Iterable[Batch],
        q: Moments,
        *,
        whitened: bool = True,
        excess: float = 0.0,
    ) -> Slopes:
        """Value and gradient, averaged over rows, with q(v) held; or, not whitened, q(u).

        Both are unbiased, and both are the gradient of the collapsed bound where q is the best.
        Holding q(u), the function's own values, is the quieter one where data say much about them.
        Gradients for q(v) are of the expected log likelihood alone. ``excess`` is by how much a
        mean that was estimated from few rows varies more than one from all rows; what this adds
        to squares is taken off.
        """
        S = whitening.without_excess(q.covariance, tf.constant(excess, self.theta.dtype))
        q = q._replace(covariance=S)
        gradient, sums, seen = tf.zeros_like(self.theta), None, 0
        for batch in batches:
            size = len(batch[1])
            new, new_gradient = self._batch_slopes(*self._tensors(batch), q)
            new = _Sums(*(size * part for part in new))
            sums = new if sums is None else _Sums(*map(tf.add, sums, new))
            gradient += size * new_gradient
            seen += size
        assert sums is not None
        sums = _Sums(*(total / seen for total in sums))
        held = tf.zeros_like(sums.outer)
        if not whitened:
            held = whitening.held_back(q.mean, q.covariance, sums.by_mean, sums.by_covariance)
        by_Kuu = whitening.through_Kuu_factor(self.L, sums.outer + held)
        return Slopes(
            sums.value - q.kl[:, tf.newaxis],
            gradient / seen + self._through_Kuu(by_Kuu),
            tf.reduce_mean(sums.by_mean, axis=1),
            tf.reduce_mean(sums.by_covariance, axis=1),
        )

    def _through_Kuu(self, upstream: tf.Tensor) -> tf.Tensor:
        # Computed again: a tape that is kept until here would record gradients of gradients.
        with tf.GradientTape() as tape:
            tape.watch(self.theta)
            Kuu = self.bank(self.theta, self.Z)
        return tape.gradient(Kuu, self.theta, output_gradients=upstream)

    def _natural(
        self, X: tf.Tensor, y: tf.Tensor, q: Moments | None
    ) -> tuple[NaturalParameters, tf.Tensor]:
        """Where rows lead q(v), and their expected log likelihoods [K, S, B].

        Without moments, noise is Gaussian, sites do not depend on q(v), and values are left out.
        """
        Kuf, diagonal, noise = self._kernels(X)
        weight = self._weight(y)
        if q is None:
            sites = whitening.gaussian_natural(self.L, Kuf, noise, y, weight)
            return NaturalParameters(*sites), tf.zeros_like(noise)
        mean, variance = whitening.marginals(self.L, Kuf, diagonal, q.mean, q.covariance)
        e = self.likelihood.expectations(y, mean, variance, noise)
        # A likelihood that is not log-concave has rows that take precision away.
        curvature = -2.0 * e.by_variance
        pull = e.by_mean + curvature * mean
        sites = whitening.natural_from_sites(self.L, Kuf, curvature, pull, weight)
        return NaturalParameters(*sites), e.value

    def _batch_slopes(self, X: tf.Tensor, y: tf.Tensor, q: Moments) -> tuple[_Sums, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(self.theta)
            kernels = self._kernels(X)
        Kuf, diagonal, noise = kernels
        shrinkage, mean, variance, A = whitening.marginals_with_work(
            self.L, Kuf, diagonal, q.mean, q.covariance
        )
        e = self.likelihood.expectations(y, mean, variance, noise)
        weight = self._weight(y)
        sums, pulled = whitening.weighted_slopes(
            self.L, A, shrinkage, q.mean, weight, e.value, e.by_mean, e.by_variance, e.by_noise
        )
        gradient = tape.gradient(
            kernels, self.theta, output_gradients=pulled, unconnected_gradients="zero"
        )
        return _Sums(*sums), gradient

    def _kernels(self, X: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        bank, theta = self.bank, self.theta
        return bank(theta, self.Z, X), bank.diag(theta, X), bank.noise(theta, X)

    def _weight(self, y: tf.Tensor) -> tf.Tensor:
        return tf.cast(self.num_rows, y.dtype) / tf.cast(tf.shape(y)[0], y.dtype)

    def _tensors(self, batch: Batch) -> tuple[tf.Tensor, tf.Tensor]:
        X, y = batch
        return tf.constant(X, self.Z.dtype), tf.constant(y, self.Z.dtype)
