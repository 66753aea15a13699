"""Units and warps of targets as TensorFlow operations, the twins of those in `vbks.data`."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from vbks.data.units import Units
from vbks.data.warp_registry import WarpGraph, graph_of
from vbks.data.warped_normal import MOST_LOG_SD, hermite_rule
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit, Warp
from vbks.errors import GraphError
from vbks.predict.posteriors.limits import target_spread

LEAST = 1e-300
"""Variances below this count as this, so that their logarithms have a gradient."""


def refuse_unknown_warp(warp: Warp) -> None:
    """Refuse a warp that has no maps for tensors, as only its author could write them."""
    _graph_of(warp)


def restored_moments(
    units: Units, mean: tf.Tensor, variance: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Mean and variance of the user's targets where standardised ones are N(mean, variance)."""
    mean, variance = mean * units.y_scale + units.y_mean, variance * units.y_scale**2
    variance = tf.maximum(variance, 0.0)
    match units.warp:
        case Identity():
            return mean, variance
        case Log():
            variance = tf.minimum(variance, tf.constant(MOST_LOG_SD**2, variance.dtype))
            log_mean = mean + 0.5 * variance
            return tf.exp(log_mean), tf.exp(2.0 * log_mean + _log_expm1(variance))
    return _moments_by_quadrature(units.warp, mean, variance)


def restored_covariance(units: Units, mean: tf.Tensor, covariance: tf.Tensor) -> tf.Tensor:
    """Covariances [R, N, N] of the user's targets where standardised ones are jointly normal."""
    mean, covariance = mean * units.y_scale + units.y_mean, covariance * units.y_scale**2
    match units.warp:
        case Identity():
            return covariance
        case Log():
            return _lognormal_covariance(mean, covariance)
    raise GraphError(
        f"covariances after the warp '{units.warp.name}' have no gradient and cannot be part of a "
        "graph. Leave out full_cov, or give Xnew as an array."
    )


def safe_sqrt(values: tf.Tensor) -> tf.Tensor:
    """Square roots of v ≥ 0, whose gradient at zero is zero and not infinite."""
    positive = values > 0.0
    roots = tf.sqrt(tf.where(positive, values, tf.ones_like(values)))
    return tf.where(positive, roots, tf.zeros_like(values))


