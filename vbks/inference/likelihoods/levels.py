"""Level and scale of the function behind targets that are not standardised, as counts or shares."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize_scalar

from vbks.arrays import Array
from vbks.data.units import SMALLEST_SPREAD
from vbks.inference.likelihoods.likelihood import SMALLEST_VARIANCE, Likelihood

ROWS = 2000
"""Rows from which a level is estimated: it is then off by a few hundredths of the spread."""

TAIL = 0.1
"""Share of the targets at either end that count as no further away than the others."""

GRID = 33
"""Levels that are compared before the best of them is refined."""


def scale_of(likelihood: Likelihood, y: Array) -> float:
    """The spread of targets [n] where the function is in their units, else 1.

    Priors and starts of kernels are made for functions that vary by about one. Tails beyond the
    `TAIL` at either end do not count, as noise may be heavy there.
    """
    if likelihood.is_gaussian or not likelihood.has_identity_link:
        return 1.0
    inner = np.clip(y, *np.quantile(y, (TAIL, 1.0 - TAIL)))
    spread = float(np.std(inner) or np.std(y))
    return spread if spread > SMALLEST_SPREAD else 1.0


def level_of(likelihood: Likelihood, y: Array, scale: float = 1.0) -> float:
    """The constant function under which targets [n] are likeliest, between the ends of all.

    Without it, a kernel that returns to zero away from the data would return to one count, or to
    even odds, and its variance would have to cover the distance to the data.
    """
    if likelihood.is_gaussian:
        return 0.0
    likelihood = likelihood.at_level(0.0, scale)
    ends = likelihood.pseudo_targets(y)
    grid = np.linspace(ends.min(), ends.max(), GRID)
    losses = np.array([_loss(level, likelihood, y) for level in grid])
    if not np.isfinite(losses).any():
        return 0.0
    best = int(np.nanargmin(losses))
    around = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    if around[0] == around[1]:
        return float(scale * grid[best])
    found = minimize_scalar(_loss, bounds=around, args=(likelihood, y), method="bounded")
    return float(scale * (found.x if found.fun <= losses[best] else grid[best]))


def _loss(level: float, likelihood: Likelihood, y: Array) -> float:
    """Minus the log likelihood of targets where the function is a constant."""
    at_all = np.ones_like(y)
    noise = math.exp(likelihood.parameter_start)
    moments = (tf.constant(value * at_all) for value in (level, SMALLEST_VARIANCE, noise))
    value = float(tf.reduce_sum(likelihood.expectations(tf.constant(y), *moments).value))
    return -value if math.isfinite(value) else math.inf
