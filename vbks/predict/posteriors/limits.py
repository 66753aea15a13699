"""Limits on what rare and growing components do to the mean and variance of a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vbks.arrays import Array, Mask
from vbks.data.units import Units
from vbks.data.warped_normal import MOST_LOG_SD
from vbks.data.warps import Log
from vbks.predict.posteriors.marginals import WarpedGaussians

RARE = 0.01
"""Components of this weight at either end of a mixture are not to decide its mean."""

MOST_SPREADS = 100.0
"""Means of rare components count as at most this many spreads of the others away from them. A
weight of `RARE` then moves the mean by one spread at most."""

ROUNDING = 1e-12
"""Sums of weights may differ by this rounding error."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Between which numbers the means of components at N inputs count, and their largest sd: [N].

    Components of a normal mixture are all inside, and then nothing is changed.
    """

    low: Array
    high: Array
    sd: Array

    @classmethod
    def of(cls, weights: Array, means: Array, variances: Array) -> Limits:
        """Limits of components with weights [R], means and variances [R, N].

        The spread is the distance between the means that leave `RARE` of the weight outside at
        either end, and the standard deviation that all but `RARE` of the weight do not exceed.
        Where that is infinite, there are no limits.
        """
        low = weighted_quantile(weights, means, RARE)
        high = weighted_quantile(weights, means, 1.0 - RARE)
        sd = np.sqrt(weighted_quantile(weights, variances, 1.0 - RARE))
        with np.errstate(invalid="ignore", over="ignore"):
            reach = MOST_SPREADS * (high - low + sd)
            low, high = low - reach, high + reach
        known = np.isfinite(low) & np.isfinite(high)
        ends = (low, -np.inf), (high, np.inf), (reach, np.inf)
        return cls(*(np.where(known, found, end) for found, end in ends))

    def apply(self, means: Array, variances: Array) -> tuple[Array, Array]:
        """Means and variances [R, N] within the limits."""
        with np.errstate(over="ignore"):
            most = self.sd**2
        return np.clip(means, self.low, self.high), np.minimum(variances, most)

    def shrink(self, covariances: Array) -> Array:
        """Covariances [R, N, N] with standard deviations within the limits, correlations as before.

        Those within the limits are not changed.
        """
        variances = np.diagonal(covariances, axis1=-2, axis2=-1)
        with np.errstate(invalid="ignore", over="ignore"):
            is_wide = variances > self.sd**2
            factor = np.where(is_wide, self.sd / np.sqrt(np.maximum(variances, 0.0)), 1.0)
        if not np.any(is_wide):
            return covariances
        return np.asarray(covariances * factor[..., :, np.newaxis] * factor[..., np.newaxis, :])

    def is_active(self, weights: Array, means: Array) -> Mask:
        """At which inputs a mean was outside: [N]."""
        outside = (means < self.low) | (means > self.high)
        return np.asarray(weights @ outside > 0.0)


def without_growth(parts: Sequence[WarpedGaussians]) -> list[WarpedGaussians]:
    """The same parts, with components after the warp "log" scaled down where they are too large.

    Their means are at most exp(`MOST_LOG_SD`) times the sum of the median of all components'
    medians and the spread of the training targets. What grows exponentially would else outweigh all
    others, however little one believes in it. Means stay on the scale of the logarithm, so that
    standard deviations keep their proportion to them.
    """
    middle = median_of_medians(parts)
    return [
        replace(part, means=limit_growth(part.units, middle, part.means, part.variances))
        for part in parts
    ]


def median_of_medians(parts: Sequence[WarpedGaussians]) -> Array:
    """The weighted median of the medians of all components: [N]."""
    medians = [part.units.restore_targets(part.means) for part in parts]
    weights = np.concatenate([part.weights for part in parts])
    return weighted_quantile(weights, np.concatenate(medians), 0.5)


def limit_growth(units: Units, middle: Array, means: Array, variances: Array) -> Array:
    """Standardised means [..., N] that are limited after the warp "log", given the median [N]."""
    if units.warp != Log():
        return means
    with np.errstate(divide="ignore"):
        most = MOST_LOG_SD + np.log(np.maximum(middle, 0.0) + target_spread(units))
    log_variances = np.minimum(variances * units.y_scale**2, MOST_LOG_SD**2)
    return np.minimum(means, (most - 0.5 * log_variances - units.y_mean) / units.y_scale)


def target_spread(units: Units) -> float:
    """From a standard deviation below the mean of the training targets to one above, unwarped."""
    return float(np.ptp(units.restore_targets(np.array([-1.0, 1.0]))))


def weighted_quantile(weights: Array, values: Array, level: float) -> Array:
    """The least of values [R, N] that weights [R] of at least ``level`` do not exceed: [N]."""
    order = np.argsort(values, axis=0, kind="stable")
    total = np.cumsum(weights[order], axis=0)
    place = np.argmax(total >= level * total[-1] - ROUNDING, axis=0)
    columns = np.arange(values.shape[1])
    return np.asarray(values[order[place, columns], columns])
