"""Likelihoods: Gaussian noise in closed form, any other scalar one of GPflow by its own rules."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.config import default_likelihood_positive_minimum

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.inference.likelihoods.targets import LINKS, ONE_AGAINST_THE_REST, domain_of

LOG_TWO_PI = math.log(2.0 * math.pi)

NOISE_START = 0.1
"""A tenth of the variance of standardised targets, which is what our prior of noise expects."""

SMALLEST_VARIANCE = 1e-12
"""Smallest variance of f: rounding gives about -1e-16 where data leave no doubt, and quadrature
takes the root."""

HALF_COUNT = 0.5
"""Added to counts before their logarithm is taken, so that none is a finite number."""

FAR = 100.0
"""An unconstrained value at which Softplus and Exp are all but at the ends of their ranges."""


PROBES = np.array([0.1, 0.5, -0.4, 2.3]), np.array([0.3, -1.2, 2.1, 2.2])
"""Functions and targets at which densities are compared to see whether a parameter is a scale."""

PROBED, STRETCH, SHIFT = 0.6, 3.7, 11.3
"""The scale at `PROBES`, and the factor and the offset by which functions, targets and scale are
changed to other units."""


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


class GPflowLikelihood:
    """A likelihood of GPflow with one function and one column of targets.

    The first of its parameters that is a positive number and trainable is learned for every
    candidate, with the prior of slot 0 of θ in place of one that it has for GPflow. The others
    stay as they came with the object, which is copied. The function is level + scale · g, of which
    g is what moments go in for and what pseudo-targets are about; targets stay as they are.
    """

    is_gaussian = False

    def __init__(
        self, likelihood: gpflow.likelihoods.Likelihood, level: float = 0.0, scale: float = 1.0
    ) -> None:
        _check_is_scalar(likelihood)
        self.level, self.scale = level, scale
        self._likelihood = copy.deepcopy(likelihood)
        self.name = type(likelihood).__name__
        self.parameter_name = _learnable_parameter(likelihood)
        tensor = tf.TensorSpec(None, gpflow.default_float())
        self._evaluate = tf.function(
            self._flat_expectations,
            input_signature=[tensor] * 4,
            autograph=False,
            reduce_retracing=True,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Compiled functions stay behind: a copy compiles its own, in another process or here."""
        return GPflowLikelihood, (self._likelihood, self.level, self.scale)

    def at_level(self, level: float, scale: float = 1.0) -> GPflowLikelihood:
        """The same for a function level + scale · g."""
        if (level, scale) == (self.level, self.scale):
            return self
        return GPflowLikelihood(self._likelihood, level, scale)

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
        domain = domain_of(self._likelihood)
        if domain is None or (inside := domain.contains(y)).all():
            return
        row = int(np.argmin(inside))
        raise DataError(
            f"Row {first_row + row} has the target {y[row]}, but {self.name} takes {domain.words}. "
            f"{domain.advice}"
        )

    def pseudo_targets(self, y: Array) -> Array:
        """The g at which the mean of the likelihood is near y."""
        return np.asarray((self._linked(y) - self.level) / self.scale)

    def _linked(self, y: Array) -> Array:
        """The f at which the mean of the likelihood is near y, or y where its link is not known."""
        likelihood = self._likelihood
        match likelihood:
            case gpflow.likelihoods.Bernoulli():
                return np.where(y > 0, 1.0, -1.0)
            case gpflow.likelihoods.Poisson():
                mean = (y + HALF_COUNT) / likelihood.binsize
            case gpflow.likelihoods.Gamma():
                mean = y / likelihood.shape.numpy()
            case gpflow.likelihoods.Exponential() | gpflow.likelihoods.Beta():
                mean = y
            case _:
                return y
        return next((link(mean) for inverse, link in LINKS if inverse is likelihood.invlink), y)

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


def make_likelihood(likelihood: str | gpflow.likelihoods.Likelihood | Likelihood) -> Likelihood:
    """The likelihood that a text or an object of GPflow stands for; one of ours stays as it is."""
    match likelihood:
        case Gaussian() | GPflowLikelihood():
            return likelihood
        case str() if likelihood in _BY_TEXT:
            return make_likelihood(_BY_TEXT[likelihood]())
        case gpflow.likelihoods.MultiClass() | gpflow.likelihoods.Softmax():
            raise DataError(_many_classes(type(likelihood).__name__))
        case "softmax" | "multiclass":
            raise DataError(_many_classes(str(likelihood)))
        case gpflow.likelihoods.Likelihood():
            return _from_gpflow(likelihood)
    raise DataError(
        f"Unknown likelihood {likelihood!r}. Known: {', '.join(sorted(_BY_TEXT))}, "
        "or a likelihood of GPflow."
    )