def possible_targets(units: Units, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Which targets [N] the warp takes, and these, with one that it takes in place of the others.

    What is infinite for the others would make gradients of all not a number.
    """
    low, high = units.warp.domain
    possible = (y > low) & (y < high)
    return possible, tf.where(possible, y, restored_targets(units, tf.zeros_like(y)))


def limited_growth(
    units: Units, middle: tf.Tensor, means: tf.Tensor, variances: tf.Tensor
) -> tf.Tensor:
    """Standardised means that are limited after the warp "log", the twin of `limit_growth`."""
    if units.warp != Log():
        return means
    most = MOST_LOG_SD + tf.math.log(tf.maximum(middle, 0.0) + target_spread(units))
    log_variances = tf.minimum(variances * units.y_scale**2, MOST_LOG_SD**2)
    return tf.minimum(means, (most - 0.5 * log_variances - units.y_mean) / units.y_scale)


def restored_targets(units: Units, z: tf.Tensor) -> tf.Tensor:
    """Standardised targets in the user's units, element by element."""
    return _graph_of(units.warp).inverse(units.warp, z * units.y_scale + units.y_mean)


def standardised_targets(units: Units, y: tf.Tensor) -> tf.Tensor:
    """Targets with mean 0 and variance 1 after the warp, element by element."""
    return (_graph_of(units.warp).forward(units.warp, y) - units.y_mean) / units.y_scale


def log_slope(units: Units, y: tf.Tensor) -> tf.Tensor:
    """log dz/dy of standardised targets z, which is -∞ where the warp takes no target."""
    low, high = units.warp.domain
    slope = _graph_of(units.warp).log_slope(units.warp, y) - math.log(units.y_scale)
    return tf.where((y > low) & (y < high), slope, tf.cast(-math.inf, y.dtype))


def _graph_of(warp: Warp) -> WarpGraph:
    """The maps of a warp for tensors: ours, or those that it was registered with."""
    # By exact type: what derives from a warp of vbks may be another map.
    graph = _GRAPHS.get(type(warp)) or graph_of(warp)
    if graph is None:
        raise GraphError(
            f"the warp '{warp.name}' cannot be exported or differentiated: it has no maps for "
            "tensors. Use a candidate without it, or register the warp with graph=."
        )
    return graph


def _moments_by_quadrature(
    warp: Warp, mean: tf.Tensor, variance: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Moments relative to g⁻¹(μ), at all nodes at once."""
    inverse = _graph_of(warp).inverse
    nodes, roots = (tf.constant(values, mean.dtype) for values in hermite_rule())
    points = mean[..., tf.newaxis] + safe_sqrt(variance)[..., tf.newaxis] * nodes
    centre = inverse(warp, mean)
    gaps = roots * (inverse(warp, points) - centre[..., tf.newaxis])
    shift = tf.linalg.matvec(gaps, roots)
    square = tf.reduce_sum(tf.square(gaps), axis=-1)
    return centre + shift, tf.maximum(square - tf.square(shift), 0.0)


def _lognormal_covariance(mean: tf.Tensor, covariance: tf.Tensor) -> tf.Tensor:
    """Products of two means times exp(Σᵢⱼ) - 1, with standard deviations up to `MOST_LOG_SD`."""
    variances = tf.maximum(tf.linalg.diag_part(covariance), MOST_LOG_SD**2)
    shrink = MOST_LOG_SD / tf.sqrt(variances)
    covariance *= shrink[..., :, tf.newaxis] * shrink[..., tf.newaxis, :]
    means = tf.exp(mean + 0.5 * tf.linalg.diag_part(covariance))
    return means[..., :, tf.newaxis] * means[..., tf.newaxis, :] * tf.math.expm1(covariance)


def _log_expm1(values: tf.Tensor) -> tf.Tensor:
    """log(exp(v) - 1) of v ≥ 0, which is finite also where exp(v) is not."""
    values = tf.maximum(values, LEAST)
    return values + tf.math.log(-tf.math.expm1(-values))


def _log(values: tf.Tensor) -> tf.Tensor:
    """Logarithms, -∞ of what is not above 0."""
    return tf.math.log(tf.maximum(values, 0.0))


def _logit_inverse(warp: Any, z: tf.Tensor) -> tf.Tensor:
    """Targets between the bounds, counted from the nearer one so that no digit is lost."""
    width = warp.high - warp.low
    below, above = warp.low + width * tf.sigmoid(z), warp.high - width * tf.sigmoid(-z)
    return tf.where(z < 0.0, below, above)


def _log_rise(warp: Any, y: tf.Tensor) -> tf.Tensor:
    """log(1 - exp(-y/s)), to all digits where y/s is small, even where it underflows."""
    ratio = tf.maximum(y, 0.0) / warp.scale
    rise = tf.math.divide_no_nan(-tf.math.expm1(-ratio), ratio)
    rise = tf.where(ratio > 0.0, rise, tf.ones_like(ratio))
    return _log(y) - math.log(warp.scale) + tf.math.log(rise)


_GRAPHS: dict[type, WarpGraph] = {
    Identity: WarpGraph(
        inverse=lambda warp, z: z,
        forward=lambda warp, y: y,
        log_slope=lambda warp, y: tf.zeros_like(y),
    ),
    Log: WarpGraph(
        inverse=lambda warp, z: tf.exp(z),
        forward=lambda warp, y: _log(y),
        log_slope=lambda warp, y: -_log(y),
    ),
    InverseSoftplus: WarpGraph(
        inverse=lambda warp, z: warp.scale * tf.math.softplus(z / warp.scale),
        forward=lambda warp, y: tf.maximum(y, 0.0) + warp.scale * _log_rise(warp, y),
        log_slope=lambda warp, y: -_log_rise(warp, y),
    ),
    Logit: WarpGraph(
        inverse=_logit_inverse,
        forward=lambda warp, y: _log(y - warp.low) - _log(warp.high - y),
        log_slope=lambda warp, y: (
            math.log(warp.high - warp.low) - _log(y - warp.low) - _log(warp.high - y)
        ),
    ),
}
