"""Checks of the size of residuals: along inputs, and with the level of the target."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array
from vbks.criticism.checks.check import Measured
from vbks.criticism.whitening import Residuals
from vbks.data.warps import Identity

DEGREES = 2
"""The size of residuals may rise or fall along an input, and bend."""

END = 1 / 3
"""Sizes at the beginning and the end are those of this share of the rows."""


def measure_spread(residuals: Residuals) -> Measured:
    """How much polynomials of an input explain of the size of the residuals."""
    rows = residuals.rows
    sizes = _centred(np.abs(residuals.z))
    found = np.stack([_explained(sizes, ranks) for ranks in rows.ranks.T], axis=1)
    most = int(np.argmax(found[0]))
    name = rows.axes.name(most + 1)
    return Measured(found.max(axis=1), _told(np.abs(residuals.z[0]), rows.ranks[:, most], name))


def _explained(sizes: Array, ranks: Array) -> Array:
    """The share of sums of squares [S, n] that polynomials of ranks [n] explain: [S]."""
    basis = ranks[:, np.newaxis] ** np.arange(DEGREES + 1)
    directions, _ = np.linalg.qr(basis)
    explained = np.sum((sizes @ directions) ** 2, axis=1)
    return np.asarray(explained / np.sum(sizes**2, axis=1))


def _told(sizes: Array, ranks: Array, name: str) -> str:
    first, last = (float(np.mean(sizes[own])) for own in (ranks < END, ranks > 1.0 - END))
    middle = float(np.mean(sizes[(ranks >= END) & (ranks <= 1.0 - END)]))
    if min(first, last) <= middle <= max(first, last):
        way, ratio = ("grows", last / first) if last > first else ("shrinks", first / last)
        return f"the noise {way} along {name}, by a factor of {ratio:.1f}"
    outer = 0.5 * (first + last)
    way = "larger" if middle > outer else "smaller"
    ratio = max(middle, outer) / min(middle, outer)
    return f"the noise is {way} in the middle of {name}, by a factor of {ratio:.1f}"


def measure_warp(residuals: Residuals) -> Measured:
    """Whether residuals lean to one side, and grow with the level that was predicted.

    The largest counts as if it were as large as the next, since it may be an outlier.
    """
    next_largest = np.sort(np.abs(residuals.z), axis=1)[:, -2:-1]
    z = np.clip(residuals.z, -next_largest, next_largest)
    n = z.shape[1]
    sizes, levels = _centred(np.abs(z)), _centred(residuals.predicted)
    skewness = np.mean(_centred(z) ** 3, axis=1) / np.std(z, axis=1) ** 3 * np.sqrt(n / 6.0)
    product = np.sum(sizes * levels, axis=1)
    total = np.sqrt(np.sum(sizes**2, axis=1) * np.sum(levels**2, axis=1))
    growth = product / np.where(total > 0.0, total, 1.0) * np.sqrt(n)
    lean = float(skewness[0] + growth[0])
    return Measured(skewness**2 + growth**2, _bent(residuals, lean))


def _bent(residuals: Residuals, lean: float) -> str:
    """What residuals say that lean upwards, or downwards."""
    if not residuals.is_gaussian:
        side = "above" if lean > 0 else "below"
        return f"residuals reach further {side} than the likelihood allows"
    high, low = ("high", "low") if lean > 0 else ("low", "high")
    warp = residuals.units.warp
    now = "no warp" if warp == Identity() else f"the warp '{warp.name}'"
    advice = "; a logarithm may be right" if lean > 0 and warp == Identity() else ""
    return f"{high} targets scatter more than {low} ones: {now} is wrong for the target{advice}"


def _centred(values: Array) -> Array:
    return np.asarray(values - np.mean(values, axis=1, keepdims=True))
