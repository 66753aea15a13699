"""Parts of the function of a selection, averaged with its belief."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.parts.axes import axes_of_data
from vbks.parts.components import Components
from vbks.parts.decomposing import MOST_ROWS, decompose
from vbks.predict.mixture import KernelMixture
from vbks.selection.new_inputs import read_new_inputs
from vbks.selection.record import SelectionRecord
from vbks.words import Axes


def components_of(record: SelectionRecord, X: Any = None) -> Components:
    """The parts at inputs, or at rows of the data, at most `MOST_ROWS` of them."""
    if X is not None:
        return components_at(record, read_new_inputs(record, X))
    rows, _ = record.rows.source.sample(MOST_ROWS, np.random.default_rng(0))
    return components_at(record, rows)


def components_at(record: SelectionRecord, inputs: Array) -> Components:
    """The parts at inputs [N, D] in the user's units, times being days since 1970."""
    average = believed_mixture(record).average
    return decompose(average, inputs, axes_of(record), record.mean_function)


def axes_of(record: SelectionRecord) -> Axes:
    """The columns of the data."""
    X, _ = record.rows.source.sample(MOST_AXIS_ROWS, np.random.default_rng(0))
    return axes_of_data(X, record.feature_names, record.time_inputs, record.target_name)


MOST_AXIS_ROWS = 100_000
"""The range of the inputs is that of at most this many rows."""


ROUNDING = 1e-6
"""Weights that differ from probabilities by no more are the same."""


def believed_mixture(record: SelectionRecord) -> KernelMixture:
    """The average with the belief, which is that of predictions unless these are stacked."""
    kept = np.where(record.weights > 0.0, record.probabilities, 0.0)
    if np.allclose(record.weights, kept / max(kept.sum(), ROUNDING), rtol=0.0, atol=ROUNDING):
        return record.mixture
    return record.mixture_of(record.fits, record.probabilities)
