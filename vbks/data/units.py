"""The units of a data set: inputs and targets are standardised once and told back in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from vbks.arrays import Array, Mask
from vbks.data.warped_normal import restored_covariance, restored_moments
from vbks.data.warps import Identity, Warp
from vbks.errors import DataError

ROUNDING_ULPS = 4
"""Values that span no more units in the last place than these differ by rounding alone."""

SMALLEST_SPREAD = 1e-150
"""The square of a smaller spread underflows, so that no variance could be told in its units."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean, variance and range of each column of rows that are seen block by block.

    Means are kept relative to the first row, so that a large offset costs no digits.
    """

    origin: Array
    count: int
    shift: Array
    """Means of the columns, minus the origin."""
    variance: Array
    low: Array
    high: Array

    @classmethod
    def of_nothing(cls, num_columns: int) -> Moments:
        """Moments of no rows yet."""
        zero, infinity = np.zeros(num_columns), np.full(num_columns, np.inf)
        return cls(origin=zero, count=0, shift=zero, variance=zero, low=infinity, high=-infinity)

    def including(self, rows: Array) -> Moments:
        """Moments of the rows seen so far and of more rows [N, C], merged by Chan's formula."""
        origin = self.origin if self.count else rows[0].copy()
        shifted = rows - origin
        count = self.count + len(rows)
        new = len(rows) / count
        gap = shifted.mean(axis=0) - self.shift
        between = new * (1 - new) * gap**2
        return Moments(
            origin=origin,
            count=count,
            shift=self.shift + new * gap,
            variance=(1 - new) * self.variance + new * shifted.var(axis=0) + between,
            low=np.minimum(self.low, rows.min(axis=0)),
            high=np.maximum(self.high, rows.max(axis=0)),
        )

    @property
    def mean(self) -> Array:
        """Means of the columns: [C]."""
        return np.clip(self.origin + self.shift, self.low, self.high)

    @property
    def is_constant(self) -> Mask:
        """Which columns have one value, but for rounding: [C]."""
        rounding = ROUNDING_ULPS * np.spacing(np.maximum(np.abs(self.low), np.abs(self.high)))
        return np.asarray(self.high - self.low <= np.maximum(rounding, SMALLEST_SPREAD))

    @property
    def scale(self) -> Array:
        """Standard deviations of the columns, 1 for those that are constant: [C]."""
        return np.where(self.is_constant, 1.0, np.sqrt(self.variance))


@dataclass(frozen=True, eq=False)
class Units:
    """Means and standard deviations that turn rows into standardised ones and back.

    Targets are warped first: ``y_mean`` and ``y_scale`` are those of warped targets. A constant
    input has scale 1, so that it becomes zero.
    """

    x_mean: Array
    x_scale: Array
    y_mean: float
    y_scale: float
    warp: Warp = field(default_factory=Identity)

    @classmethod
    def of(cls, X: Array, y: Array) -> Units:
        """The units of inputs [N, D] and targets [N]."""
        rows = np.column_stack([X, y])
        return cls.of_moments(Moments.of_nothing(rows.shape[1]).including(rows))

    @classmethod
    def of_moments(cls, moments: Moments) -> Units:
        """The units of rows with these moments, the target being the last column."""
        mean, scale = moments.mean, moments.scale
        return cls(mean[:-1], scale[:-1], float(mean[-1]), float(scale[-1]))

    def with_targets_as_they_are(self) -> Units:
        """The same units of the inputs, with targets that are neither warped nor standardised."""
        return replace(self, y_mean=0.0, y_scale=1.0, warp=Identity())

    def with_warp(self, warp: Warp, warped: Moments) -> Units:
        """The same units of the inputs, with targets that have these moments after a warp."""
        mean, scale = float(warped.mean[0]), float(warped.scale[0])
        return replace(self, y_mean=mean, y_scale=scale, warp=warp)

    def standardise_inputs(self, X: Array) -> Array:
        """Inputs with mean 0 and variance 1: [N, D]."""
        return np.asarray((X - self.x_mean) / self.x_scale)

    def standardise_targets(self, y: Array) -> Array:
        """Targets with mean 0 and variance 1 after the warp: [N]."""
        return np.asarray((self.warp.forward(y) - self.y_mean) / self.y_scale)

    def restore_inputs(self, X: Array) -> Array:
        """Standardised inputs in the user's units: [N, D]."""
        return np.asarray(X * self.x_scale + self.x_mean)

    def restore_targets(self, y: Array) -> Array:
        """Standardised targets, or quantiles of them, in the user's units: [N]."""
        return self.warp.inverse(y * self.y_scale + self.y_mean)

    def restore_variances(self, variances: Array) -> Array:
        """Variances of standardised targets in the square of the user's units: [N].

        After a warp they depend on the means, too, and `restore_moments` is to be used.
        """
        if self.warp != Identity():
            raise DataError(
                f"variances alone cannot be restored after the warp '{self.warp.name}'. "
                "Use restore_moments with means and variances."
            )
        return np.asarray(variances * self.y_scale**2)

    def restore_moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Mean and variance of the user's targets where standardised ones are N(mean, variance)."""
        return restored_moments(
            self.warp, mean * self.y_scale + self.y_mean, variance * self.y_scale**2
        )

    def restore_covariance(self, mean: Array, covariance: Array) -> Array:
        """Covariances [..., N, N] of the user's targets where standardised ones are jointly normal.

        Their means are [..., N] and their covariances [..., N, N].
        """
        return restored_covariance(
            self.warp, mean * self.y_scale + self.y_mean, covariance * self.y_scale**2
        )

    def log_slope(self, y: Array) -> Array:
        """log dz/dy of standardised targets z, which log p(z) needs to become log p(y): [N].

        It is -∞ for targets that the warp does not take: they have no density.
        """
        return np.asarray(self.warp.log_slope(y) - np.log(self.y_scale))
