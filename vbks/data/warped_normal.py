"""Moments of a target whose warped values are normal: y = g⁻¹(z), z ~ N(μ, Σ)."""

from __future__ import annotations

from functools import cache

import numpy as np

from vbks.arrays import Array
from vbks.data.warps import Identity, Log, Warp

NODES = 100
"""Nodes of Gauss-Hermite quadrature, as many as NumPy tests. With a softplus of scale 1 or a logit,
variances are then off by 1e-7 at most for z with a standard deviation of 3, 1e-4 for one of 5 and
0.5 % for one of 8, where an undone logit is all but a step."""

NEGLIGIBLE = 1e-15
"""Share of a variance below which the terms of highest order are left out of a series."""


MOST_LOG_SD = 2.0
"""Largest standard deviation s of log y with which moments of y are computed. Half of the mean of y
comes from beyond s standard deviations above the median, from a fortieth of all cases if s is 2:
with more, rare cases decide the mean, and moments are those of a standard deviation of 2."""


def restored_moments(warp: Warp, mean: Array, variance: Array) -> tuple[Array, Array]:
    """Mean and variance of y, element by element."""
    mean, variance = np.broadcast_arrays(mean, np.maximum(variance, 0.0))
    match warp:
        case Identity():
            return np.array(mean), np.array(variance)
        case Log():
            return _lognormal_moments(mean, variance)
    return _moments_by_quadrature(warp, mean, variance)


def restored_covariance(warp: Warp, mean: Array, covariance: Array) -> Array:
    """Covariances of y, of means [..., N] and covariances [..., N, N] of z."""
    mean, covariance = np.asarray(mean), np.asarray(covariance)
    match warp:
        case Identity():
            return covariance
        case Log():
            return _lognormal_covariance(mean, covariance)
    return _covariance_by_mehler(warp, mean, covariance)


def _lognormal_moments(mean: Array, variance: Array) -> tuple[Array, Array]:
    """exp(μ + σ²/2), and its square times exp(σ²) - 1, of σ that is at most `MOST_LOG_SD`."""
    variance = np.minimum(variance, MOST_LOG_SD**2)
    log_mean = mean + 0.5 * variance
    with np.errstate(over="ignore"):
        return np.exp(log_mean), np.exp(2.0 * log_mean + _log_expm1(variance))


def _lognormal_covariance(mean: Array, covariance: Array) -> Array:
    """Products of two means times exp(Σᵢⱼ) - 1, infinite but never NaN where they overflow.

    Correlations of log y stay where its standard deviations are limited.
    """
    sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), MOST_LOG_SD**2))
    covariance = covariance * _outer(np.multiply, MOST_LOG_SD / sd)
    log_mean = mean + 0.5 * np.diagonal(covariance, axis1=-2, axis2=-1)
    log_size = _outer(np.add, log_mean) + _log_expm1(covariance)
    with np.errstate(over="ignore"):
        return np.asarray(np.sign(covariance) * np.exp(log_size))


def _log_expm1(values: Array) -> Array:
    """log |exp(v) - 1|, which is finite also where exp(v) is not."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(values, 0.0) + np.log(-np.expm1(-np.abs(values))))


def _moments_by_quadrature(warp: Warp, mean: Array, variance: Array) -> tuple[Array, Array]:
    """Moments relative to g⁻¹(μ), node by node, so that memory stays that of the arguments."""
    sd, centre = np.sqrt(variance), warp.inverse(mean)
    shift, square = np.zeros(mean.shape), np.zeros(mean.shape)
    for node, root in zip(*hermite_rule(), strict=True):
        gap = warp.inverse(mean + sd * node) - centre
        shift = shift + root**2 * gap
        square = square + (root * gap) ** 2
    return centre + shift, np.maximum(square - shift**2, 0.0)


def _covariance_by_mehler(warp: Warp, mean: Array, covariance: Array) -> Array:
    """Σₖ aᵢₖ aⱼₖ ρᵢⱼᵏ over k ≥ 1, where g⁻¹(μᵢ + σᵢ t) = Σₖ aᵢₖ hₖ(t).

    hₖ are the Hermite polynomials that are orthonormal under N(0, 1). With as many of them as
    nodes, variances are those of the quadrature, and the sum is positive semi-definite.
    """
    nodes, roots = hermite_rule()
    sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
    gaps = warp.inverse(mean[..., np.newaxis] + sd[..., np.newaxis] * nodes)
    gaps = gaps - warp.inverse(mean)[..., np.newaxis]
    coefficients = (roots * gaps) @ _hermite_table().T
    correlation = _correlation(covariance, sd)
    total = np.zeros(correlation.shape)
    for k in reversed(range(1, _num_terms(coefficients))):
        total += _outer(np.multiply, coefficients[..., k])
        total *= correlation
    return total


def _num_terms(coefficients: Array) -> int:
    """Terms up to the last that a variance needs, of coefficients [..., NODES]."""
    squares = coefficients[..., 1:] ** 2
    rest = np.cumsum(squares[..., ::-1], axis=-1)[..., ::-1]
    needed = np.any(rest > NEGLIGIBLE * rest[..., :1], axis=tuple(range(rest.ndim - 1)))
    return 1 + int(np.count_nonzero(needed))


def _correlation(covariance: Array, sd: Array) -> Array:
    """Correlations, 0 with what has no variance."""
    scale = _outer(np.multiply, sd)
    known = np.divide(covariance, scale, out=np.zeros(covariance.shape), where=scale > 0)
    return np.clip(known, -1.0, 1.0)


def _outer(operation: np.ufunc, values: Array) -> Array:
    """An operation on all pairs of values [..., N]: [..., N, N]."""
    return np.asarray(operation(values[..., :, np.newaxis], values[..., np.newaxis, :]))


@cache
def hermite_rule() -> tuple[Array, Array]:
    """Nodes of a quadrature under N(0, 1), and the square roots of their weights."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)  # type: ignore[no-untyped-call]
    return nodes, np.sqrt(weights / weights.sum())


@cache
def _hermite_table() -> Array:
    """Values of all hₖ at the nodes times the roots of the weights: [NODES, NODES], orthogonal."""
    nodes, roots = hermite_rule()
    table = [roots, nodes * roots]
    for k in range(1, NODES - 1):
        table.append((nodes * table[k] - np.sqrt(k) * table[k - 1]) / np.sqrt(k + 1))
    return np.stack(table)
