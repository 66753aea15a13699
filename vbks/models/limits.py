"""Limits on what components of little weight do to the mean and variance of a mixture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Mask

RARE = 0.01
"""Weight of components at either end of a mixture that are not to decide its mean ..."""

MOST_SPREADS = 100.0
"""... and how far from the others they count as, in spreads of these. A weight of `RARE` then moves
the mean by one spread at most."""

ROUNDING = 1e-12
"""Of sums of weights."""


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


def weighted_quantile(weights: Array, values: Array, level: float) -> Array:
    """The least of values [R, N] that weights [R] of at least ``level`` do not exceed: [N]."""
    order = np.argsort(values, axis=0, kind="stable")
    total = np.cumsum(weights[order], axis=0)
    place = np.argmax(total >= level * total[-1] - ROUNDING, axis=0)
    columns = np.arange(values.shape[1])
    return np.asarray(values[order[place, columns], columns])
