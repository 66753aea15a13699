"""RQ and OU as sums of long waves and short ones, which a person tells apart.

Both are SE kernels exp(−½ τ r²) averaged over precisions τ = 1/ℓ²: a gamma distribution makes RQ,
and a Lévy distribution OU. Those with ℓ above a limit are the long waves, and the others are short:
each of the two is a kernel, and they add up.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfc, erfcinv, gammainc, gammaincinv, log_ndtr

from vbks.arrays import Array

FAMILIES = ("RQ", "OU")
"""Families that have waves of many lengths."""

LIMIT = 0.1
"""Long waves are those whose lengthscale is more than this share of the range of the data."""

NODES = 8192
"""Interpolating the kernel between this many distances is exact to 10⁻⁶ of its variance."""

LEAST = 0.03
"""A leaf is left whole if less than this share of its variance would be one of the two."""


def long_waves(family: str, distances: Array, values: dict[str, Array], limit: float) -> Array:
    """The kernel at distances |x − x'| of the waves of a leaf that are longer than a limit.

    It is that at unit scale for each of the values [S], which are in the units of the distances:
    [S, ...]. Of many distances it is interpolated between `NODES` of them.
    """
    columns = {name: own[:, np.newaxis] for name, own in values.items()}
    if distances.size <= 2 * NODES:
        found = _long_waves(family, distances.ravel(), columns, limit)
        return found.reshape(-1, *distances.shape)
    nodes = np.linspace(0.0, float(distances.max()), NODES)
    table = _long_waves(family, nodes, columns, limit)
    return np.stack([np.interp(distances, nodes, row) for row in table])


def _long_waves(family: str, distance: Array, values: dict[str, Array], limit: float) -> Array:
    lengthscale = values["lengthscales"]
    if family == "RQ":
        alpha = values["alpha"]
        rate = alpha * lengthscale**2 + 0.5 * distance**2
        whole = np.exp(-alpha * np.log1p(distance**2 / (2.0 * alpha * lengthscale**2)))
        return np.asarray(whole * gammainc(alpha, rate / limit**2))
    decay, near, far = distance / lengthscale, distance / limit, limit / lengthscale
    falling = np.exp(log_ndtr(near - far) - decay)
    return np.asarray(falling + np.exp(log_ndtr(-near - far) + decay))


def long_share(family: str, values: dict[str, Array], limit: float) -> Array:
    """The share of the variance of a leaf that long waves have."""
    lengthscale = values["lengthscales"]
    if family == "RQ":
        alpha = values["alpha"]
        return np.asarray(gammainc(alpha, alpha * (lengthscale / limit) ** 2))
    return np.asarray(erfc(limit / (np.sqrt(2.0) * lengthscale)))


def typical_lengthscales(
    family: str, values: dict[str, Array], limit: float
) -> tuple[Array, Array]:
    """The median lengthscales of the long waves of a leaf, and of the short ones."""
    share = long_share(family, values, limit)
    middles = 0.5 * share, 0.5 * (1.0 + share)
    if family == "RQ":
        alpha = values["alpha"]
        long, short = (
            values["lengthscales"] * np.sqrt(alpha / gammaincinv(alpha, middle))
            for middle in middles
        )
    else:
        long, short = (
            np.sqrt(2.0) * erfcinv(middle) * values["lengthscales"] for middle in middles
        )
    return np.maximum(long, limit), np.minimum(short, limit)
