"""Any scalar likelihood of GPflow, by its own rules."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.inference.likelihoods.description import Description, description_of
from vbks.inference.likelihoods.likelihood import NOISE_START, SMALLEST_VARIANCE, Expectations
from vbks.inference.likelihoods.scalar_checks import check_is_scalar, learnable_parameter

PROBES = np.array([0.1, 0.5, -0.4, 2.3]), np.array([0.3, -1.2, 2.1, 2.2])
"""Functions and targets at which densities are compared to see whether a parameter is a scale."""

PROBED, STRETCH, SHIFT = 0.6, 3.7, 11.3
"""The scale at `PROBES`, and the factor and the offset by which functions, targets and scale are
changed to other units."""


class GPflowLikelihood:
    """A likelihood of GPflow with one function and one column of targets.

    The first of its parameters that is a positive number and trainable is learned for every
    candidate, with the prior of slot 0 of θ in place of one that it has for GPflow. The others
    stay as they came with the object, which is copied. The function is level + scale · g, of which
    g is what moments go in for and what pseudo-targets are about; targets stay as they are.
    """

    is_gaussian = False

    def __init__(
        self,
        likelihood: gpflow.likelihoods.Likelihood,
        level: float = 0.0,
        scale: float = 1.0,
        description: Description | None = None,
    ) -> None:
        check_is_scalar(likelihood)
        self.level, self.scale = level, scale
        self.description = description_of(likelihood) if description is None else description
        self._likelihood = copy.deepcopy(likelihood)
        self.name = type(likelihood).__name__
        self.parameter_name = learnable_parameter(likelihood)
        tensor = tf.TensorSpec(None, gpflow.default_float())
        self._evaluate = tf.function(
            self._flat_expectations,
            input_signature=[tensor] * 4,
            autograph=False,
            reduce_retracing=True,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Compiled functions stay behind: a copy compiles its own, in another process or here."""
        return GPflowLikelihood, (self._likelihood, self.level, self.scale, self.description)

    def at_level(self, level: float, scale: float = 1.0) -> GPflowLikelihood:
        """The same for a function level + scale · g."""
        if (level, scale) == (self.level, self.scale):
            return self
        return GPflowLikelihood(self._likelihood, level, scale, self.description)

    @cached_property
    def scale_power(self) -> int:
        """1 or 2 where a learned scale or variance makes the density one of (y − f) / scale."""
        if self.parameter_name is None:
            return 0
        return next((power for power in (1, 2) if _is_scale(self.to_gpflow, power)), 0)

    @cached_property
    def has_identity_link(self) -> bool:
        """Whether the mean of targets is the function, or targets are the function and noise."""
        return self.scale_power > 0 or _has_identity_link(self._likelihood)

    @property
    def has_parameter(self) -> bool:
        """Whether there is a parameter to learn; otherwise the noise has no effect."""
        return self.parameter_name is not None

    @property
    def parameter_start(self) -> float:
        """The logarithm of the value that the parameter came with; zero if there is none.

        That of a scale is a third of the function's, once this is known: the share of noise that
        the prior of Gaussian noise expects.
        """
        if self.parameter_name is None:
            return 0.0
        if self.scale != 1.0 and self.scale_power:
            return self.scale_power * (math.log(self.scale) + 0.5 * math.log(NOISE_START))
        return math.log(getattr(self._likelihood, self.parameter_name).numpy().item())

    def expectations(
        self, y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor
    ) -> Expectations:
        """GPflow's variational expectations, a closed form or a quadrature, with derivatives."""
        s = self.scale
        e = Expectations(*self._evaluate(y, self.level + s * mean, s**2 * variance, noise))
        return Expectations(e.value, s * e.by_mean, s**2 * e.by_variance, e.by_noise)

    def check_targets(self, y: Array, first_row: int = 1) -> None:
        """Refuse targets to which the likelihood gives no probability, naming the first."""
        domain = self.description.domain(self._likelihood)
        if domain is None or (inside := domain.contains(y)).all():
            return
        row = int(np.argmin(inside))
        raise DataError(
            f"Row {first_row + row} has the target {y[row]}, but {self.name} takes {domain.words}. "
            f"{domain.advice}"
        )

    def pseudo_targets(self, y: Array) -> Array:
        """The g at which the mean of the likelihood is near y, or targets stand for it."""
        return np.asarray(
            (self.description.functions(self._likelihood, y) - self.level) / self.scale
        )

    def to_gpflow(self, noise: float) -> gpflow.likelihoods.Likelihood:
        """A copy with the learned parameter at a value, however near to zero."""
        likelihood = copy.deepcopy(self._likelihood)
        if self.parameter_name is not None:
            given = getattr(likelihood, self.parameter_name)
            value = np.full(given.shape, noise)
            parameter = gpflow.Parameter(value, transform=gpflow.utilities.positive())
            setattr(likelihood, self.parameter_name, parameter)
        return likelihood

    def _flat_expectations(
        self, y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor
    ) -> tuple[tf.Tensor, ...]:
        shape = tf.shape(mean)
        variance = tf.maximum(variance, SMALLEST_VARIANCE)
        y, *moving = (
            tf.reshape(tf.broadcast_to(tensor, shape), [-1])
            for tensor in (y, mean, variance, noise)
        )
        with tf.GradientTape() as tape:
            tape.watch(moving)
            value = self._values(y, *moving)
        slopes = tape.gradient(value, moving, unconnected_gradients="zero")
        return tuple(tf.reshape(tensor, shape) for tensor in (value, *slopes))

    def _values(self, *rows: tf.Tensor) -> tf.Tensor:
        """E log p(y|f) of rows [N], each with a noise of its own.

        To GPflow the parameter is one number, so it is shown one row at a time, and TensorFlow
        makes of that what works on all rows at once.
        """
        name = self.parameter_name
        if name is None:
            return _variational_expectations(self._likelihood, *rows[:3])

        def row_value(row: tuple[tf.Tensor, ...]) -> tf.Tensor:
            likelihood = copy.copy(self._likelihood)
            likelihood.__dict__[name] = tf.reshape(row[3], likelihood.__dict__[name].shape)
            return _variational_expectations(likelihood, *row[:3])[0]

        return tf.vectorized_map(row_value, rows)


