"""A mixture as a module of TensorFlow alone, which can be saved and served without vbks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.likelihoods import Likelihood
from vbks.models.averaging import Average
from vbks.models.conditioning import what_is_shared
from vbks.models.kernel_graphs import KernelGraphs, graph_bank_of
from vbks.models.likelihood_graphs import LikelihoodGraph
from vbks.models.limits import MOST_SPREADS, RARE, ROUNDING
from vbks.models.marginals import LEAST_VARIANCE, LOG_TWO_PI
from vbks.models.posteriors import ELEMENTS_AT_ONCE, ComponentKernels, Posteriors
from vbks.models.warp_graphs import (
    limited_growth,
    log_slope,
    refuse_unknown_warp,
    restored_moments,
    restored_targets,
    standardised_targets,
)

ROWS_AT_ONCE = 128
"""Rows that a graph works on together. It does not know how many there are, so that a bank cannot
take its terms in pieces; this keeps the arrays of long expressions at some 100 MB."""

NO_GRADIENT = "predictions of an exported mixture have no gradient for inputs"

Answer: TypeAlias = dict[str, tf.Tensor]


class ServedMixture(tf.Module):  # type: ignore[misc]
    """Predictions of a mixture as graphs, with all numbers they need as constants and variables.

    ``predict_f(Xnew)`` and ``predict_y(Xnew)`` take inputs [N, D] in the user's units and give a
    dictionary of ``mean`` and ``variance`` [N, 1]; ``predict_log_density(Xnew, Ynew)`` takes
    targets [N, 1], too, and gives one of ``log_density`` [N]. Numbers are of 64 bits. What cannot
    be predicted, as missing values and targets outside of the likelihood's, is not refused.
    """

    def __init__(self, average: Average) -> None:
        super().__init__(name="mixture")
        graphs = _Graphs(average)
        # TensorFlow saves variables that it finds here.
        self.held = graphs.variables
        D = next(iter(average.data.values())).num_inputs
        Xnew = tf.TensorSpec([None, D], tf.float64, "Xnew")
        Ynew = tf.TensorSpec([None, 1], tf.float64, "Ynew")
        self.predict_f = _function(graphs.predict_f, Xnew)
        self.predict_y = _function(graphs.predict_y, Xnew)
        self.predict_log_density = _function(graphs.predict_log_density, Xnew, Ynew)


class _Graphs:
    """The computations of `Average` as graphs.

    It is no `tf.Module`, which would save all that it finds here.
    """

    def __init__(self, average: Average) -> None:
        for part in average.posteriors:
            refuse_unknown_warp(part.units.warp)
        self._parts = [_servable(parts) for parts in _together(average.posteriors)]
        self._weights, self._parameters = average.weights, average.parameters
        self._units = next(iter(average.data.values())).units
        self._observed = _observed(average.likelihood)
        self.variables = [variable for part in self._parts for variable in _variables_of(part)]
        if self._observed is not None:
            self.variables += self._observed.variables

    def predict_f(self, Xnew: tf.Tensor) -> Answer:
        """Moments of the function."""
        return self._predict(Xnew, noisy=False)

    def predict_y(self, Xnew: tf.Tensor) -> Answer:
        """Moments of new targets."""
        return self._predict(Xnew, noisy=True)

    def predict_log_density(self, Xnew: tf.Tensor, Ynew: tf.Tensor) -> Answer:
        """Log densities of new targets."""
        rows = tf.concat([self._inputs(Xnew), tf.cast(Ynew, gpflow.default_float())], axis=1)
        found = _in_blocks(lambda rows: self._log_density(rows[:, :-1], rows[:, -1]), rows, 1)
        return {"log_density": found[:, 0]}

    def _predict(self, Xnew: tf.Tensor, noisy: bool) -> Answer:
        found = _in_blocks(lambda X: self._moments(X, noisy), self._inputs(Xnew), 2)
        return {"mean": found[:, :1], "variance": found[:, 1:]}

    def _inputs(self, Xnew: tf.Tensor) -> tf.Tensor:
        """Standardised inputs."""
        Xnew = tf.raw_ops.PreventGradient(input=Xnew, message=NO_GRADIENT)
        return tf.cast((Xnew - self._units.x_mean) / self._units.x_scale, gpflow.default_float())

    def _moments(self, X: tf.Tensor, noisy: bool) -> tf.Tensor:
        """Mean and variance of the mixture at a block of inputs: [N, 2]."""
        means, variances = self._component_moments(X, noisy)
        if noisy and self._observed is not None:
            parameters = tf.constant(self._parameters, means.dtype)
            means, variances = self._observed.moments(parameters, means, variances)
        means, variances = _limited(self._weights, means, variances)
        weights = tf.constant(self._weights[:, np.newaxis], means.dtype)
        mean = tf.reduce_sum(weights * means, axis=0)
        variance = tf.reduce_sum(weights * (variances + tf.square(means - mean)), axis=0)
        infinite = tf.fill(tf.shape(mean), tf.cast(math.inf, mean.dtype))
        variance = tf.where(tf.math.is_finite(mean), variance, infinite)
        return tf.stack([mean, variance], axis=1)

    def _log_density(self, X: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        """Log densities of targets [N] at a block of inputs: [N, 1]."""
        if self._observed is None:
            terms = self._over_parts(X, lambda part, X: _gaussian_log_densities(part, X, y))[0]
        else:
            parameters = tf.constant(self._parameters, y.dtype)
            moments = self._component_moments(X, noisy=False)
            terms = self._observed.log_densities(parameters, *moments, y)
        weights = tf.constant(np.log(self._weights)[:, np.newaxis], y.dtype)
        return tf.reduce_logsumexp(terms + weights, axis=0)[:, tf.newaxis]

    def _component_moments(self, X: tf.Tensor, noisy: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Means and variances of each component, with Gaussian noise if noisy: [R, N] each.

        Those after the warp "log" are limited, as by `without_growth`.
        """
        noisy = noisy and self._observed is None
        found = self._over_parts(X, lambda part, X: _marginals(part, X, noisy))
        units, sizes = [part.units for part in self._parts], [len(part) for part in self._parts]
        means, variances = (tf.split(values, sizes) for values in found)
        medians = tf.concat(list(map(restored_targets, units, means)), axis=0)
        middle = _weighted_quantile(self._weights, medians, 0.5)
        restored = [
            restored_moments(unit, limited_growth(unit, middle, *part), part[1])
            for unit, *part in zip(units, means, variances, strict=True)
        ]
        means, variances = (tf.concat(values, axis=0) for values in zip(*restored, strict=True))
        return means, variances

    def _over_parts(
        self, X: tf.Tensor, evaluate: Callable[[Posteriors, tf.Tensor], tuple[tf.Tensor, ...]]
    ) -> tuple[tf.Tensor, ...]:
        """Results [R, N] of all parts, one after the other, so that memory is that of one."""
        found: list[tuple[tf.Tensor, ...]] = []
        for part in self._parts:
            with tf.control_dependencies(found[-1] if found else ()):
                found.append(evaluate(part, tf.identity(X)))
        return tuple(tf.concat(results, axis=0) for results in zip(*found, strict=True))


