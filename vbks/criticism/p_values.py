"""P-values of several statistics, from those of replicates, and what is left of them together."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array

TAIL = 0.05
"""P-values below this are told apart by how large their statistics are."""

MOST_HALVES = 1000.0
"""A p-value is halved at most this often, so that it does not become zero."""


def ranked(statistics: Array, rng: np.random.Generator) -> Array:
    """P-values [S, C] of statistics [S, C], each among those of all rows in its column.

    A large statistic has a small one. Rows with the same statistic, as counts have, are put in
    an order at random, so that p-values are uniform.
    """
    num = len(statistics)
    found = np.empty(statistics.shape)
    for column, values in enumerate(statistics.T):
        order = np.lexsort((rng.random(num), -values))
        found[order, column] = np.arange(1, num + 1) / num
    return found


def extended(statistics: Array, p_values: Array) -> Array:
    """P-values [S, C] whose smallest are told apart, by an exponential tail of each column.

    Ranks end at one in S. Beyond the quantile of `TAIL`, a p-value halves with every median excess
    of the statistic over that quantile.
    """
    found = p_values.copy()
    for column, values in enumerate(statistics.T):
        start = float(np.quantile(values, 1.0 - TAIL))
        is_beyond = (values > start) & (p_values[:, column] <= TAIL)
        excess = values[is_beyond] - start
        half = float(np.median(excess)) if len(excess) else 0.0
        if half > 0.0:
            found[is_beyond, column] = TAIL * 0.5 ** np.minimum(excess / half, MOST_HALVES)
    return found


def adjusted(p_values: Array) -> Array:
    """P-values [C] of the first row of [S, C] that hold for all columns together.

    Each is the share of rows whose smallest p-value is no larger (Westfall and Young), which knows
    how columns depend on each other: one below 0.05 comes in a twentieth of all data sets of the
    model, however many columns there are.
    """
    smallest = p_values[1:].min(axis=1)
    counts = np.count_nonzero(smallest[:, np.newaxis] <= p_values[0], axis=0)
    return np.asarray((1 + counts) / len(p_values))
