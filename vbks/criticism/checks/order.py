"""Checks of residuals that are next to each other: autocorrelation, and rows with like inputs."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from vbks.arrays import Array
from vbks.criticism.checks.check import Measured
from vbks.criticism.whitening import Residuals

MOST_LAGS = 24
"""Autocorrelations up to this lag are looked at, or up to a quarter of the rows."""


def autocorrelations(z: Array) -> Array:
    """Autocorrelations of rows of z [S, n] at lags from 1 on: [S, K]."""
    lags = range(1, 1 + max(1, min(MOST_LAGS, z.shape[1] // 4)))
    total = np.sum(z**2, axis=1)
    return np.stack([np.sum(z[:, lag:] * z[:, :-lag], axis=1) / total for lag in lags], axis=1)


def measure_autocorrelation(residuals: Residuals) -> Measured:
    """The largest autocorrelation, positive or negative, in its standard errors."""
    found = autocorrelations(residuals.z)
    n, K = residuals.z.shape[1], found.shape[1]
    scaled = found * n / np.sqrt(n - np.arange(1, K + 1))
    lag = int(np.argmax(np.abs(scaled[0])))
    return Measured(np.abs(scaled).max(axis=1), _told(residuals, float(found[0, lag]), lag + 1))


def _told(residuals: Residuals, value: float, lag: int) -> str:
    apart = "next to each other" if lag == 1 else f"{lag} rows apart"
    way = "alike" if value > 0 else "of opposite signs"
    order = f"in the order of {residuals.rows.order_name}"
    return (
        f"residuals {apart} {order} are {way} (autocorrelation {value:.2f}): rows are related in a "
        "way that the model misses"
    )


def measure_neighbours(residuals: Residuals) -> Measured | None:
    """The correlation of residuals of rows with the most similar inputs, of several inputs."""
    X = residuals.rows.ranks
    if X.shape[1] < 2:
        return None
    _, places = cKDTree(X).query(X, k=2)
    own = np.arange(len(X))
    nearest = np.where(places[:, 0] == own, places[:, 1], places[:, 0])
    z = residuals.z
    found = np.sum(z * z[:, nearest], axis=1) / np.sum(z**2, axis=1)
    way = "alike" if found[0] > 0 else "of opposite signs"
    return Measured(
        np.abs(found),
        f"residuals of rows with similar inputs are {way} (correlation {found[0]:.2f}): inputs "
        "act together in a way that the model misses",
    )
