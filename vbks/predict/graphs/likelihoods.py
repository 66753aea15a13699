"""Targets of likelihoods that are not Gaussian as graphs, by GPflow's rules.

The twins of those in `observations`: they keep the learned parameter a tensor.
"""

from __future__ import annotations

import copy
from typing import Any

import gpflow
import tensorflow as tf

from vbks.errors import GraphError
from vbks.inference.likelihoods.likelihood import SMALLEST_VARIANCE, Likelihood
from vbks.predict.graphs.kernels import first_line


class LikelihoodGraph:
    """A likelihood whose parameter is given for each of R components: [R]."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._name, self._parameter = likelihood.name, likelihood.parameter_name
        self._likelihood = likelihood.to_gpflow(1.0)
        gpflow.set_trainable(self._likelihood, False)
        self.variables: tuple[tf.Variable, ...] = self._likelihood.variables
        """What the likelihood has that is not learned."""

    def moments(
        self, parameters: tf.Tensor, means: tf.Tensor, variances: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Means and variances [R, N] of targets, from those of functions."""

        def of_component(parts: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, tf.Tensor]:
            mean, variance = self._at(parts[0]).predict_mean_and_var(*_columns(*parts[1:]))
            return tf.reshape(mean, [-1]), tf.reshape(variance, [-1])

        found = self._in_turn(of_component, (parameters, means, variances), (means.dtype,) * 2)
        return found  # type: ignore[no-any-return]

    def log_densities(
        self, parameters: tf.Tensor, means: tf.Tensor, variances: tf.Tensor, y: tf.Tensor
    ) -> tf.Tensor:
        """Log densities [R, N] of targets [N], or log probabilities if these are discrete."""

        def of_component(parts: tuple[tf.Tensor, ...]) -> tf.Tensor:
            own, columns = self._at(parts[0]), _columns(*parts[1:])
            return tf.reshape(own.predict_log_density(*columns, y[:, tf.newaxis]), [-1])

        return self._in_turn(of_component, (parameters, means, variances), means.dtype)

    def _at(self, parameter: tf.Tensor) -> Any:
        """The likelihood with its parameter replaced by a tensor."""
        if self._parameter is None:
            return self._likelihood
        likelihood = copy.copy(self._likelihood)
        held = likelihood.__dict__
        held[self._parameter] = tf.reshape(parameter, held[self._parameter].shape)
        return likelihood

    def _in_turn(self, function: Any, parts: Any, dtypes: Any) -> Any:
        """A function of one component after the other."""
        try:
            return tf.map_fn(function, parts, fn_output_signature=dtypes)
        except Exception as error:
            raise GraphError(
                f"{self._name} cannot be exported or differentiated: no graph can be made of it "
                f"({first_line(error)}). Write the likelihood in operations of TensorFlow."
            ) from error


def _columns(mean: tf.Tensor, variance: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """No inputs, since no likelihood here looks at them, and moments as columns."""
    Fmu, Fvar = mean[:, tf.newaxis], tf.maximum(variance, SMALLEST_VARIANCE)[:, tf.newaxis]
    return Fmu[:, :0], Fmu, Fvar
