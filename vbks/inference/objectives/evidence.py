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
from vbks.kernels.bank.bank import Objective
from vbks.kernels.gpflow.bank import KernelBank

LOG_TWO_PI = math.log(2.0 * math.pi)


class ExactEvidence:
    """log N(y | 0, K + noise) for rows X [N, D] and y [N], of whose noise some may be known [N]."""

    def __init__(
        self, X: Array, y: Array, jitter: float = 1e-8, known_noise: Array | None = None
    ) -> None:
        self.X = tf.constant(X, gpflow.default_float())
        self.y = tf.constant(y, gpflow.default_float())
        added = jitter if known_noise is None else jitter + known_noise
        self.added = tf.constant(added, gpflow.default_float())

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the kernel matrices of one candidate at one θ, put side by side."""
        return int(self.X.shape[0]), int(self.X.shape[0])

    @property
    def num_rows(self) -> int:
        """Rows that it is the evidence of."""
        return int(self.X.shape[0])

    @property
    def objective(self) -> Objective:
        """How values follow from kernels, θ and tensors."""
        return _exact

    @property
    def tensors(self) -> tuple[tf.Tensor, ...]:
        """X, y, and what is added to the diagonal."""
        return self.X, self.y, self.added

    def __call__(self, bank: KernelBank, theta: tf.Tensor) -> tf.Tensor:
        """Values for θ [K, S, H]: [K, S]."""
        return _exact(bank, theta, *self.tensors)


class CollapsedEvidence:
    """Titsias' lower bound of the log evidence with inducing inputs Z [M, D].

    Known noise [N] is added to that of each row.
    """

    def __init__(
        self,
        X: Array,
        y: Array,
        Z: Array | tf.Tensor,
        jitter: float = 1e-8,
        known_noise: Array | None = None,
    ) -> None:
        dtype = gpflow.default_float()
        self.X, self.y, self.Z = (tf.convert_to_tensor(a, dtype) for a in (X, y, Z))
        self.jitter = tf.constant(jitter, dtype)
        self.known = tf.constant(0.0 if known_noise is None else known_noise, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the kernel matrices of one candidate at one θ, put side by side."""
        return int(self.Z.shape[0]), int(self.Z.shape[0] + self.X.shape[0])

    @property
    def num_rows(self) -> int:
        """Rows that it is the evidence of."""
        return int(self.X.shape[0])

    @property
    def objective(self) -> Objective:
        """How values follow from kernels, θ and tensors."""
        return _collapsed

    @property
    def tensors(self) -> tuple[tf.Tensor, ...]:
        """X, y, Z, jitter and known noise."""
        return self.X, self.y, self.Z, self.jitter, self.known

    def __call__(self, bank: KernelBank, theta: tf.Tensor) -> tf.Tensor:
        """Values for θ [K, S, H]: [K, S]."""
        return _collapsed(bank, theta, *self.tensors)


def _exact(
    kernels: Any, theta: tf.Tensor, X: tf.Tensor, y: tf.Tensor, added: tf.Tensor
) -> tf.Tensor:
    return _log_normal(kernels(theta, X), kernels.noise(theta, X) + added, y)


def _collapsed(
    kernels: Any,
    theta: tf.Tensor,
    X: tf.Tensor,
    y: tf.Tensor,
    Z: tf.Tensor,
    jitter: tf.Tensor,
    known: tf.Tensor,
) -> tf.Tensor:
    return _collapsed_bound(
        kernels(theta, Z), kernels(theta, Z, X), kernels.diag(theta, X),
        kernels.noise(theta, X) + known, y, jitter,
    )  # fmt: skip


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
@tf.custom_gradient
def _collapsed_bound(
    Kuu: tf.Tensor,
    Kuf: tf.Tensor,
    Kff_diag: tf.Tensor,
    noise: tf.Tensor,
    y: tf.Tensor,
    jitter: tf.Tensor,
) -> tuple[tf.Tensor, Callable[..., Any]]:
    """log N(y | 0, Q + noise) − ½ tr((K − Q)/noise), Q = Kfu Kuu⁻¹ Kuf, noise per row.

    With A = L⁻¹Kuf and q(v) = N(m, P⁻¹), P = I + A noise⁻¹ Aᵀ, the best of the whitened function,
    gradients are those of the bound with q(v) held.
    """
    L = tf.linalg.cholesky(tf.linalg.set_diag(Kuu, tf.linalg.diag_part(Kuu) + jitter))
    A = tf.linalg.triangular_solve(L, Kuf)
    scaled = A * tf.math.rsqrt(noise)[..., tf.newaxis, :]
    P = tf.linalg.matmul(scaled, scaled, transpose_b=True)
    squares = tf.linalg.trace(P)
    P = tf.linalg.set_diag(P, tf.linalg.diag_part(P) + 1.0)
    root = tf.linalg.cholesky(P)
    c = tf.linalg.triangular_solve(root, tf.linalg.matvec(A, y / noise)[..., tf.newaxis])
    num_rows = tf.cast(tf.shape(y)[0], y.dtype)
    log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), axis=-1)
    log_det += tf.reduce_sum(tf.math.log(noise), axis=-1)
    fit = tf.reduce_sum(tf.square(y) / noise, axis=-1) - tf.reduce_sum(tf.square(c), axis=[-2, -1])
    slack = tf.reduce_sum(Kff_diag / noise, -1) - squares
    value = -0.5 * (num_rows * LOG_TWO_PI + log_det + fit + slack)

    def gradient(upstream: tf.Tensor) -> Any:
        m = tf.linalg.triangular_solve(root, c, adjoint=True)
        eye = tf.eye(tf.shape(P)[-1], batch_shape=tf.shape(P)[:-2], dtype=P.dtype)
        S = tf.linalg.cholesky_solve(root, eye)
        shrinkage = tf.linalg.matmul(S - eye, A)
        residuals = y - tf.reduce_sum(A * m, axis=-2)
        variance = Kff_diag + tf.reduce_sum(A * shrinkage, axis=-2)
        A_bar = m * (residuals / noise)[..., tf.newaxis, :] - shrinkage / noise[..., tf.newaxis, :]
        outer = tf.linalg.matmul(m, m, transpose_b=True) + S + P - 2.0 * eye
        scale = upstream[..., tf.newaxis]
        noise_bar = 0.5 * ((tf.square(residuals) + variance) / noise - 1.0) / noise
        return (
            scale[..., tf.newaxis] * through_factor(L, outer),
            scale[..., tf.newaxis] * tf.linalg.triangular_solve(L, A_bar, adjoint=True),
            scale * (-0.5 / noise),
            scale * noise_bar,
            None,
            None,
        )

    return value, gradient


def through_factor(L: tf.Tensor, outer: tf.Tensor) -> tf.Tensor:
    """∂/∂Kuu from Lᵀ ∂/∂L = −A_bar Aᵀ, of which the lower triangle counts: L⁻ᵀ Φ(·) L⁻¹."""
    inner = -tf.linalg.band_part(outer, -1, 0)
    inner = tf.linalg.set_diag(inner, 0.5 * tf.linalg.diag_part(inner))
    left = tf.linalg.triangular_solve(L, inner, adjoint=True)
    return tf.linalg.matrix_transpose(
        tf.linalg.triangular_solve(L, tf.linalg.matrix_transpose(left), adjoint=True)
    )
