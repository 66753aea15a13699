"""A mixture at single inputs, in the user's units: moments, densities and quantiles.

Each of its components is normal in the standardised units of its warp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from vbks.arrays import Array, Mask, Rows
from vbks.data.units import Units
from vbks.data.warped_normal import MOST_LOG_SD
from vbks.data.warps import Log
from vbks.errors import DataError

LOG_TWO_PI = math.log(2.0 * math.pi)

LEAST_VARIANCE = 1e-30
"""Components have at least this variance, in standardised units, so that a function that is known
where there is no noise has quantiles, too."""

MOST_STEPS = 200
"""Newton's method takes about five; where it fails, halving takes one for each binary digit."""

PRECISION = 1e-13
"""Quantiles are this precise, relative to the distance of the components and to their size."""


@dataclass(frozen=True, eq=False)
class WarpedGaussians:
    """Components that share a warp, at N inputs: normal in its standardised units.

    Weights are [R], means and variances [R, N].
    """

    units: Units
    weights: Array
    means: Array
    variances: Array

    def take(self, places: Rows | Mask) -> WarpedGaussians:
        """Some of the components."""
        return replace(
            self,
            weights=self.weights[places],
            means=self.means[places],
            variances=self.variances[places],
        )

    def restored(self) -> tuple[Array, Array]:
        """Means and variances in the user's units: [R, N] each."""
        return self.units.restore_moments(self.means, self.variances)

    def heavy_weight(self) -> Array:
        """Weight of the components whose tails are too heavy for moments of their own: [N]."""
        if self.units.warp != Log():
            return np.zeros(self.means.shape[1])
        return np.asarray(
            self.weights @ (np.sqrt(self.variances) * self.units.y_scale > MOST_LOG_SD)
        )

    def log_densities(self, y: Array) -> Array:
        """Log densities of targets [N], weights included: [R, N]."""
        log_slope = self.units.log_slope(y)
        z = self.units.standardise_targets(y)
        log_normal = -0.5 * (
            LOG_TWO_PI + np.log(self._variances) + (z - self.means) ** 2 / self._variances
        )
        return np.asarray(log_normal + log_slope + np.log(self.weights)[:, np.newaxis])

    def cumulative(self, y: Array) -> tuple[Array, Array]:
        """Probabilities of targets below y [Q, N], and densities there, weights included."""
        z = self.units.standardise_targets(y)[:, np.newaxis]
        sd = np.sqrt(self._variances)
        distance = (z - self.means) / sd
        density = np.exp(-0.5 * distance**2) / (math.sqrt(2.0 * math.pi) * sd)
        slope = np.exp(self.units.log_slope(y))
        return self._mixed(ndtr(distance)), self._mixed(density) * slope

    def quantiles(self, levels: Array) -> Array:
        """Quantiles of each component: [Q, R, N]."""
        steps = ndtri(levels)[:, np.newaxis, np.newaxis]
        return self.units.restore_targets(self.means + np.sqrt(self._variances) * steps)

    @property
    def _variances(self) -> Array:
        return np.maximum(self.variances, LEAST_VARIANCE)

    def _mixed(self, values: Array) -> Array:
        """Weighted sums over components of values [Q, R, N]."""
        return np.asarray(np.einsum("r,qrn->qn", self.weights, values))


def mixture_moments(weights: Array, means: Array, variances: Array) -> tuple[Array, Array]:
    """Mean and variance [N] of Σ wᵣ pᵣ, by total expectation and total variance (VBKS eq. 15)."""
    mean = weights @ means
    with np.errstate(invalid="ignore"):
        variance = weights @ (variances + (means - mean) ** 2)
    return mean, np.where(np.isfinite(mean), variance, np.inf)


def mixture_log_density(parts: Sequence[WarpedGaussians], y: Array) -> Array:
    """Log densities of targets [N] under a mixture."""
    terms = np.concatenate([part.log_densities(y) for part in parts])
    return np.asarray(logsumexp(terms, axis=0))


def quantile_levels(quantiles: Sequence[float]) -> Array:
    """Levels [Q] that were asked for, if they are between 0 and 1."""
    try:
        levels = np.asarray(quantiles, np.float64)
    except (TypeError, ValueError):
        levels = np.zeros(0)
    if levels.ndim != 1 or not len(levels) or not np.all((levels > 0.0) & (levels < 1.0)):
        raise DataError(f"quantiles are {quantiles!r}, expected numbers between 0 and 1.")
    return levels


def mixture_quantiles(parts: Sequence[WarpedGaussians], levels: Array) -> Array:
    """Quantiles of a mixture at levels [Q]: [N, Q].

    They lie between those of the components. Newton's steps are taken on the scale where a normal
    distribution is a straight line; one that leaves the bracket, or is not half as long as the one
    before, gives way to the middle of the bracket.
    """
    ends = np.concatenate([part.quantiles(levels) for part in parts], axis=1)
    weights = np.concatenate([part.weights for part in parts])
    low, high = ends.min(axis=1), ends.max(axis=1)
    y = np.clip(np.einsum("r,qrn->qn", weights, ends) / weights.sum(), low, high)
    tolerance = PRECISION * (high - low)
    last = high - low
    for _ in range(MOST_STEPS):
        step = _newton_step(parts, y, levels[:, np.newaxis])
        low, high = np.where(step >= 0.0, y, low), np.where(step <= 0.0, y, high)
        good = (y + step >= low) & (y + step <= high) & (np.abs(step) <= 0.5 * last)
        moved = np.where(good, y + step, 0.5 * (low + high))
        last = np.abs(moved - y)
        y = moved
        if np.all(last <= tolerance + PRECISION * np.abs(y)):
            break
    return np.asarray(y.T)


def _newton_step(parts: Sequence[WarpedGaussians], y: Array, levels: Array) -> Array:
    """Steps towards the quantiles, infinite where the density is zero: [Q, N]."""
    found = [part.cumulative(y) for part in parts]
    below, density = (np.sum(values, axis=0) for values in zip(*found, strict=True))
    probit = ndtri(np.clip(below, 0.0, 1.0))
    slope = np.exp(-0.5 * probit**2) / math.sqrt(2.0 * math.pi)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = (ndtri(levels) - probit) * (slope / density)
    return np.where(np.isfinite(step), step, np.where(below < levels, np.inf, -np.inf))
