"""Properties of the data of a selection, with probabilities from its belief."""

from __future__ import annotations

import numpy as np

from vbks.properties.properties import properties_of
from vbks.properties.results import Properties
from vbks.selection.components import MOST_AXIS_ROWS, axes_of, believed_mixture
from vbks.selection.record import SelectionRecord


def properties_of_selection(record: SelectionRecord) -> Properties:
    """What the data are like, at most `MOST_AXIS_ROWS` of their rows being looked at."""
    X, _ = record.rows.source.sample(MOST_AXIS_ROWS, np.random.default_rng(0))
    return properties_of(believed_mixture(record).average, X, axes_of(record))
