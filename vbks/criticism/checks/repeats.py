"""A check for rows that repeat others, and so pretend to be more than they are."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from vbks.arrays import Array, Rows
from vbks.criticism.checks.check import Measured
from vbks.criticism.whitening import Residuals

LEAST_SHARE = 1e-12
"""A target that is exactly that of another row counts as if it came this close."""

CLOSE = 0.01
"""Only targets that come closer than this share of data are looked at."""

FINEST = 12
"""Targets are taken for rounded if they have at most this many decimals, relative to their size."""

SEED = 0
"""Rounding is made up for by random digits, the same each time."""


def measure_repeats(residuals: Residuals) -> Measured | None:
    """How much closer targets come to those of other rows than the model expects.

    Each row has a partner before it, the last one with the same inputs, or else its neighbour.
    Under the model the share of data that would come at least as close to it is uniform, and
    independent for all rows. The statistic is the sum of minus the logarithms of shares below
    `CLOSE`, relative to it: a model that misses something makes many shares smaller, but only rows
    that are repeated make some of them tiny.
    """
    if not residuals.is_gaussian:
        return None
    partners = partners_of(residuals.rows.X)
    own = np.arange(1, len(partners))
    others = partners[1:]
    targets = residuals.targets.copy()
    targets[0] = _unrounded(residuals)
    mean, spread = residuals.predicted[:, own], residuals.spreads[own] * _widths(residuals.z)
    drawn = ndtr((targets[:, own] - mean) / spread)
    values = sum_of_logarithms(drawn, ndtr((targets[:, others] - mean) / spread))
    same = residuals.rows.y[own] == residuals.rows.y[others]
    return Measured(values, _told(residuals, int(same.sum()), own, others))


def _widths(z: Array) -> Array:
    """How wide residuals [S, n] are by their median: [S, 1].

    Where all are too small, as beside a huge outlier, their targets are not close for that reason.
    """
    found = np.median(np.abs(z), axis=1, keepdims=True) / ndtri(0.75)
    return np.asarray(np.maximum(found, LEAST_SHARE))


def partners_of(X: Array) -> Rows:
    """For each row of X [n, D] the last one before it with the same inputs, or its neighbour."""
    last: dict[bytes, int] = {}
    found = np.zeros(len(X), np.intp)
    for place, row in enumerate(np.ascontiguousarray(X)):
        found[place] = last.get(row.tobytes(), max(place - 1, 0))
        last[row.tobytes()] = place
    return found


def resolution(y: Array) -> float:
    """The power of ten that all targets are multiples of; zero if there is none that matters."""
    size = float(np.max(np.abs(y)))
    if size == 0.0:
        return 0.0
    leading = int(np.floor(np.log10(size)))
    for decimals in range(-leading, FINEST - leading):
        scaled = y * 10.0**decimals
        if np.allclose(scaled, np.round(scaled), rtol=0.0, atol=1e-6):
            return float(10.0**-decimals)
    return 0.0


def _unrounded(residuals: Residuals) -> Array:
    """Standardised targets with random digits below those that were written down: [n]."""
    y, step = residuals.rows.y, resolution(residuals.rows.y)
    digits = np.random.default_rng(SEED).uniform(-0.5, 0.5, len(y)) * step
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.exp(residuals.units.log_slope(y))
    return np.asarray(residuals.targets[0] + np.where(np.isfinite(slope), slope, 0.0) * digits)


def sum_of_logarithms(drawn: Array, centre: Array) -> Array:
    """Σ −log of the shares of (0, 1) as close to the centre, where they are below `CLOSE`: [S]."""
    distance = np.abs(drawn - centre)
    share = np.minimum(centre + distance, 1.0) - np.maximum(centre - distance, 0.0)
    smallness = np.log(CLOSE) - np.log(np.clip(share, LEAST_SHARE, CLOSE))
    return np.asarray(np.sum(smallness, axis=1))


def _told(residuals: Residuals, num_same: int, own: Rows, others: Rows) -> str:
    X = residuals.rows.X
    is_copy = np.all(X[own] == X[others], axis=1) & (
        residuals.rows.y[own] == residuals.rows.y[others]
    )
    if num_copies := int(is_copy.sum()):
        return (
            f"{num_copies} of {len(X)} rows repeat another row exactly: they are no further "
            "evidence, so leave them out"
        )
    if num_same:
        return (
            f"{num_same} of {len(X)} rows have the target of the row before: values are repeated "
            "rather than measured again"
        )
    return "targets come closer to those of the rows before than the noise allows"
