"""Predictions of new targets whose noise is known, beside the noise that was learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.data.known_noise import read_noise
from vbks.data.warps import Identity
from vbks.errors import DataError
from vbks.predict.mixture import KernelMixture
from vbks.predict.models.mean_functions import mean_values
from vbks.predict.shifted_mixture import ShiftedMixture


class NewNoise:
    """Known variances [N] of the noise of new rows X [N, D] in the user's units, under a mixture.

    It is for Gaussian noise and targets without a warp: the noise is that of targets as they are.
    """

    def __init__(self, mixture: KernelMixture, X: Array, variances: Any) -> None:
        average = mixture._average
        is_warped = any(warp != Identity() for warp in average.data)
        if is_warped or not mixture.likelihood.is_gaussian:
            raise DataError(
                "noise_variance of new rows goes with Gaussian noise and targets without a warp. "
                "Leave it out, or fit with warps=['identity']."
            )
        self.variances = read_noise(variances, len(X))
        self._average = average
        self._X = average.data[Identity()].units.standardise_inputs(X)
        is_shifted = isinstance(mixture, ShiftedMixture)
        self._mean = mean_values(mixture.mean_function, X) if is_shifted else np.zeros(len(X))

    def log_density(self, y: Array) -> Array:
        """Log densities of targets [N]: [N]."""
        if y.shape != self._mean.shape or not np.isfinite(y).all():
            raise DataError(f"targets are not {len(self._mean)} finite numbers: one for each row.")
        return self._average.log_density(self._X, y - self._mean, self.variances)

    def quantiles(self, levels: Array) -> Array:
        """Quantiles of targets at levels [Q]: [N, Q]."""
        found = self._average.quantiles(self._X, levels, True, self.variances)
        return found + self._mean[:, np.newaxis]
