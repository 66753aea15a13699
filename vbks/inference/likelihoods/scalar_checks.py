"""Which likelihoods of GPflow are scalar: one function, one column of targets, no inputs."""

from __future__ import annotations

import gpflow
import numpy as np
import tensorflow as tf

from vbks.errors import DataError

FAR = 100.0
"""An unconstrained value at which Softplus and Exp are all but at the ends of their ranges."""


def learnable_parameter(likelihood: gpflow.likelihoods.Likelihood) -> str | None:
    """The name of the first parameter that may be trained and be any positive number."""
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


def check_is_scalar(likelihood: gpflow.likelihoods.Likelihood) -> None:
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
