"""The average over components as operations of TensorFlow, the twins of those in `averaging`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.predict.graphs.kernels import KernelGraphs, graph_bank_of
from vbks.predict.graphs.likelihoods import LikelihoodGraph
from vbks.predict.graphs.warps import (
    limited_growth,
    log_slope,
    possible_targets,
    refuse_unknown_warp,
    restored_covariance,
    restored_moments,
    restored_targets,
    safe_sqrt,
    standardised_targets,
)
from vbks.predict.posteriors.averaging import Average
from vbks.predict.posteriors.conditioning import what_is_shared
from vbks.predict.posteriors.limits import MOST_SPREADS, RARE, ROUNDING
from vbks.predict.posteriors.marginals import LEAST_VARIANCE, LOG_TWO_PI
from vbks.predict.posteriors.posteriors import ELEMENTS_AT_ONCE, ComponentKernels, Posteriors


class MixtureGraphs:
    """Moments, covariances and densities of a mixture, of standardised inputs [N, D].

    With ``differentiable`` they have gradients for the inputs. About ``rows_at_once`` rows are to
    be worked on together, by which components are put into parts.
    """

    def __init__(
        self, average: Average, rows_at_once: int, *, differentiable: bool = False
    ) -> None:
        for part in average.posteriors:
            refuse_unknown_warp(part.units.warp)
        self._parts = [
            _as_graphs(parts, differentiable)
            for parts in _together(average.posteriors, rows_at_once)
        ]
        self._weights, self._parameters = average.weights, average.parameters
        self._units = next(iter(average.data.values())).units
        self._observed = _observed(average.likelihood)
        self.variables = [variable for part in self._parts for variable in _variables_of(part)]
        """All numbers that are too many for a graph to hold."""
        if self._observed is not None:
            self.variables += self._observed.variables

    def standardised_inputs(self, X: tf.Tensor) -> tf.Tensor:
        """Inputs [..., D] in standardised units."""
        means, scales = (tf.cast(v, X.dtype) for v in (self._units.x_mean, self._units.x_scale))
        return tf.cast((X - means) / scales, gpflow.default_float())

    def of_function(self, X: tf.Tensor) -> tf.Tensor:
        """Mean and variance of the function: [N, 2]."""
        return tf.stack(_mixed(self._weights, *self._limited_moments(X, noisy=False)), axis=1)

    def of_targets(self, X: tf.Tensor) -> tf.Tensor:
        """Mean and variance of new targets: [N, 2]."""
        return tf.stack(_mixed(self._weights, *self._limited_moments(X, noisy=True)), axis=1)

    def log_density(self, rows: tf.Tensor) -> tf.Tensor:
        """Log densities [N, 1] of targets, which are the last column of the rows."""
        X, y = rows[:, :-1], rows[:, -1]
        if self._observed is None:
            terms = self._over_parts(X, lambda part, X: _gaussian_log_densities(part, X, y))[0]
        else:
            parameters = tf.constant(self._parameters, y.dtype)
            moments = self._restored(self._component_moments(X, noisy=False))
            terms = self._observed.log_densities(parameters, *moments, y)
        weights = tf.constant(np.log(self._weights)[:, np.newaxis], y.dtype)
        return tf.reduce_logsumexp(terms + weights, axis=0)[:, tf.newaxis]

    def covariance(self, X: tf.Tensor, noisy: bool) -> tf.Tensor:
        """The covariance [N, N] of the function, or of targets with Gaussian noise."""
        limited = self._component_moments(X, noisy)
        means, variances = self._restored(limited)
        within = _limited(self._weights, means, variances)
        distance = within[0] - _mixed(self._weights, *within)[0]
        shrinks = tf.where(
            within[1] < variances,
            safe_sqrt(tf.math.divide_no_nan(within[1], variances)),
            tf.ones_like(variances),
        )
        sizes = [len(part) for part in self._parts]
        total = tf.einsum("r,ri,rj->ij", self._tensor(self._weights), distance, distance)
        for part, (own, _), weights, shrink in zip(
            self._parts,
            limited,
            tf.split(self._tensor(self._weights), sizes),
            tf.split(shrinks, sizes),
            strict=True,
        ):
            _, covariance = part.joint_tensors(X)
            if noisy:
                covariance += tf.linalg.diag(part.noise_tensor(X))
            covariance = restored_covariance(part.units, own, covariance)
            total += tf.einsum("r,ri,rij,rj->ij", weights, shrink, covariance, shrink)
        return total

    def _limited_moments(self, X: tf.Tensor, noisy: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Means and variances of each component within the limits of a mixture: [R, N] each."""
        means, variances = self._restored(self._component_moments(X, noisy))
        if noisy and self._observed is not None:
            parameters = tf.constant(self._parameters, means.dtype)
            means, variances = self._observed.moments(parameters, means, variances)
        return _limited(self._weights, means, variances)

    def _component_moments(self, X: tf.Tensor, noisy: bool) -> list[tuple[tf.Tensor, tf.Tensor]]:
        """Standardised means and variances of each part, with Gaussian noise if noisy.

        Those after the warp "log" are limited, as by `without_growth`.
        """
        noisy = noisy and self._observed is None
        found = self._over_parts(X, lambda part, X: _marginals(part, X, noisy))
        units, sizes = [part.units for part in self._parts], [len(part) for part in self._parts]
        means, variances = (tf.split(values, sizes) for values in found)
        medians = tf.concat(list(map(restored_targets, units, means)), axis=0)
        middle = _weighted_quantile(self._weights, medians, 0.5)
        return [
            (limited_growth(unit, middle, *part), part[1])
            for unit, *part in zip(units, means, variances, strict=True)
        ]

    def _restored(
        self, moments: Sequence[tuple[tf.Tensor, tf.Tensor]]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Means and variances of all components in the user's units: [R, N] each."""
        pairs = zip(self._parts, moments, strict=True)
        found = [restored_moments(part.units, *own) for part, own in pairs]
        means, variances = (tf.concat(values, axis=0) for values in zip(*found, strict=True))
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

    def _tensor(self, values: Array) -> tf.Tensor:
        return tf.constant(values, gpflow.default_float())


def in_blocks(
    evaluate: Callable[[tf.Tensor], tf.Tensor], rows: tf.Tensor, num_columns: int, size: int
) -> tf.Tensor:
    """Results [N, C] of rows, of one block of these after the other."""
    num_blocks = -(-tf.shape(rows)[0] // size)
    shape = [None, num_columns]
    empty = tf.TensorArray(rows.dtype, num_blocks, infer_shape=False, element_shape=shape)

    def step(place: tf.Tensor, found: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
        block = rows[place * size : (place + 1) * size]
        return place + 1, found.write(place, evaluate(block))

    _, found = tf.while_loop(
        lambda place, _: place < num_blocks, step, (0, empty), parallel_iterations=1
    )
    return found.concat()


def _mixed(weights: Array, means: tf.Tensor, variances: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Mean and variance [N] of the mixture, the variance infinite where the mean is."""
    column = tf.constant(weights[:, np.newaxis], means.dtype)
    mean = tf.reduce_sum(column * means, axis=0)
    variance = tf.reduce_sum(column * (variances + tf.square(means - mean)), axis=0)
    infinite = tf.fill(tf.shape(mean), tf.cast(math.inf, mean.dtype))
    return mean, tf.where(tf.math.is_finite(mean), variance, infinite)


def _limited(weights: Array, means: tf.Tensor, variances: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Means and variances [R, N] within the limits of `Limits`, of which this is the twin."""
    low = _weighted_quantile(weights, means, RARE)
    high = _weighted_quantile(weights, means, 1.0 - RARE)
    sd = safe_sqrt(_weighted_quantile(weights, variances, 1.0 - RARE))
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


def _together(posteriors: Sequence[Posteriors], num_rows: int) -> Iterator[list[Posteriors]]:
    """Posteriors that can be worked on together, which makes the graph smaller."""
    for _, run in groupby(posteriors, key=lambda part: what_is_shared(part.kernels.components[0])):
        parts = list(run)
        most = ELEMENTS_AT_ONCE // (len(parts[0].Z) * num_rows)
        num = max(1, most // max(len(part) for part in parts))
        yield from (parts[start : start + num] for start in range(0, len(parts), num))


def _as_graphs(parts: Sequence[Posteriors], differentiable: bool) -> Posteriors:
    """Posteriors as one, with kernels that can be part of a graph, and matrices as variables.

    A graph must not hold them: it may be no larger than 2 GB.
    """
    components = [component for part in parts for component in part.kernels.components]
    W = [part.W for part in parts if part.W is not None]
    return Posteriors(
        ComponentKernels(components, partial(graph_bank_of, differentiable=differentiable)),
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
    possible, known = possible_targets(part.units, y)
    squares = tf.square(standardised_targets(part.units, known) - means) / variances
    log_normal = -0.5 * (LOG_TWO_PI + tf.math.log(variances) + squares)
    found = log_normal + log_slope(part.units, known)
    return (tf.where(possible, found, tf.cast(-math.inf, found.dtype)),)
