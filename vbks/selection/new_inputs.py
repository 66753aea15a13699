"""New inputs of a selection, which must be of the kind that it was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.data.tables import read_inputs
from vbks.errors import DataError, GraphError
from vbks.kernels.precision import check_precision
from vbks.selection.record import SelectionRecord


def read_new_inputs(record: SelectionRecord, Xnew: Any) -> Array:
    """Inputs [N, D] in the user's units, with the columns of the fit."""
    check_precision()
    if not tf.executing_eagerly():
        raise GraphError(
            "predictions of a selection are arrays, which cannot be part of a graph. Use those "
            "of `selection.mixture`, which are tensors and have gradients."
        )
    values, labels, names, times = read_inputs(Xnew)
    if names is not None and record.feature_names is not None and names != record.feature_names:
        raise DataError(
            f"Xnew has the columns {', '.join(names)}, but the fit had "
            f"{', '.join(record.feature_names)}. Give the same columns in the same order."
        )
    if values.shape[1] != record.num_inputs:
        raise DataError(f"Xnew has {values.shape[1]} columns, but the fit had {record.num_inputs}.")
    _refuse_mixed_times(record, labels, times)
    _refuse_missing(record, labels, values)
    return values


def check_times(record: SelectionRecord, X: Any) -> None:
    """Refuse times where the fit had numbers, and numbers where it had times."""
    inputs = read_inputs(X)
    _refuse_mixed_times(record, inputs.labels, inputs.times)


def _refuse_missing(record: SelectionRecord, labels: Sequence[str], values: Array) -> None:
    """Name the first column in which there is nothing to predict from in some rows."""
    for place, column in enumerate(np.asarray(values, np.float64).T):
        rows = np.flatnonzero(~np.isfinite(column)) + 1
        if len(rows):
            known = record.feature_names
            label = labels[place] if known is None else f"column '{known[place]}'"
            what = "missing or infinite value" + "s" * (len(rows) > 1)
            where = f"the first in row {rows[0]}" if len(rows) > 1 else f"in row {rows[0]}"
            raise DataError(f"{label} has {len(rows)} {what}, {where}. Drop or fill such rows.")


def _refuse_mixed_times(
    record: SelectionRecord, labels: Sequence[str], times: Sequence[int]
) -> None:
    """Days since 1970 and the user's own numbers must not pass for each other."""
    for place in set(times) ^ set(record.time_inputs):
        now, then = ("times", "numbers") if place in times else ("numbers", "times")
        raise DataError(
            f"{labels[place]} has {now}, but had {then} when it was fitted. Give {then}."
        )
