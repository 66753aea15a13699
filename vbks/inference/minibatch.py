"""The stochastic bound of many candidates, minibatch by minibatch, at a θ that stays for a while.

The function at the inducing inputs is whitened, u = L v with L Lᵀ = Kuu, and q(v) = N(m, S). With
rows weighted by N/B,

    L = E_q(θ)[ Σ N/B · E_q(f|θ) log p(y|f) ] − KL(q(v)‖N(0, I)) − KL(q(θ)‖p(θ))

is unbiased over minibatches, and so are its gradients. The first two terms are computed here. L is
factorised once for all minibatches at the same θ, and Kuu is pulled back once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import gpflow
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.evidence import through_factor
from vbks.inference.likelihoods import LOG_TWO_PI, Likelihood
from vbks.kernels import KernelBank

STEPS = 4
"""Natural-gradient steps on the same rows, where noise is not Gaussian ..."""

STEP_LENGTH = 0.7
"""... and their length: the full step overshoots where the likelihood is far from a parabola."""

Batch = tuple[Array, Array]
"""Inputs [B, D] and targets [B]."""


class NaturalParameters(NamedTuple):
    """Precision [K, M, M] and precision times mean [K, M] of Gaussians q(v), one per candidate."""

    precision: tf.Tensor
    linear: tf.Tensor

    def moments(self) -> Moments:
        """Means, covariances and the value that KL(q(v)‖N(0, I)) has."""
        return Moments(*_moments(self.precision, self.linear))

    def mixed(self, other: NaturalParameters, share: float) -> NaturalParameters:
        """A natural-gradient step of length ``share`` towards another Gaussian."""
        return NaturalParameters(
            *(
                (1.0 - share) * mine + share * theirs
                for mine, theirs in zip(self, other, strict=True)
            )
        )

    def or_prior(self) -> NaturalParameters:
        """The same, with N(0, I) for candidates whose numbers are not all finite."""
        prior = NaturalParameters.prior(*self.linear.shape)
        sizes = tf.reduce_sum(tf.abs(self.precision), [1, 2]) + tf.reduce_sum(
            tf.abs(self.linear), 1
        )
        finite = tf.math.is_finite(sizes)
        return NaturalParameters(
            tf.where(finite[:, tf.newaxis, tf.newaxis], self.precision, prior.precision),
            tf.where(finite[:, tf.newaxis], self.linear, prior.linear),
        )

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
        return cls(mean, covariance, _kl(mean, covariance, half_log_det))


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
        self.L = _factor(bank(self.theta, Z), jitter)

    def fitted(self, batches: Iterable[Batch], q: NaturalParameters) -> NaturalParameters:
        """q(v) after natural-gradient steps on these rows: one if noise is Gaussian, else several.

        With Gaussian noise one step of length one leads to the best q(v) from anywhere.
        """
        if self.likelihood.is_gaussian:
            return self.full_step(batches, q)
        batches = list(batches)
        for _ in range(STEPS):
            q = q.mixed(self.full_step(batches, q), STEP_LENGTH)
        return q

    def optimum(self, blocks: Iterable[Batch]) -> tuple[NaturalParameters, tf.Tensor]:
        """The best q(v) for Gaussian noise, and the bound with it [K, S], by one pass over rows."""
        sums: tuple[tf.Tensor, ...] | None = None
        seen = 0
        for batch in blocks:
            X, y = self._tensors(batch)
            new = _gaussian_sums(self.L, *self._kernels(X), y)
            sums = new if sums is None else tuple(map(tf.add, sums, new))
            seen += len(batch[1])
        assert sums is not None
        sums = tuple(total * (self.num_rows / seen) for total in sums)
        q = NaturalParameters(*_shared(*sums[:2]))
        moments = q.moments()
        fit = _gaussian_fit(*sums, moments.mean, moments.covariance)
        num_rows = tf.cast(self.num_rows, fit.dtype)
        return q, fit - 0.5 * num_rows * LOG_TWO_PI - moments.kl[:, tf.newaxis]

    def marginals(self, X: Array, q: Moments) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Means and variances of q(f), and noise variances, at rows X [n, D]: [K, S, n]."""
        Kuf, diagonal, noise = self._kernels(tf.constant(X, self.Z.dtype))
        return *_marginals(self.L, Kuf, diagonal, q.mean, q.covariance), noise

    def full_step(self, blocks: Iterable[Batch], q: NaturalParameters) -> NaturalParameters:
        """Where a natural-gradient step of length one on these rows leads."""
        moments = None if self.likelihood.is_gaussian else q.moments()
        total, seen = None, 0
        for batch in blocks:
            size = len(batch[1])
            new = self._natural(*self._tensors(batch), moments)
            seen += size
            total = new if total is None else total.mixed(new, size / seen)
        assert total is not None
        return total

    def value(self, blocks: Iterable[Batch], q: NaturalParameters) -> tuple[tf.Tensor, tf.Tensor]:
        """The bound without KL(q(θ)‖p(θ)) [K, S] and its standard error, by all or some rows."""
        moments = q.moments()
        total = squares = tf.zeros(self.theta.shape[:2], self.theta.dtype)
        seen = 0
        for batch in blocks:
            X, y = self._tensors(batch)
            Kuf, diagonal, noise = self._kernels(X)
            mean, variance = _marginals(self.L, Kuf, diagonal, moments.mean, moments.covariance)
            rows = self.likelihood.expectations(y, mean, variance, noise).value
            total += tf.reduce_sum(rows, -1)
            squares += tf.reduce_sum(tf.square(rows), -1)
            seen += len(batch[1])
        spread = tf.sqrt(tf.maximum(squares / seen - tf.square(total / seen), 0.0))
        left = max(1.0 - seen / self.num_rows, 0.0)
        error = spread * self.num_rows * (left / seen) ** 0.5
        return total * (self.num_rows / seen) - moments.kl[:, tf.newaxis], error

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
        S = _without_excess(q.covariance, tf.constant(excess, self.theta.dtype))
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
            held = _held_back(q.mean, q.covariance, sums)
        by_Kuu = _through_factor(self.L, sums.outer + held)
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

    def _natural(self, X: tf.Tensor, y: tf.Tensor, q: Moments | None) -> NaturalParameters:
        Kuf, diagonal, noise = self._kernels(X)
        weight = self._weight(y)
        if q is None:
            return NaturalParameters(*_gaussian_natural(self.L, Kuf, noise, y, weight))
        mean, variance = _marginals(self.L, Kuf, diagonal, q.mean, q.covariance)
        e = self.likelihood.expectations(y, mean, variance, noise)
        # Likelihoods that are not log-concave have rows that would take precision away; with the
        # size of their curvature instead, steps still go uphill, and q(v) stays a Gaussian.
        curvature = tf.abs(2.0 * e.by_variance)
        sites = curvature, e.by_mean + curvature * mean
        return NaturalParameters(*_natural_from_sites(self.L, Kuf, *sites, weight))

    def _batch_slopes(self, X: tf.Tensor, y: tf.Tensor, q: Moments) -> tuple[_Sums, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(self.theta)
            kernels = self._kernels(X)
        Kuf, diagonal, noise = kernels
        shrinkage, mean, variance, A = _marginals_for_slopes(
            self.L, Kuf, diagonal, q.mean, q.covariance
        )
        e = self.likelihood.expectations(y, mean, variance, noise)
        weight = self._weight(y)
        sums, pulled = _weighted_slopes(
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


def _compiled(function: Any) -> Any:
    return tf.function(function, autograph=False, reduce_retracing=True)


@_compiled
def _factor(Kuu: tf.Tensor, jitter: tf.Tensor) -> tf.Tensor:
    return tf.linalg.cholesky(tf.linalg.set_diag(Kuu, tf.linalg.diag_part(Kuu) + jitter))


@_compiled
def _moments(precision: tf.Tensor, linear: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    root = tf.linalg.cholesky(precision)
    M = tf.shape(linear)[-1]
    eye = tf.eye(M, batch_shape=tf.shape(linear)[:1], dtype=linear.dtype)
    covariance = tf.linalg.cholesky_solve(root, eye)
    mean = tf.linalg.matvec(covariance, linear)
    half_log_det = -tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), -1)
    return mean, covariance, _kl(mean, covariance, half_log_det)


def _kl(mean: tf.Tensor, covariance: tf.Tensor, half_log_det: tf.Tensor) -> tf.Tensor:
    """KL(N(m, S)‖N(0, I)) from ½ log|S|."""
    squares = tf.reduce_sum(tf.square(mean), -1) + tf.linalg.trace(covariance)
    return 0.5 * (squares - tf.cast(tf.shape(mean)[-1], mean.dtype)) - half_log_det


@_compiled
def _gaussian_sums(
    L: tf.Tensor, Kuf: tf.Tensor, diagonal: tf.Tensor, noise: tf.Tensor, y: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    """Sums over rows: a aᵀ/s, a y/s, and log s + (y² + k(x, x))/s, for noise s."""
    A = tf.linalg.triangular_solve(L, Kuf)
    precision = tf.linalg.matmul(A / noise[..., tf.newaxis, :], A, transpose_b=True)
    rest = tf.math.log(noise) + (tf.square(y) + diagonal) / noise
    return precision, tf.linalg.matvec(A, y / noise), tf.reduce_sum(rest, axis=-1)


@_compiled
def _shared(precision: tf.Tensor, linear: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The natural parameters that all samples of θ share, with the prior's precision I."""
    precision, linear = tf.reduce_mean(precision, axis=1), tf.reduce_mean(linear, axis=1)
    return tf.linalg.set_diag(precision, tf.linalg.diag_part(precision) + 1.0), linear


@_compiled
def _gaussian_fit(
    precision: tf.Tensor, linear: tf.Tensor, rest: tf.Tensor, m: tf.Tensor, S: tf.Tensor
) -> tf.Tensor:
    """Σ E log N(y | f, s) less its constants: −½[rest − 2 mᵀb + tr((mmᵀ + S − I) Σ aaᵀ/s)]."""
    second = S + m[..., tf.newaxis] * m[..., tf.newaxis, :]
    second = tf.linalg.set_diag(second, tf.linalg.diag_part(second) - 1.0)[:, tf.newaxis]
    quadratic = tf.reduce_sum(second * precision, axis=[-2, -1])
    return -0.5 * (rest - 2.0 * tf.reduce_sum(m[:, tf.newaxis] * linear, -1) + quadratic)


@_compiled
def _gaussian_natural(
    L: tf.Tensor, Kuf: tf.Tensor, noise: tf.Tensor, y: tf.Tensor, weight: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sites of Gaussian noise do not depend on q(v): precision 1/noise at y."""
    return _add_sites(tf.linalg.triangular_solve(L, Kuf), 1.0 / noise, y / noise, weight)


@_compiled
def _natural_from_sites(
    L: tf.Tensor, Kuf: tf.Tensor, curvature: tf.Tensor, pull: tf.Tensor, weight: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    return _add_sites(tf.linalg.triangular_solve(L, Kuf), curvature, pull, weight)


def _add_sites(
    A: tf.Tensor, curvature: tf.Tensor, pull: tf.Tensor, weight: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """I + Σ c a aᵀ and Σ b a over rows, weighted, averaged over samples of θ."""
    precision = tf.linalg.matmul(A * curvature[..., tf.newaxis, :], A, transpose_b=True)
    shared: tuple[tf.Tensor, tf.Tensor]
    shared = _shared(weight * precision, weight * tf.linalg.matvec(A, pull))
    return shared


@_compiled
def _marginals(
    L: tf.Tensor, Kuf: tf.Tensor, diagonal: tf.Tensor, m: tf.Tensor, S: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Means and variances of q(f) at the rows: [K, S, B]."""
    _, mean, variance, _ = _marginals_for_slopes(L, Kuf, diagonal, m, S)
    return mean, variance


@_compiled
def _marginals_for_slopes(
    L: tf.Tensor, Kuf: tf.Tensor, diagonal: tf.Tensor, m: tf.Tensor, S: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Also (S − I)A and A = L⁻¹Kuf, which gradients need: [K, S, M, B]."""
    A = tf.linalg.triangular_solve(L, Kuf)
    less_prior = tf.linalg.set_diag(S, tf.linalg.diag_part(S) - 1.0)
    shrinkage = tf.linalg.matmul(less_prior[:, tf.newaxis], A)
    mean = tf.reduce_sum(A * m[:, tf.newaxis, :, tf.newaxis], axis=-2)
    return shrinkage, mean, diagonal + tf.reduce_sum(A * shrinkage, axis=-2), A


@_compiled
def _weighted_slopes(
    L: tf.Tensor,
    A: tf.Tensor,
    shrinkage: tf.Tensor,
    m: tf.Tensor,
    weight: tf.Tensor,
    value: tf.Tensor,
    by_mean: tf.Tensor,
    by_variance: tf.Tensor,
    by_noise: tf.Tensor,
) -> tuple[tuple[tf.Tensor, ...], list[tf.Tensor]]:
    """Sums over the rows, and what is pulled back to Kuf, its diagonal and the noise."""
    slope, curve = weight * by_mean[..., tf.newaxis, :], weight * by_variance[..., tf.newaxis, :]
    A_bar = m[:, tf.newaxis, :, tf.newaxis] * slope + 2.0 * shrinkage * curve
    outer = tf.linalg.matmul(A_bar, A, transpose_b=True)
    for_mean = tf.linalg.matvec(A, slope[..., 0, :])
    for_covariance = tf.linalg.matmul(A * curve, A, transpose_b=True)
    Kuf_bar = tf.linalg.triangular_solve(L, A_bar, adjoint=True)
    sums = (weight * tf.reduce_sum(value, -1), outer, for_mean, for_covariance)
    return sums, [Kuf_bar, weight * by_variance, weight * by_noise]


@_compiled
def _held_back(m: tf.Tensor, S: tf.Tensor, sums: _Sums) -> tf.Tensor:
    """What is added to A_bar Aᵀ when L moves m = L⁻¹μ and S = L⁻¹ΣL⁻ᵀ along: m_bar mᵀ + 2 S_bar S.

    Of S_bar S, the part from log|S| is half the identity, whatever S is.
    """
    m, S = m[:, tf.newaxis], S[:, tf.newaxis]
    m_bar = sums.by_mean - m
    S_bar = sums.by_covariance
    S_bar = tf.linalg.set_diag(S_bar, tf.linalg.diag_part(S_bar) - 0.5)
    held = m_bar[..., tf.newaxis] * m[..., tf.newaxis, :] + 2.0 * tf.linalg.matmul(S_bar, S)
    return tf.linalg.set_diag(held, tf.linalg.diag_part(held) + 1.0)


@_compiled
def _without_excess(S: tf.Tensor, excess: tf.Tensor) -> tf.Tensor:
    """S less the variance of a mean that was estimated from few rows: excess · S(I − S)."""
    return S - excess * (S - tf.linalg.matmul(S, S))


_through_factor = _compiled(through_factor)
