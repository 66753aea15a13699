"""Inputs to predict at: rows or batches of rows, as arrays or as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.data.tables import read_inputs
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.errors import DataError


@dataclass(frozen=True, eq=False)
class NewInputs:
    """Standardised rows [B·N, D] and the shape [..., N] that they came in.

    Rows are a tensor where they were given as one, so that gradients flow back to it, or where a
    graph is traced.
    """

    rows: Array | tf.Tensor
    shape: Sequence[int] | tf.Tensor
    rank: int
    """Number of axes of the shape."""

    @property
    def is_tensor(self) -> bool:
        """Whether gradients may be asked for."""
        return bool(tf.is_tensor(self.rows))

    @property
    def is_symbolic(self) -> bool:
        """Whether a graph is traced, so that rows have no values yet."""
        return not tf.executing_eagerly()

    @property
    def array(self) -> Array:
        """The values of the rows."""
        return np.asarray(self.rows)

    def with_targets(self, Ynew: Any) -> Array | tf.Tensor:
        """Rows with targets, which are [..., N] or [..., N, 1], as their last column."""
        is_tensor = self.is_tensor or tf.is_tensor(Ynew)
        Y = tf.cast(Ynew, gpflow.default_float()) if is_tensor else np.asarray(Ynew, np.float64)
        shape = [*self.shape] if not tf.is_tensor(self.shape) else [None] * self.rank
        if not any(_is_compatible(Y.shape, sizes) for sizes in (shape, [*shape, 1])):
            raise DataError(
                f"Ynew has the shape {list(Y.shape)}, expected {[*shape, 1]}: a target for each "
                "row of Xnew."
            )
        if not is_tensor:
            return np.column_stack([self.rows, Y.reshape(-1)])
        return tf.concat([self.rows, tf.reshape(Y, [-1, 1])], axis=1)

    def restored(self, found: tf.Tensor, last: Sequence[int]) -> tf.Tensor:
        """Results of all rows in the shape that the rows came in, with other last axes."""
        if self.rank == 1:
            return tf.reshape(found, [-1, *last])
        if tf.is_tensor(self.shape):
            return tf.reshape(found, tf.concat([self.shape, [*last]], axis=0))
        return tf.reshape(found, [*self.shape, *last])

    def in_turn(self, evaluate: Callable[[Any], tf.Tensor]) -> tf.Tensor:
        """Results of rows [N, D], one batch after the other, with the axes of batches in front."""
        if self.rank == 1:
            return evaluate(self.rows)
        sizes = self.shape[:-1]
        batches = tf.reshape(self.rows, tf.concat([[-1], self.shape[-1:], [self._D]], axis=0))
        if self.is_symbolic:
            found = tf.map_fn(evaluate, batches)
        else:
            found = tf.stack([evaluate(rows) for rows in tf.unstack(batches)])
        return tf.reshape(found, tf.concat([sizes, tf.shape(found)[1:]], axis=0))

    @property
    def _D(self) -> int:
        return int(self.rows.shape[-1])


def read_new_inputs(Xnew: Any, data: TrainingData) -> NewInputs:
    """Standardised inputs from [N], [N, D] or [..., N, D] in the user's units, if they can be used.

    Values of tensors are checked only where they have some.
    """
    if tf.is_tensor(Xnew) or isinstance(Xnew, tf.Variable):
        X = tf.convert_to_tensor(Xnew)
        X = X[:, tf.newaxis] if X.shape.rank == 1 else X
    elif np.ndim(Xnew) > 2:
        X = np.asarray(Xnew, np.float64)
    else:
        X = np.asarray(read_inputs(Xnew).X, np.float64)
    _check_shape(X.shape, data.num_inputs)
    if tf.executing_eagerly():
        refuse_not_finite(np.reshape(X, (-1, data.num_inputs)), "Xnew")
    shape, rank = _leading_shape(X), len(X.shape) - 1
    if tf.is_tensor(X) or not tf.executing_eagerly():
        return NewInputs(_standardised(tf.convert_to_tensor(X), data.units), shape, rank)
    return NewInputs(data.units.standardise_inputs(X.reshape(-1, X.shape[-1])), shape, rank)


def refuse_not_finite(table: Any, name: str) -> None:
    """Refuse missing and infinite values in rows [N, C]."""
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        row, column = wrong[0] + 1
        raise DataError(
            f"{name} has {len(wrong)} missing or infinite values, the first in row {row}, column "
            f"{column}. Drop or fill them."
        )


def _standardised(X: tf.Tensor, units: Units) -> tf.Tensor:
    X = tf.reshape(tf.cast(X, tf.float64), [-1, X.shape[-1]])
    return tf.cast((X - units.x_mean) / units.x_scale, gpflow.default_float())


def _check_shape(shape: Any, num_inputs: int) -> None:
    sizes = list(shape)
    if len(sizes) < 2 or sizes[-1] != num_inputs or 0 in sizes:
        rows = "no" if len(sizes) < 2 else sizes[-2]
        raise DataError(
            f"Xnew has {rows} rows and {sizes[-1] if sizes else 0} columns, expected at least one "
            f"row and {num_inputs} columns: the inputs that the fits are of."
        )


def _leading_shape(X: Any) -> Sequence[int] | tf.Tensor:
    """The sizes of all axes but the last, as a tensor where some are not known."""
    sizes = list(X.shape)[:-1]
    return tf.shape(X)[:-1] if None in sizes else sizes


def _is_compatible(shape: Any, sizes: Sequence[int | None]) -> bool:
    return bool(tf.TensorShape(shape).is_compatible_with(tf.TensorShape(sizes)))
