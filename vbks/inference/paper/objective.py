"""The local ELBO of many candidates on a minibatch, with q(u) and q(θ) as in the VBKS paper.

q(u) = N(m, C_u C_uᵀ) is that of the function's own values at the inducing inputs, not whitened, and
q(θ) = N(μ, C Cᵀ). Both are sampled: u = C_u η_u + m, θ = C η + μ. With rows weighted by N/B,

    L = E_q(θ)[ Σ N/B · E_q(u) E_p(f|u, θ) log p(y|f) − KL(q(u)‖p(u|θ)) ] − KL(q(θ)‖p(θ))

is eq. 9 of the paper for Gaussian noise, and unbiased over minibatches and samples. After an
earlier fit, whose rows are not looked at again, see `Earlier`. Shapes are [K] for candidates, [S]
for samples of θ, [U] for samples of u, which are as many as those of θ unless θ is a point.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import tensorflow as tf

from vbks.inference.result import Posterior

LOG_TWO_PI = math.log(2.0 * math.pi)


class Variables(NamedTuple):
    """What is optimised: m [K, M], C_u [K, M, M], μ [K, H] and what C is made of [K, H, H].

    C_u is a lower triangle. C is one, too, or a diagonal of which ``spread`` has the logarithm of
    its exponential less one, or zero.
    """

    mean: tf.Tensor
    root: tf.Tensor
    theta: tf.Tensor
    spread: tf.Tensor


class Fixed(NamedTuple):
    """What stays: Z [M, D], jitter [K, 1, 1], the number N of rows, p(θ), and which θ are learned.

    p(θ) has means and standard deviations [K, H]; ``used`` [K, H] is one where θ is learned.
    """

    Z: tf.Tensor
    jitter: tf.Tensor
    num_rows: tf.Tensor
    prior_mean: tf.Tensor
    prior_sd: tf.Tensor
    used: tf.Tensor


class Earlier(NamedTuple):
    """An earlier q(u) and q(θ), which stand for the rows that they were learned from.

    Old rows count as t(u) s(θ), where t(u) = q₀(u) / exp E_q₀(θ) log p(u|θ) and s(θ) = q₀(θ) /
    (p(θ) exp E_q₀(u) log p(u|θ)), so that without new rows q₀ is the best q. With them the bound is

        E log p(y|f) − KL(q(u)‖q₀(u)) − KL(q(θ)‖q₀(θ)) + R,

    and R = −½ [⟨Kuu⁻¹⟩(q, q(θ)) − ⟨Kuu⁻¹⟩(q, q₀(θ)) − ⟨Kuu⁻¹⟩(q₀, q(θ)) + ⟨Kuu⁻¹⟩(q₀, q₀(θ))] for
    the expectations of uᵀKuu⁻¹u. For a θ that is held R is zero, and this is the bound of
    streaming sparse GPs, Bui, Nguyen and Turner (2017), with fixed inducing inputs.

    ``precision`` [K, M, M] is the mean of Kuu⁻¹ over q₀(θ).
    """

    mean: tf.Tensor
    root: tf.Tensor
    theta: tf.Tensor
    factor: tf.Tensor
    precision: tf.Tensor


class Kind(NamedTuple):
    """Which bound it is: the covariance of q(θ), whether u is sampled, and what came before."""

    posterior: Posterior
    sample_inducing: bool
    has_earlier: bool = False

    @property
    def is_point(self) -> bool:
        """Whether θ has no width."""
        return self.posterior == "point"


def factor_of(posterior: Posterior, spread: tf.Tensor, used: tf.Tensor) -> tf.Tensor:
    """C [K, H, H], zero in rows and columns of θ that are not learned."""
    if posterior == "point":
        return tf.zeros_like(spread)
    if posterior == "diagonal":
        return tf.linalg.diag(tf.math.softplus(tf.linalg.diag_part(spread)) * used)
    return tf.linalg.band_part(spread, -1, 0) * used[:, :, tf.newaxis] * used[:, tf.newaxis, :]


class GivenTheta:
    """q(u) beside p(u|θ) at samples of θ [K, S, H], for any minibatches."""

    def __init__(self, kernels: Any, theta: tf.Tensor, variables: Variables, fixed: Fixed) -> None:
        self.kernels, self.theta, self.fixed, self.mean = kernels, theta, fixed, variables.mean
        self.root = tf.linalg.band_part(variables.root, -1, 0)
        Kuu = kernels(theta, fixed.Z)
        self.L = tf.linalg.cholesky(
            tf.linalg.set_diag(Kuu, tf.linalg.diag_part(Kuu) + fixed.jitter)
        )

    def kl(self) -> tf.Tensor:
        """KL(q(u)‖p(u|θ)): [K, S]."""
        M = tf.cast(tf.shape(self.mean)[-1], self.mean.dtype)
        log_det = _log_det(self.L) - _log_det(self.root)[:, tf.newaxis]
        return 0.5 * (self.quadratic(self.mean, self.root) - M) + log_det

    def quadratic(self, mean: tf.Tensor, root: tf.Tensor) -> tf.Tensor:
        """The expectation of uᵀKuu⁻¹u under N(mean, root rootᵀ): [K, S]."""
        both = tf.concat([mean[..., tf.newaxis], root], axis=-1)[:, tf.newaxis]
        shape = tf.concat([tf.shape(self.L)[:-1], tf.shape(both)[-1:]], axis=0)
        solved = tf.linalg.triangular_solve(self.L, tf.broadcast_to(both, shape))
        return tf.reduce_sum(tf.square(solved), axis=[-2, -1])

    def log_likelihood(self, X: tf.Tensor, y: tf.Tensor, eta: tf.Tensor | None) -> tf.Tensor:
        """Σ N/B · E log p(y|f) over a minibatch, at samples of u or with u integrated out: [K, U].

        η_u is [U, M]. With several samples of θ there are as many of u, one for each.
        """
        A = tf.linalg.triangular_solve(self.L, self.kernels(self.theta, self.fixed.Z, X))
        variance = self.kernels.diag(self.theta, X) - tf.reduce_sum(tf.square(A), axis=-2)
        A = tf.linalg.triangular_solve(self.L, A, adjoint=True)
        if eta is None:
            u = self.mean[:, tf.newaxis]
            spread = tf.linalg.matmul(self.root[:, tf.newaxis], A, transpose_a=True)
            variance += tf.reduce_sum(tf.square(spread), axis=-2)
        else:
            u = self.mean[:, tf.newaxis] + tf.einsum("kmn,un->kum", self.root, eta)
        mean = tf.reduce_sum(A * u[..., tf.newaxis], axis=-2)
        noise = self.kernels.noise(self.theta, X)
        rows = LOG_TWO_PI + tf.math.log(noise) + (tf.square(y - mean) + variance) / noise
        weight = self.fixed.num_rows / tf.cast(tf.shape(y)[0], y.dtype)
        return -0.5 * weight * tf.reduce_sum(rows, axis=-1)


def samples_of_theta(kind: Kind, variables: Variables, fixed: Fixed, eta: tf.Tensor) -> tf.Tensor:
    """θ = C η + μ for η [S, H]: [K, S, H]; a point has one."""
    if kind.is_point:
        return variables.theta[:, tf.newaxis]
    factor = factor_of(kind.posterior, variables.spread, fixed.used)
    return variables.theta[:, tf.newaxis] + tf.einsum("khj,sj->ksh", factor, eta)


def divergence(
    kind: Kind, here: GivenTheta, variables: Variables, fixed: Fixed, earlier: Earlier
) -> tf.Tensor:
    """What is taken off the expected log likelihood: [K, S]."""
    if not kind.has_earlier:
        return here.kl() + theta_kl(kind, variables, fixed)[:, tf.newaxis]
    kl = gaussian_kl(here.mean, here.root, earlier.mean, earlier.root)
    if kind.is_point:
        return kl[:, tf.newaxis]
    factor = factor_of(kind.posterior, variables.spread, fixed.used)
    kl += gaussian_kl(
        variables.theta, _filled(factor, fixed), earlier.theta, _filled(earlier.factor, fixed)
    )
    return kl[:, tf.newaxis] + interaction(here, earlier)


def interaction(here: GivenTheta, earlier: Earlier) -> tf.Tensor:
    """−R of `Earlier`, at each sample of θ: [K, S]."""
    now = here.quadratic(here.mean, here.root) - here.quadratic(earlier.mean, earlier.root)
    then = _expected(earlier.precision, here.mean, here.root) - _expected(
        earlier.precision, earlier.mean, earlier.root
    )
    return 0.5 * (now - then[:, tf.newaxis])


def theta_kl(kind: Kind, variables: Variables, fixed: Fixed) -> tf.Tensor:
    """KL(q(θ)‖p(θ)), and zero for a point, where it is infinite and left out: [K]."""
    if kind.is_point:
        return tf.zeros_like(variables.theta[:, 0])
    factor = factor_of(kind.posterior, variables.spread, fixed.used)
    scaled = factor / fixed.prior_sd[..., tf.newaxis]
    distance = fixed.used * (variables.theta - fixed.prior_mean) / fixed.prior_sd
    squares = tf.square(distance) + tf.reduce_sum(tf.square(scaled), axis=-1) - fixed.used
    diagonal = tf.linalg.diag_part(scaled) + 1.0 - fixed.used
    return tf.reduce_sum(0.5 * squares - tf.math.log(tf.abs(diagonal)), axis=-1)


def gaussian_kl(mean: tf.Tensor, root: tf.Tensor, other: tf.Tensor, base: tf.Tensor) -> tf.Tensor:
    """KL(N(mean, root rootᵀ)‖N(other, base baseᵀ)) of lower triangles: [K]."""
    both = tf.concat([(mean - other)[..., tf.newaxis], root], axis=-1)
    squares = tf.reduce_sum(tf.square(tf.linalg.triangular_solve(base, both)), axis=[-2, -1])
    size = tf.cast(tf.shape(mean)[-1], mean.dtype)
    return 0.5 * (squares - size) + _log_det(base) - _log_det(root)


def _filled(factor: tf.Tensor, fixed: Fixed) -> tf.Tensor:
    """A factor of q(θ) with ones where θ is not learned, so that it has an inverse."""
    return tf.linalg.set_diag(factor, tf.linalg.diag_part(factor) + 1.0 - fixed.used)


def _expected(precision: tf.Tensor, mean: tf.Tensor, root: tf.Tensor) -> tf.Tensor:
    """The expectation of uᵀPu under N(mean, root rootᵀ): [K]."""
    both = tf.concat([mean[..., tf.newaxis], root], axis=-1)
    return tf.reduce_sum(both * tf.linalg.matmul(precision, both), axis=[-2, -1])


def _log_det(root: tf.Tensor) -> tf.Tensor:
    """½ log|R Rᵀ| of a lower triangle R."""
    return tf.reduce_sum(tf.math.log(tf.abs(tf.linalg.diag_part(root))), axis=-1)
