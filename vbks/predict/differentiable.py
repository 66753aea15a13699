"""Predictions of a mixture that have gradients for inputs and can be part of graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal

import gpflow
import tensorflow as tf

from vbks.errors import GraphError
from vbks.predict.graphs.mixture import MixtureGraphs, in_blocks
from vbks.predict.posteriors.averaging import Average

ROWS_AT_ONCE = 64
"""Gradients for this many rows are computed together. A gradient needs some ten arrays for each
leaf of the kernels, with a number for each row, component and row of the data."""

Kind = Literal["function", "targets", "log_density", "function_covariance", "target_covariance"]
"""What is predicted."""

NUM_COLUMNS: dict[str, int] = {"function": 2, "targets": 2, "log_density": 1}
"""Numbers that are predicted for each row, where rows do not depend on each other."""


class DifferentiableMixture:
    """The graphs of a mixture: in place of its own predictions, or for their gradients.

    Rows are standardised inputs [N, D], with targets as the last column for densities. Arrays in
    front are the means and variances [N, 2], log densities [N, 1] or covariances [N, N].
    """

    def __init__(self, average: Average) -> None:
        # Called while a graph is traced, it makes what outlives that graph.
        with tf.init_scope():
            self._graphs = MixtureGraphs(average, ROWS_AT_ONCE, differentiable=True)
        self._make_pullback = cache(self._pullback)

    def predict(self, kind: Kind, rows: tf.Tensor) -> tf.Tensor:
        """What is predicted, as a part of the graph that is traced."""
        evaluate, num_rows = self._evaluation(kind), rows.shape[0]
        if kind not in NUM_COLUMNS or (num_rows is not None and num_rows <= ROWS_AT_ONCE):
            return evaluate(rows)
        return in_blocks(evaluate, rows, NUM_COLUMNS[kind], ROWS_AT_ONCE)

    def pull(self, kind: Kind, rows: tf.Tensor, upstream: tf.Tensor) -> tf.Tensor:
        """The gradient [N, D] for rows of what is predicted, times that of something else by it."""
        pullback, num_rows = self._make_pullback(kind), rows.shape[0]
        size = ROWS_AT_ONCE if kind in NUM_COLUMNS else num_rows
        parts = [slice(start, start + size) for start in range(0, num_rows, size)]
        return tf.concat([pullback(rows[part], upstream[part]) for part in parts], axis=0)

    def _evaluation(self, kind: Kind) -> Callable[[tf.Tensor], tf.Tensor]:
        graphs = self._graphs
        match kind:
            case "function":
                return graphs.of_function
            case "targets":
                return graphs.of_targets
            case "log_density":
                return graphs.log_density
        return lambda X: graphs.covariance(X, noisy=kind == "target_covariance")

    def _pullback(self, kind: Kind) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
        evaluate = self._evaluation(kind)

        def pull(rows: tf.Tensor, upstream: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(rows)
                found = evaluate(rows)
            return tape.gradient(found, rows, upstream, tf.UnconnectedGradients.ZERO)

        matrix = tf.TensorSpec([None, None], gpflow.default_float())
        function = tf.function(pull, input_signature=[matrix, matrix], autograph=False)
        return function.get_concrete_function()  # type: ignore[no-any-return]


def with_gradient(
    values: tf.Tensor, rows: tf.Tensor, pull: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
) -> tf.Tensor:
    """Values that were computed from rows outside of TensorFlow, with a gradient for these.

    ``pull(rows, upstream)`` is called when the gradient is asked for.
    """

    @tf.custom_gradient
    def attach(rows: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        return values, lambda upstream: pull(rows, upstream)

    return attach(rows)


def without_gradient(values: tf.Tensor, rows: tf.Tensor, name: str) -> tf.Tensor:
    """Values that say so when they are asked for a gradient."""

    def refuse(rows: tf.Tensor, upstream: tf.Tensor) -> tf.Tensor:
        raise GraphError(
            f"{name} of a mixture have no gradient. Use predict_f, predict_y or "
            "predict_log_density, or tf.stop_gradient(Xnew)."
        )

    return with_gradient(values, rows, refuse)


def refuse_graph(name: str) -> None:
    """Refuse what runs eagerly only."""
    if not tf.executing_eagerly():
        raise GraphError(
            f"{name} of a mixture cannot be part of a graph. Call it outside of tf.function, or "
            "use predict_f, predict_y or predict_log_density there."
        )
