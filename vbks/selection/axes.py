"""What the columns of a selection are called, and what their numbers stand for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from vbks.arrays import Array
from vbks.data.sources import ArraySource
from vbks.parts.axes import axes_of_data
from vbks.words import Axes

if TYPE_CHECKING:
    from vbks.selection.record import SelectionRecord

MOST_ROWS = 100_000
"""Of more rows, the range of inputs is that of a random sample of this many."""


def axes_of(record: SelectionRecord) -> Axes:
    """The axes of the inputs and of the target as it was given, without a warp."""
    return axes_of_data(
        _inputs(record), record.feature_names, record.time_inputs, record.target_name
    )


def _inputs(record: SelectionRecord) -> Array:
    """Inputs [N, D] in the user's units.

    Where rows were not saved, or only pass by, these are the ends of a uniform distribution that is
    as wide as they are.
    """
    source, units = record.rows.source, record.rows.units
    if not isinstance(source, ArraySource):
        return units.restore_inputs(math.sqrt(3.0) * np.array([[-1.0], [1.0]]))
    if source.num_rows <= MOST_ROWS:
        return np.asarray(source.X, np.float64)
    return source.sample(MOST_ROWS, np.random.default_rng(0))[0]
