"""P-values of several statistics, from those of replicates, and what is left of them together."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array


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


def adjusted(p_values: Array) -> Array:
    """P-values [C] of the first row of [S, C] that hold for all columns together.

    Each is the share of rows whose smallest p-value is no larger (Westfall and Young), which knows
    how columns depend on each other: one below 0.05 comes in a twentieth of all data sets of the
    model, however many columns there are.
    """
    smallest = p_values[1:].min(axis=1)
    counts = np.count_nonzero(smallest[:, np.newaxis] <= p_values[0], axis=0)
    return np.asarray((1 + counts) / len(p_values))
