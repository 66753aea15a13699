"""A mixture as a module of TensorFlow alone, which can be saved and served without vbks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import tensorflow as tf

from vbks.predict.graphs.mixture import MixtureGraphs, in_blocks
from vbks.predict.posteriors.averaging import Average

ROWS_AT_ONCE = 128
"""A graph works on this many rows together. It does not know how many there are, so that a bank
cannot take its terms in pieces; this keeps the arrays of long expressions at some 100 MB."""

NO_GRADIENT = "predictions of an exported mixture have no gradient for inputs"

Answer: TypeAlias = dict[str, tf.Tensor]


class ServedMixture(tf.Module):  # type: ignore[misc]
    """Predictions of a mixture as graphs, with all numbers they need as constants and variables.

    ``predict_f(Xnew)`` and ``predict_y(Xnew)`` take inputs [N, D] in the user's units and give a
    dictionary of ``mean`` and ``variance`` [N, 1]; ``predict_log_density(Xnew, Ynew)`` takes
    targets [N, 1], too, and gives one of ``log_density`` [N]. Numbers are of 64 bits. What cannot
    be predicted, as missing values and targets outside of the likelihood's, is not refused.
    """

    def __init__(self, average: Average) -> None:
        super().__init__(name="mixture")
        answers = _Answers(average)
        # TensorFlow saves variables that it finds here.
        self.held = answers.variables
        D = next(iter(average.data.values())).num_inputs
        Xnew = tf.TensorSpec([None, D], tf.float64, "Xnew")
        Ynew = tf.TensorSpec([None, 1], tf.float64, "Ynew")
        self.predict_f = _function(answers.predict_f, Xnew)
        self.predict_y = _function(answers.predict_y, Xnew)
        self.predict_log_density = _function(answers.predict_log_density, Xnew, Ynew)


class _Answers:
    """What a module answers, from inputs as they are given.

    It is no `tf.Module`, which would save all that it finds here.
    """

    def __init__(self, average: Average) -> None:
        self._graphs = MixtureGraphs(average, ROWS_AT_ONCE)
        self.variables = self._graphs.variables

    def predict_f(self, Xnew: tf.Tensor) -> Answer:
        """Moments of the function."""
        return self._predict(Xnew, noisy=False)

    def predict_y(self, Xnew: tf.Tensor) -> Answer:
        """Moments of new targets."""
        return self._predict(Xnew, noisy=True)

    def predict_log_density(self, Xnew: tf.Tensor, Ynew: tf.Tensor) -> Answer:
        """Log densities of new targets."""
        X = self._inputs(Xnew)
        rows = tf.concat([X, tf.cast(Ynew, X.dtype)], axis=1)
        found = in_blocks(self._graphs.log_density, rows, 1, ROWS_AT_ONCE)
        return {"log_density": tf.cast(found, tf.float64)[:, 0]}

    def _predict(self, Xnew: tf.Tensor, noisy: bool) -> Answer:
        moments = self._graphs.of_targets if noisy else self._graphs.of_function
        found = tf.cast(in_blocks(moments, self._inputs(Xnew), 2, ROWS_AT_ONCE), tf.float64)
        return {"mean": found[:, :1], "variance": found[:, 1:]}

    def _inputs(self, Xnew: tf.Tensor) -> tf.Tensor:
        """Standardised inputs."""
        Xnew = tf.raw_ops.PreventGradient(input=Xnew, message=NO_GRADIENT)
        return self._graphs.standardised_inputs(Xnew)


def _function(function: Callable[..., Answer], *signature: tf.TensorSpec) -> Any:
    return tf.function(function, input_signature=signature, autograph=False)
