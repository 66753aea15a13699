"""How many rows lie within the intervals that all other rows predict for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.predict.leave_one_out import left_out_marginals
from vbks.predict.posteriors.averaging import Average

MOST_ROWS = 2000
"""Leave out at most this many rows, one at a time."""

LEVELS = (0.5, 0.9)
"""Central intervals that hold these shares of new targets."""


@dataclass(frozen=True)
class Coverage:
    """The share of ``num_rows`` rows within intervals that should hold the share ``level``."""

    level: float
    share: float
    num_rows: int


def coverage_of(average: Average) -> tuple[Coverage, ...]:
    """Coverage of rows left out, under the mixture; none if noise is not Gaussian.

    θ stays what it was with all rows.
    """
    if not average.likelihood.is_gaussian:
        return ()
    below = left_out_probabilities(average)
    inside = np.abs(below - 0.5)
    return tuple(
        Coverage(level, float(np.mean(inside <= 0.5 * level)), len(below)) for level in LEVELS
    )


def left_out_probabilities(average: Average, seed: int = 0) -> Array:
    """The probability of a target below that of each row, given all other rows: [N]."""
    num = min(MOST_ROWS, min(data.num_rows for data in average.data.values()))
    if any(part.W is None for part in average.posteriors):
        num = average.posteriors[0].data.num_rows
    total: Array = np.zeros(num)
    for part in average.posteriors:
        blocks = [
            marginals.cumulative(y[np.newaxis])[0][0]
            for marginals, y in left_out_marginals(part, num, seed)
        ]
        total = total + np.concatenate(blocks)
    return np.asarray(total / sum(part.weights.sum() for part in average.posteriors))
