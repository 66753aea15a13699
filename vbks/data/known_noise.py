"""Noise that is known of each row, as measurements with standard errors have it."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array
from vbks.errors import DataError

NAME = "noise_variance"
"""What messages call it."""


def read_noise(values: object, num_rows: int, name: str = NAME) -> Array:
    """Variances [N] from numbers [N] or [N, 1], or from one for all rows, or a `DataError`."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} cannot be read as numbers. Give one for each row.") from None
    if found.ndim == 0:
        found = np.full(num_rows, found)
    if found.shape not in ((num_rows,), (num_rows, 1)):
        raise DataError(
            f"{name} has the shape {list(found.shape)}, expected [{num_rows}]: the variance of the "
            "noise of each row."
        )
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0.0)))
    if len(wrong):
        raise DataError(
            f"{name} has {len(wrong)} values that are no variances, the first in row "
            f"{wrong[0] + 1}: {found.flat[wrong[0]]:g}. Give finite numbers from 0 on."
        )
    return found.reshape(num_rows).copy()