def _limited(weights: Array, means: tf.Tensor, variances: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Means and variances [R, N] within the limits of `Limits`, of which this is the twin."""
    low = _weighted_quantile(weights, means, RARE)
    high = _weighted_quantile(weights, means, 1.0 - RARE)
    sd = tf.sqrt(_weighted_quantile(weights, variances, 1.0 - RARE))
    reach = MOST_SPREADS * (high - low + sd)
    low, high = low - reach, high + reach
    known = tf.math.is_finite(low) & tf.math.is_finite(high)
    within = tf.clip_by_value(means, low, high), tf.minimum(variances, tf.square(reach))
    return tf.where(known, within[0], means), tf.where(known, within[1], variances)


def _weighted_quantile(weights: Array, values: tf.Tensor, level: float) -> tf.Tensor:
    """The least of values [R, N] that weights [R] of at least ``level`` do not exceed: [N]."""
    columns = tf.transpose(values)
    order = tf.argsort(columns, axis=1, stable=True)
    total = tf.cumsum(tf.gather(tf.constant(weights, values.dtype), order), axis=1)
    enough = total >= level * total[:, -1:] - ROUNDING
    place = tf.argmax(tf.cast(enough, tf.int32), axis=1, output_type=tf.int32)
    return tf.gather(tf.gather(columns, order, batch_dims=1), place, batch_dims=1)


def _function(function: Callable[..., Answer], *signature: tf.TensorSpec) -> Any:
    return tf.function(function, input_signature=signature, autograph=False)


def _together(posteriors: Sequence[Posteriors]) -> Iterator[list[Posteriors]]:
    """Posteriors that can be worked on together, which makes the graph smaller."""
    for _, run in groupby(posteriors, key=lambda part: what_is_shared(part.kernels.components[0])):
        parts = list(run)
        most = ELEMENTS_AT_ONCE // (len(parts[0].Z) * ROWS_AT_ONCE)
        num = max(1, most // max(len(part) for part in parts))
        yield from (parts[start : start + num] for start in range(0, len(parts), num))


def _servable(parts: Sequence[Posteriors]) -> Posteriors:
    """Posteriors as one, with kernels that can be part of a graph, and matrices as variables.

    A graph must not hold them: it may be no larger than 2 GB.
    """
    components = [component for part in parts for component in part.kernels.components]
    W = [part.W for part in parts if part.W is not None]
    return Posteriors(
        ComponentKernels(components, graph_bank_of),
        parts[0].data,
        Z=tf.Variable(parts[0].Z, trainable=False),
        L=_stacked([part.L for part in parts]),
        m=_stacked([part.m for part in parts]),
        W=_stacked(W) if W else None,
        weights=np.concatenate([part.weights for part in parts]),
    )


def _stacked(values: Sequence[tf.Tensor]) -> tf.Variable:
    return tf.Variable(tf.concat(values, axis=0), trainable=False)


def _variables_of(part: Posteriors) -> list[tf.Variable]:
    bank = part.kernels.bank
    held = [part.L, part.m, part.Z, *([] if part.W is None else [part.W])]
    return held + (bank.variables if isinstance(bank, KernelGraphs) else [])


def _observed(likelihood: Likelihood) -> LikelihoodGraph | None:
    return None if likelihood.is_gaussian else LikelihoodGraph(likelihood)


def _marginals(part: Posteriors, X: tf.Tensor, noisy: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Means and variances of the components of a part in its standardised units: [R, N] each."""
    means, variances = part.marginal_tensors(X)
    return means, variances + part.noise_tensor(X) if noisy else variances


def _gaussian_log_densities(part: Posteriors, X: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor]:
    """Log densities of targets [N] under each component: [R, N]."""
    means, variances = _marginals(part, X, noisy=True)
    variances = tf.maximum(variances, LEAST_VARIANCE)
    squares = tf.square(standardised_targets(part.units, y) - means) / variances
    log_normal = -0.5 * (LOG_TWO_PI + tf.math.log(variances) + squares)
    return (log_normal + log_slope(part.units, y),)


def _in_blocks(
    evaluate: Callable[[tf.Tensor], tf.Tensor], rows: tf.Tensor, num_columns: int
) -> tf.Tensor:
    """Results [N, C] of rows, of one block of these after the other, in 64 bits."""
    num_blocks = -(-tf.shape(rows)[0] // ROWS_AT_ONCE)
    shape = [None, num_columns]
    empty = tf.TensorArray(tf.float64, num_blocks, infer_shape=False, element_shape=shape)

    def step(place: tf.Tensor, found: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
        block = rows[place * ROWS_AT_ONCE : (place + 1) * ROWS_AT_ONCE]
        return place + 1, found.write(place, tf.cast(evaluate(block), tf.float64))

    _, found = tf.while_loop(
        lambda place, _: place < num_blocks, step, (0, empty), parallel_iterations=1
    )
    return found.concat()
