"""The algebra of whitened inducing values, compiled: L Lᵀ = Kuu, A = L⁻¹Kuf, q(v) = N(m, S).

Shapes are [K, S, M, M] for L, [K, S, M, B] for A, [K, M] for m and [K, M, M] for S; samples of θ
share one q(v).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from vbks.inference.objectives.evidence import through_factor


def _compiled(function: Any) -> Any:
    return tf.function(function, autograph=False, reduce_retracing=True)


@_compiled
def factorise(Kuu: tf.Tensor, jitter: tf.Tensor) -> tf.Tensor:
    """L, not a number where there is none."""
    return tf.linalg.cholesky(tf.linalg.set_diag(Kuu, tf.linalg.diag_part(Kuu) + jitter))


@_compiled
def moments_of(precision: tf.Tensor, linear: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Mean, covariance and KL(q(v)‖N(0, I)) from natural parameters."""
    root = tf.linalg.cholesky(precision)
    M = tf.shape(linear)[-1]
    eye = tf.eye(M, batch_shape=tf.shape(linear)[:1], dtype=linear.dtype)
    covariance = tf.linalg.cholesky_solve(root, eye)
    mean = tf.linalg.matvec(covariance, linear)
    half_log_det = -tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), -1)
    return mean, covariance, kl_from_prior(mean, covariance, half_log_det)


def kl_from_prior(mean: tf.Tensor, covariance: tf.Tensor, half_log_det: tf.Tensor) -> tf.Tensor:
    """KL(N(m, S)‖N(0, I)) from ½ log|S|."""
    squares = tf.reduce_sum(tf.square(mean), -1) + tf.linalg.trace(covariance)
    return 0.5 * (squares - tf.cast(tf.shape(mean)[-1], mean.dtype)) - half_log_det


@_compiled
def gaussian_sums(
    L: tf.Tensor, Kuf: tf.Tensor, diagonal: tf.Tensor, noise: tf.Tensor, y: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    """Sums over rows: a aᵀ/s, a y/s, and log s + (y² + k(x, x))/s, for noise s."""
    A = tf.linalg.triangular_solve(L, Kuf)
    precision = tf.linalg.matmul(A / noise[..., tf.newaxis, :], A, transpose_b=True)
    rest = tf.math.log(noise) + (tf.square(y) + diagonal) / noise
    return precision, tf.linalg.matvec(A, y / noise), tf.reduce_sum(rest, axis=-1)


@_compiled
def shared_by_samples(precision: tf.Tensor, linear: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The natural parameters that all samples of θ share, with the prior's precision I."""
    precision, linear = tf.reduce_mean(precision, axis=1), tf.reduce_mean(linear, axis=1)
    return tf.linalg.set_diag(precision, tf.linalg.diag_part(precision) + 1.0), linear


@_compiled
def gaussian_fit(
    precision: tf.Tensor, linear: tf.Tensor, rest: tf.Tensor, m: tf.Tensor, S: tf.Tensor
) -> tf.Tensor:
    """Σ E log N(y | f, s) less its constants: −½[rest − 2 mᵀb + tr((mmᵀ + S − I) Σ aaᵀ/s)]."""
    second = S + m[..., tf.newaxis] * m[..., tf.newaxis, :]
    second = tf.linalg.set_diag(second, tf.linalg.diag_part(second) - 1.0)[:, tf.newaxis]
    quadratic = tf.reduce_sum(second * precision, axis=[-2, -1])
    return -0.5 * (rest - 2.0 * tf.reduce_sum(m[:, tf.newaxis] * linear, -1) + quadratic)


@_compiled
def gaussian_natural(
    L: tf.Tensor, Kuf: tf.Tensor, noise: tf.Tensor, y: tf.Tensor, weight: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sites of Gaussian noise do not depend on q(v): precision 1/noise at y."""
    return _add_sites(tf.linalg.triangular_solve(L, Kuf), 1.0 / noise, y / noise, weight)


@_compiled
def natural_from_sites(
    L: tf.Tensor, Kuf: tf.Tensor, curvature: tf.Tensor, pull: tf.Tensor, weight: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Natural parameters of q(v) from Gaussian sites of the rows."""
    return _add_sites(tf.linalg.triangular_solve(L, Kuf), curvature, pull, weight)


def _add_sites(
    A: tf.Tensor, curvature: tf.Tensor, pull: tf.Tensor, weight: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """I + Σ c a aᵀ and Σ b a over rows, weighted, averaged over samples of θ."""
    precision = tf.linalg.matmul(A * curvature[..., tf.newaxis, :], A, transpose_b=True)
    shared: tuple[tf.Tensor, tf.Tensor]
    shared = shared_by_samples(weight * precision, weight * tf.linalg.matvec(A, pull))
    return shared


@_compiled
def marginals(
    L: tf.Tensor, Kuf: tf.Tensor, diagonal: tf.Tensor, m: tf.Tensor, S: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Means and variances of q(f) at the rows: [K, S, B]."""
    _, mean, variance, _ = marginals_with_work(L, Kuf, diagonal, m, S)
    return mean, variance


@_compiled
def marginals_with_work(
    L: tf.Tensor, Kuf: tf.Tensor, diagonal: tf.Tensor, m: tf.Tensor, S: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Also (S − I)A and A = L⁻¹Kuf, which gradients need: [K, S, M, B]."""
    A = tf.linalg.triangular_solve(L, Kuf)
    less_prior = tf.linalg.set_diag(S, tf.linalg.diag_part(S) - 1.0)
    shrinkage = tf.linalg.matmul(less_prior[:, tf.newaxis], A)
    mean = tf.reduce_sum(A * m[:, tf.newaxis, :, tf.newaxis], axis=-2)
    return shrinkage, mean, diagonal + tf.reduce_sum(A * shrinkage, axis=-2), A


@_compiled
def weighted_slopes(
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
def held_back(
    m: tf.Tensor, S: tf.Tensor, by_mean: tf.Tensor, by_covariance: tf.Tensor
) -> tf.Tensor:
    """What is added to A_bar Aᵀ when L moves m = L⁻¹μ and S = L⁻¹ΣL⁻ᵀ along: m_bar mᵀ + 2 S_bar S.

    Of S_bar S, the part from log|S| is half the identity, whatever S is.
    """
    m, S = m[:, tf.newaxis], S[:, tf.newaxis]
    m_bar = by_mean - m
    S_bar = by_covariance
    S_bar = tf.linalg.set_diag(S_bar, tf.linalg.diag_part(S_bar) - 0.5)
    held = m_bar[..., tf.newaxis] * m[..., tf.newaxis, :] + 2.0 * tf.linalg.matmul(S_bar, S)
    return tf.linalg.set_diag(held, tf.linalg.diag_part(held) + 1.0)


@_compiled
def without_excess(S: tf.Tensor, excess: tf.Tensor) -> tf.Tensor:
    """S less the variance of a mean that was estimated from few rows: excess · S(I − S)."""
    return S - excess * (S - tf.linalg.matmul(S, S))


through_Kuu_factor = _compiled(through_factor)
