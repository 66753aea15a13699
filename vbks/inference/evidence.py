"""Log evidence of many candidates at given θ: exact, and Titsias' collapsed bound.

Both integrate the function out and are deterministic in θ; gradients flow to θ. A candidate whose
covariance cannot be factorised has a value that is not a number, and disturbs no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gpflow
import tensorflow as tf

from vbks.arrays import Array
from vbks.kernels import Bank

LOG_TWO_PI = math.log(2.0 * math.pi)


class ExactEvidence:
    """log N(y | 0, K + noise) for rows X [N, D] and y [N]."""

    def __init__(self, X: Array, y: Array, jitter: float = 1e-8) -> None:
        self.X = tf.constant(X, gpflow.default_float())
        self.y = tf.constant(y, gpflow.default_float())
        self.jitter = tf.constant(jitter, gpflow.default_float())

    @property
    def elements(self) -> int:
        """Numbers in the kernel matrix of one candidate at one θ."""
        return int(self.X.shape[0]) ** 2

    def __call__(self, bank: Bank, theta: tf.Tensor) -> tf.Tensor:
        """Values for θ [K, S, H]: [K, S]."""
        covariance = bank(theta, self.X)
        noise = bank.noise(theta, self.X)
        return _log_normal(covariance, noise + self.jitter, self.y)


class CollapsedEvidence:
    """Titsias' lower bound of the log evidence with inducing inputs Z [M, D]."""

    def __init__(self, X: Array, y: Array, Z: Array, jitter: float = 1e-8) -> None:
        dtype = gpflow.default_float()
        self.X, self.y, self.Z = (tf.constant(a, dtype) for a in (X, y, Z))
        self.jitter = tf.constant(jitter, dtype)

    @property
    def elements(self) -> int:
        """Numbers in the kernel matrices of one candidate at one θ."""
        return int(self.Z.shape[0]) * int(self.Z.shape[0] + self.X.shape[0])

    def __call__(self, bank: Bank, theta: tf.Tensor) -> tf.Tensor:
        """Values for θ [K, S, H]: [K, S]."""
        return _collapsed_bound(
            bank(theta, self.Z),
            bank(theta, self.Z, self.X),
            bank.diag(theta, self.X),
            bank.noise(theta, self.X),
            self.y,
            self.jitter,
        )


@tf.function(autograph=False, reduce_retracing=True)
@tf.custom_gradient
def _log_normal(
    covariance: tf.Tensor, noise: tf.Tensor, y: tf.Tensor
) -> tuple[tf.Tensor, Callable[..., Any]]:
    """log N(y | 0, C + diag(noise)) and ∂/∂C = ½(ααᵀ − C⁻¹), α = C⁻¹y: [.., N, N], [.., N], [N]."""
    chol = tf.linalg.cholesky(
        tf.linalg.set_diag(covariance, tf.linalg.diag_part(covariance) + noise)
    )
    targets = tf.broadcast_to(y[:, tf.newaxis], tf.concat([tf.shape(noise), [1]], axis=0))
    alpha = tf.linalg.cholesky_solve(chol, targets)[..., 0]
    log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)), axis=-1)
    num_rows = tf.cast(tf.shape(y)[0], y.dtype)
    value = -0.5 * (tf.reduce_sum(alpha * y, axis=-1) + log_det + num_rows * LOG_TWO_PI)

    def gradient(upstream: tf.Tensor) -> Any:
        eye = tf.eye(tf.shape(y)[0], batch_shape=tf.shape(noise)[:-1], dtype=y.dtype)
        inverse = tf.linalg.cholesky_solve(chol, eye)
        weight = 0.5 * upstream[..., tf.newaxis, tf.newaxis]
        pulled = weight * (alpha[..., tf.newaxis] * alpha[..., tf.newaxis, :] - inverse)
        return pulled, tf.linalg.diag_part(pulled), None

    return value, gradient


@tf.function(autograph=False, reduce_retracing=True)
def _collapsed_bound(
    Kuu: tf.Tensor,
    Kuf: tf.Tensor,
    Kff_diag: tf.Tensor,
    noise: tf.Tensor,
    y: tf.Tensor,
    jitter: tf.Tensor,
) -> tf.Tensor:
    """log N(y | 0, Q + noise) − ½ tr((K − Q)/noise), Q = Kfu Kuu⁻¹ Kuf, noise per row."""
    Luu = tf.linalg.cholesky(tf.linalg.set_diag(Kuu, tf.linalg.diag_part(Kuu) + jitter))
    A = tf.linalg.triangular_solve(Luu, Kuf)
    scale = tf.math.rsqrt(noise)
    scaled = A * scale[..., tf.newaxis, :]
    B = tf.linalg.matmul(scaled, scaled, transpose_b=True)
    LB = tf.linalg.cholesky(tf.linalg.set_diag(B, tf.linalg.diag_part(B) + 1.0))
    targets = y * scale
    c = tf.linalg.triangular_solve(LB, tf.linalg.matvec(scaled, targets)[..., tf.newaxis])
    num_rows = tf.cast(tf.shape(y)[0], y.dtype)
    log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(LB)), axis=-1)
    log_det += tf.reduce_sum(tf.math.log(noise), axis=-1)
    fit = tf.reduce_sum(tf.square(targets), axis=-1) - tf.reduce_sum(tf.square(c), axis=[-2, -1])
    slack = tf.reduce_sum(Kff_diag / noise, -1) - tf.reduce_sum(tf.square(scaled), axis=[-2, -1])
    return -0.5 * (num_rows * LOG_TWO_PI + log_det + fit + slack)