def _variational_expectations(
    likelihood: gpflow.likelihoods.Likelihood, y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor
) -> tf.Tensor:
    """GPflow's, of vectors or numbers; no likelihood here looks at inputs, so there are none."""
    Y, Fmu, Fvar = (tf.reshape(tensor, [-1, 1]) for tensor in (y, mean, variance))
    return likelihood.variational_expectations(Y[:, :0], Fmu, Fvar, Y)


def _is_scale(at_value: Callable[[float], gpflow.likelihoods.Likelihood], power: int) -> bool:
    """Whether the density is one of (y − f) / s, where a parameter is that power of s."""
    before = _log_densities(at_value(PROBED**power), *PROBES)
    moved = (STRETCH * part + SHIFT for part in PROBES)
    after = _log_densities(at_value((STRETCH * PROBED) ** power), *moved)
    if before is None or after is None:
        return False
    return bool(np.allclose(after + math.log(STRETCH), before, rtol=1e-8, atol=1e-8))


def _log_densities(likelihood: gpflow.likelihoods.Likelihood, f: Array, y: Array) -> Array | None:
    """Log densities of targets [n] at functions [n], none where they cannot be computed."""
    F, Y = (tf.constant(part[:, np.newaxis], gpflow.default_float()) for part in (f, y))
    try:
        return np.ravel(likelihood.log_prob(F[:, :0], F, Y).numpy())
    except Exception:  # Code of a user may refuse in any way.
        return None


def _has_identity_link(likelihood: gpflow.likelihoods.Likelihood) -> bool:
    F = tf.constant(PROBES[0][:, np.newaxis], gpflow.default_float())
    try:
        return bool(np.allclose(likelihood.conditional_mean(F[:, :0], F), F, rtol=1e-8))
    except Exception:  # Code of a user may refuse in any way.
        return False
