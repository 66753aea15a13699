"""What bounds need of a likelihood, and Gaussian noise in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import gpflow
import tensorflow as tf
from gpflow.config import default_likelihood_positive_minimum

from vbks.arrays import Array

LOG_TWO_PI = math.log(2.0 * math.pi)

NOISE_START = 0.1
"""A tenth of the variance of standardised targets, which is what our prior of noise expects."""

SMALLEST_VARIANCE = 1e-12
"""Smallest variance of f: rounding gives about -1e-16 where data leave no doubt, and quadrature
takes the root."""


class Expectations(NamedTuple):
    """E log p(y|f) for f ~ N(mean, variance), and its derivatives, each [..., B]."""

    value: tf.Tensor
    by_mean: tf.Tensor
    by_variance: tf.Tensor
    by_noise: tf.Tensor


class Likelihood(Protocol):
    """A likelihood, as far as the bounds need it.

    It has at most one parameter that is learned for every candidate, whose logarithm is slot 0 of
    θ; that of a Gaussian is its variance. All bounds call this number the noise.
    """

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def is_gaussian(self) -> bool:
        """Whether the best q(u) is known in closed form."""
        ...

    @property
    def has_parameter(self) -> bool:
        """Whether the noise is learned; otherwise it has no effect, and slot 0 of θ is idle."""
        ...

    @property
    def parameter_name(self) -> str | None:
        """The name that GPflow has for the number that is learned."""
        ...

    @property
    def parameter_start(self) -> float:
        """The logarithm of the value that the parameter came with; zero if there is none."""
        ...

    def expectations(
        self, y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor
    ) -> Expectations:
        """Expectations at targets [B], moments [..., B] and the noise parameter [..., B]."""
        ...

    def check_targets(self, y: Array, first_row: int = 1) -> None:
        """Refuse targets that the likelihood cannot have drawn; rows count from the first's."""
        ...

    def pseudo_targets(self, y: Array) -> Array:
        """About where f is, from the targets alone: what a start with Gaussian noise fits."""
        ...

    def to_gpflow(self, noise: float) -> gpflow.likelihoods.Likelihood:
        """A new GPflow likelihood with the learned parameter at a value."""
        ...

    @property
    def scale_power(self) -> int:
        """The power of the targets' scale that the learned parameter is in, 0 if there is none.

        It is 1 for a standard deviation and 2 for a variance, if targets in other units have the
        same density, but for the units, with a parameter in the same units.
        """
        ...

    @property
    def has_identity_link(self) -> bool:
        """Whether the function is in the units of the targets."""
        ...

    def at_level(self, level: float, scale: float = 1.0) -> Likelihood:
        """The same for a function level + scale · g, where moments that go in are those of g."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """Normal noise, whose variance is part of θ and may depend on the inputs."""

    variance: float = NOISE_START

    name = "Gaussian"
    is_gaussian = True
    has_parameter = True
    parameter_name = "variance"
    scale_power = 2
    has_identity_link = True

    @property
    def parameter_start(self) -> float:
        """The logarithm of the variance that the likelihood came with."""
        return math.log(self.variance)

    def expectations(
        self, y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor
    ) -> Expectations:
        """E log N(y | f, noise)."""
        return Expectations(*_gaussian(y, mean, variance, noise))

    def check_targets(self, y: Array, first_row: int = 1) -> None:
        """Any number may be a target."""

    def pseudo_targets(self, y: Array) -> Array:
        """The targets themselves."""
        return y

    def to_gpflow(self, noise: float) -> gpflow.likelihoods.Gaussian:
        """GPflow's Gaussian, with a lower bound of its variance that leaves room for this one."""
        bound = min(default_likelihood_positive_minimum(), 0.5 * noise)
        return gpflow.likelihoods.Gaussian(noise, variance_lower_bound=bound)

    def at_level(self, level: float, scale: float = 1.0) -> Gaussian:
        """The same: standardised targets have no level and no scale."""
        return self


@tf.function(autograph=False, reduce_retracing=True)
def _gaussian(
    y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    squares = tf.square(y - mean) + variance
    value = -0.5 * (LOG_TWO_PI + tf.math.log(noise) + squares / noise)
    by_variance = tf.broadcast_to(-0.5 / noise, tf.shape(value))
    return value, (y - mean) / noise, by_variance, 0.5 * (squares / noise - 1.0) / noise