def _many_classes(name: str) -> str:
    return (
        f"{name} has a function for each class, and vbks chooses kernels for one. "
        f"{ONE_AGAINST_THE_REST}"
    )


def _from_gpflow(likelihood: gpflow.likelihoods.Likelihood) -> Likelihood:
    """Ours for a Gaussian whose variance is learned, a wrapper for all others."""
    if type(likelihood) in _GAUSSIAN and _learnable_parameter(likelihood) is not None:
        return Gaussian(likelihood.variance_at(np.zeros((1, 1))).numpy().item())
    return GPflowLikelihood(likelihood)


_GAUSSIAN = (gpflow.likelihoods.Gaussian, gpflow.likelihoods.GaussianMC)
"""Exact types of Gaussian likelihoods: classes that derive from them may have another density."""


def _learnable_parameter(likelihood: gpflow.likelihoods.Likelihood) -> str | None:
    names = (name for name, value in vars(likelihood).items() if _is_learnable(value))
    return next(names, None)


def _is_learnable(value: object) -> bool:
    """Whether this is a parameter that may be trained and be any positive number."""
    if not isinstance(value, gpflow.Parameter) or value.shape.num_elements() != 1:
        return False
    if value.transform is None or not value.trainable:
        return False
    low, high, higher = value.transform.forward(tf.constant([-FAR, FAR, 2.0 * FAR], value.dtype))
    return bool(low >= 0.0 and higher > high)


def _check_is_scalar(likelihood: gpflow.likelihoods.Likelihood) -> None:
    """Refuse what does not turn one function into one column of targets, row by row."""
    name = type(likelihood).__name__
    if isinstance(likelihood, _NOT_SCALAR) or not _has_one_column(likelihood):
        raise DataError(
            f"{name} is a likelihood of several functions or several columns of targets; choose "
            "one with a single function and a single column."
        )
    if isinstance(likelihood, gpflow.likelihoods.MonteCarloLikelihood):
        raise DataError(
            f"{name} estimates its expectations from samples, and candidates cannot be compared "
            "by these; choose a likelihood with a closed form or a quadrature."
        )
    if _depends_on_inputs(likelihood):
        raise DataError(
            f"{name} has a parameter that is a function of the inputs; give it a number instead, "
            "which is learned for every kernel."
        )
    if isinstance(likelihood, gpflow.likelihoods.Ordinal) and _erf_fails():
        raise DataError(
            f"{name} gives no number for its first and last class under TensorFlow "
            f"{tf.__version__}, whose erf(∞) is NaN (its issue 108483); use another version."
        )


_NOT_SCALAR = (
    gpflow.likelihoods.SwitchedLikelihood,
    gpflow.likelihoods.HeteroskedasticTFPConditional,
)


def _has_one_column(likelihood: gpflow.likelihoods.Likelihood) -> bool:
    return all(size in (None, 1) for size in (likelihood.latent_dim, likelihood.observation_dim))


def _depends_on_inputs(likelihood: gpflow.likelihoods.Likelihood) -> bool:
    parts = likelihood.submodules
    has_function = any(isinstance(part, gpflow.functions.Function) for part in parts)
    return has_function or likelihood.input_dim is not None


def _erf_fails() -> bool:
    return bool(np.isnan(tf.math.erf(tf.constant(np.inf, gpflow.default_float()))))


_BY_TEXT: dict[str, Callable[[], gpflow.likelihoods.Likelihood | Likelihood]] = {
    "bernoulli": gpflow.likelihoods.Bernoulli,
    "beta": gpflow.likelihoods.Beta,
    "exponential": gpflow.likelihoods.Exponential,
    "gamma": gpflow.likelihoods.Gamma,
    "gaussian": Gaussian,
    "poisson": gpflow.likelihoods.Poisson,
    "student_t": gpflow.likelihoods.StudentT,
}
