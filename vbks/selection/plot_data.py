"""What pictures of a selection show, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.data.sources import Values
from vbks.data.tables import read_inputs
from vbks.data.times import instants
from vbks.errors import DataError
from vbks.predict.models.mean_functions import mean_values
from vbks.selection.record import SelectionRecord

GRID_POINTS = 400
"""A curve is drawn at this many inputs: about one for each pixel pair of a usual figure."""

BEFORE, AFTER = 0.03, 0.15
"""A curve begins and ends these shares of the range of the inputs outside of the data: what comes
next is asked for more often than what was before."""

MOST_POINTS = 2000
"""Up to this many rows are drawn; of more rows, a random sample is."""

MOST_BARS = 300
"""At most this many rows are drawn with error bars, which hide each other sooner."""

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of the 90 % band, the 50 % band and the median."""


@dataclass(frozen=True, eq=False)
class PredictedCurve:
    """Quantiles of new targets at inputs in their order, beside rows of the data.

    ``quantiles`` [G, 5] are those of `LEVELS` at ``grid`` [G]; ``x`` and ``y`` [N] are rows, and
    inputs are as they were given, numbers or instants.
    """

    grid: Values
    quantiles: Array
    x: Values
    y: Array
    input_name: str
    target_name: str = "target"


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Targets y [N] of rows that were learned from, and quantiles [N, 5] predicted for them."""

    y: Array
    quantiles: Array
    target_name: str = "target"


def predicted_curve(record: SelectionRecord, Xnew: Any = None) -> PredictedCurve:
    """The prediction over the only input: a little beyond the data, or at Xnew."""
    X, y = rows_of(record, MOST_POINTS)
    inputs = grid_beyond(X[:, 0]) if Xnew is None else read_inputs(Xnew).X[:, 0].astype(np.float64)
    order = np.argsort(inputs)
    found = record.mixture.predict_quantiles(inputs, LEVELS).numpy()
    return PredictedCurve(
        _shown(record, inputs[order]),
        found[order],
        _shown(record, X[:, 0]),
        y,
        "input" if record.feature_names is None else record.feature_names[0],
        record.target_name or "target",
    )


def predicted_rows(record: SelectionRecord, Xnew: Any = None) -> PredictedRows:
    """Predictions at the rows of the fit, for pictures of several inputs."""
    if Xnew is not None:
        raise DataError(
            f"Xnew can be drawn over one input, and there are {record.num_inputs}. Leave it "
            "out to see predictions against targets, or call predict_quantiles."
        )
    X, y = rows_of(record, MOST_BARS)
    quantiles = record.mixture.predict_quantiles(X, LEVELS).numpy()
    return PredictedRows(y, quantiles, record.target_name or "target")


def trace_of(record: SelectionRecord) -> pd.DataFrame:
    """Probabilities of candidates by the share of rows seen, or by steps of training: [T, K]."""
    trace = record.trace if record.trace is not None else _trace_of_steps(record)
    if trace is None:
        raise DataError(
            "this selection has no trace of its belief. Call vbks.fit(..., trace=10) for one."
        )
    return trace


def _trace_of_steps(record: SelectionRecord) -> pd.DataFrame | None:
    """Probabilities by steps [T, K], where training has kept them.

    Rows that came later have more steps, which are counted on.
    """
    history = () if record.training is None else record.training.history
    if not history:
        return None
    steps = np.array([point.step for point in history])
    begins = np.flatnonzero(np.diff(steps, prepend=0) <= 0)
    for begin in begins:
        steps[begin:] += steps[begin - 1]
    names = pd.MultiIndex.from_tuples(
        [(name, "identity") for name in history[0].expressions], names=["expression", "warp"]
    )
    values = np.stack([point.probabilities for point in history])
    return pd.DataFrame(values, index=pd.Index(steps, name="step"), columns=names)


def rows_of(record: SelectionRecord, most: int) -> tuple[Array, Array]:
    """Rows in the user's units: all, or ``most`` at random.

    A mean function is added to their targets again.
    """
    source = record.data[record.best.warp].source
    X, y = source.sample(most, np.random.default_rng(0))
    mean = record.mean_function
    return X, y if mean is None else y + mean_values(mean, X)


def _shown(record: SelectionRecord, x: Array) -> Values:
    """The only input as it was given: instants, or numbers."""
    return instants(x) if record.time_inputs else x


def grid_beyond(x: Array, num_points: int = GRID_POINTS) -> Array:
    """Places of the only input from a little before the data to what comes after them."""
    low, high = float(x.min()), float(x.max())
    reach = (high - low) or 1.0
    return np.linspace(low - BEFORE * reach, high + AFTER * reach, num_points)
