"""The units of a data set: inputs and targets are standardised once and told back in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array


@dataclass(frozen=True)
class Units:
    """Means and standard deviations that turn rows into standardised ones and back.

    A constant input has scale 1, so that it becomes zero.
    """

    x_mean: Array
    x_scale: Array
    y_mean: float
    y_scale: float

    @classmethod
    def of(cls, X: Array, y: Array) -> Units:
        """The units of inputs [N, D] and targets [N]."""
        x_scale = X.std(axis=0)
        y_scale = float(y.std())
        return cls(
            X.mean(axis=0), np.where(x_scale > 0, x_scale, 1.0), float(y.mean()), y_scale or 1.0
        )

    def standardise_inputs(self, X: Array) -> Array:
        """Inputs with mean 0 and variance 1: [N, D]."""
        return np.asarray((X - self.x_mean) / self.x_scale)

    def standardise_targets(self, y: Array) -> Array:
        """Targets with mean 0 and variance 1: [N]."""
        return np.asarray((y - self.y_mean) / self.y_scale)

    def restore_targets(self, y: Array) -> Array:
        """Standardised targets in the user's units: [N]."""
        return np.asarray(y * self.y_scale + self.y_mean)
