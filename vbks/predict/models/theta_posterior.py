"""The Gaussian q(θ) of hyperparameters, its prior, and how far apart the two are."""

from __future__ import annotations

from typing import Literal, TypeAlias

import gpflow
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from check_shapes import check_shapes
from gpflow import Parameter
from gpflow.base import TensorType
from gpflow.kullback_leiblers import gauss_kl
from gpflow.utilities import positive, triangular

from vbks.arrays import Array
from vbks.errors import VbksError

Covariance: TypeAlias = Literal["full", "diagonal", "point"]

INITIAL_SD = 0.1
"""q(θ) begins with this standard deviation: small beside the prior, so that training starts near
the values that the kernel came with."""


class ThetaPosterior(gpflow.Module):
    """q(θ) = N(μ, CCᵀ), with C a lower triangle, a diagonal or zero, and p(θ) = N(m, diag(s²)).

    Where C is zero, μ carries p(θ) as a GPflow prior, which makes it a MAP estimate.
    """

    @check_shapes("start: [H]")
    def __init__(
        self, start: Array, covariance: Covariance, prior_mean: TensorType, prior_sd: TensorType
    ) -> None:
        super().__init__()
        self.prior_mean = _for_each(prior_mean, start, "prior_mean")
        self.prior_sd = _for_each(prior_sd, start, "prior_sd")
        if not np.all(self.prior_sd > 0.0):
            raise VbksError(f"prior_sd must be positive, got {self.prior_sd}.")
        self.sqrt = _initial_sqrt(covariance, len(start))
        prior = tfp.distributions.Normal(self.prior_mean, self.prior_sd)
        self.mean = Parameter(start, prior=prior if self.is_point else None)

    @property
    def is_point(self) -> bool:
        """Whether C is zero."""
        return self.sqrt is None

    @property
    @check_shapes("return: [H, H]")
    def factor(self) -> tf.Tensor:
        """C."""
        if self.sqrt is None:
            return tf.zeros([len(self.prior_mean)] * 2, gpflow.default_float())
        sqrt = tf.convert_to_tensor(self.sqrt)
        return tf.linalg.diag(sqrt) if sqrt.shape.rank == 1 else sqrt

    @property
    @check_shapes("return: [H, H]")
    def covariance(self) -> tf.Tensor:
        """CCᵀ."""
        return tf.matmul(self.factor, self.factor, transpose_b=True)

    @property
    @check_shapes("return: [H]")
    def sd(self) -> tf.Tensor:
        """Standard deviations, the roots of the diagonal of CCᵀ."""
        return tf.norm(self.factor, axis=1)

    @check_shapes("eta: [H]", "return: [H]")
    def at(self, eta: tf.Tensor) -> tf.Tensor:
        """θ = Cη + μ."""
        return tf.linalg.matvec(self.factor, eta) + self.mean

    @check_shapes("return: []")
    def kl(self) -> tf.Tensor:
        """KL(q(θ)‖p(θ)), or 0 for a point, where it is infinite and left out."""
        if self.is_point:
            return tf.zeros([], gpflow.default_float())
        distance = (self.mean - self.prior_mean) / self.prior_sd
        scaled = self.factor / self.prior_sd[:, np.newaxis]
        return gauss_kl(distance[:, tf.newaxis], scaled[tf.newaxis])


def _for_each(value: TensorType, start: Array, name: str) -> Array:
    """A number for each number in θ, from one for all or from one for each."""
    value = np.asarray(value, start.dtype)
    if value.shape not in ((), start.shape):
        raise VbksError(
            f"{name} must be one number, or {len(start)} as θ has, got shape {value.shape}."
        )
    return np.array(np.broadcast_to(value, start.shape))


def _initial_sqrt(covariance: Covariance, size: int) -> Parameter | None:
    match covariance:
        case "full":
            return Parameter(INITIAL_SD * np.eye(size), transform=triangular())
        case "diagonal":
            return Parameter(np.full(size, INITIAL_SD), transform=positive())
        case "point":
            return None
    raise VbksError(f"unknown covariance '{covariance}'. Known: diagonal, full, point.")
