"""Targets of likelihoods that are not Gaussian: moments, densities and draws, by GPflow's rules.

Every component of a mixture has a function with means and variances [N], and a value of the
likelihood's learned parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gpflow
import numpy as np

from vbks.arrays import Array, Rows
from vbks.errors import DataError
from vbks.inference.likelihoods.likelihood import SMALLEST_VARIANCE, Likelihood

MOST_COUNTS = 1e18
"""NumPy draws no larger counts."""


def observed_moments(
    likelihood: Likelihood, parameters: Array, means: Array, variances: Array
) -> tuple[Array, Array]:
    """Means and variances [R, N] of targets, from those of functions and parameters [R]."""
    found = np.empty(means.shape), np.empty(means.shape)
    for places, own in _by_parameter(likelihood, parameters):
        moments = own.predict_mean_and_var(*_columns(means[places], variances[places]))
        for whole, part in zip(found, moments, strict=True):
            whole[places] = part.numpy().reshape(len(places), -1)
    return found


def observed_log_densities(
    likelihood: Likelihood, parameters: Array, means: Array, variances: Array, y: Array
) -> Array:
    """Log densities [R, N] of targets [N], or log probabilities if these are discrete."""
    found = np.empty(means.shape)
    for places, own in _by_parameter(likelihood, parameters):
        targets = np.tile(y, len(places))[:, np.newaxis]
        columns = _columns(means[places], variances[places])
        found[places] = own.predict_log_density(*columns, targets).numpy().reshape(len(places), -1)
    return found


def draw_targets(
    likelihood: Likelihood, parameters: Array, f: Array, rng: np.random.Generator
) -> Array:
    """Targets [S, N] drawn at functions [S, N], each with a parameter of its own [S]."""
    found = np.empty(f.shape)
    for places, own in _by_parameter(likelihood, parameters):
        found[places] = _draw_function(own, likelihood.name)(own, f[places], rng)
    return found


def draw_of(
    likelihood: gpflow.likelihoods.Likelihood, f: Array, X: Array, rng: np.random.Generator
) -> Array:
    """Targets drawn at functions [..., S, N, P] and inputs X [..., N, D]."""
    if type(likelihood) is gpflow.likelihoods.Gaussian:
        variance = likelihood.variance_at(X).numpy()[..., np.newaxis, :, :]
        return rng.normal(f, np.sqrt(variance))
    return _draw_function(likelihood, type(likelihood).__name__)(likelihood, f, rng)


def _draw_function(own: Any, name: str) -> Callable[[Any, Array, np.random.Generator], Array]:
    draw = _DRAWS.get(type(own))
    if draw is None:
        known = ", ".join(sorted(kind.__name__ for kind in _DRAWS))
        raise DataError(
            f"{name} does not say how to draw targets from it, which samples and quantiles of "
            f"targets need. Those that do: {known}. Samples and quantiles of the function, and "
            "moments of targets, can be had."
        )
    return draw


def _by_parameter(
    likelihood: Likelihood, parameters: Array
) -> Iterator[tuple[Rows, gpflow.likelihoods.Likelihood]]:
    """Components with the same parameter, and the likelihood with it."""
    values = parameters if likelihood.has_parameter else np.ones_like(parameters)
    for value in np.unique(values):
        yield np.flatnonzero(values == value), likelihood.to_gpflow(float(value))


def _columns(means: Array, variances: Array) -> tuple[Array, Array, Array]:
    """No inputs, since no likelihood here looks at them, and means and variances as columns."""
    Fmu, Fvar = means.reshape(-1, 1), np.maximum(variances, SMALLEST_VARIANCE).reshape(-1, 1)
    return Fmu[:, :0], Fmu, Fvar


def _linked(likelihood: Any, f: Array) -> Array:
    return np.asarray(likelihood.invlink(f))


def _draw_bernoulli(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    return (rng.random(f.shape) < _linked(likelihood, f)).astype(np.float64)


def _draw_beta(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    mean, scale = _linked(likelihood, f), likelihood.scale.numpy()
    return np.asarray(rng.beta(scale * mean, scale * (1.0 - mean)))


def _draw_exponential(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    return rng.exponential(_linked(likelihood, f))


def _draw_gamma(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    return rng.gamma(likelihood.shape.numpy(), _linked(likelihood, f))


def _draw_gaussian(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    variance = likelihood.variance_at(np.zeros((1, 1))).numpy().item()
    return rng.normal(f, np.sqrt(variance))


def _draw_ordinal(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    noisy = rng.normal(f, likelihood.sigma.numpy())
    return np.digitize(noisy, likelihood.bin_edges).astype(np.float64)


def _draw_poisson(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    rate = _linked(likelihood, f) * likelihood.binsize
    return np.asarray(rng.poisson(np.minimum(rate, MOST_COUNTS)), np.float64)


def _draw_student_t(likelihood: Any, f: Array, rng: np.random.Generator) -> Array:
    return np.asarray(f + likelihood.scale.numpy() * rng.standard_t(likelihood.df, f.shape))


_DRAWS: dict[type, Callable[[Any, Array, np.random.Generator], Array]] = {
    gpflow.likelihoods.Bernoulli: _draw_bernoulli,
    gpflow.likelihoods.Beta: _draw_beta,
    gpflow.likelihoods.Exponential: _draw_exponential,
    gpflow.likelihoods.Gamma: _draw_gamma,
    gpflow.likelihoods.Gaussian: _draw_gaussian,
    gpflow.likelihoods.Ordinal: _draw_ordinal,
    gpflow.likelihoods.Poisson: _draw_poisson,
    gpflow.likelihoods.StudentT: _draw_student_t,
}
"""By exact type: what derives from these may have another density."""
