"""A likelihood of the user's own for standardised targets."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf
from gpflow.likelihoods import ScalarLikelihood

from vbks.data.units import Units


class StandardisedLikelihood(ScalarLikelihood):
    """The density of z = (y − mean) / scale, where the function is in the units of targets, too.

    What the other likelihood has that is not learned stays in the user's units.
    """

    def __init__(self, likelihood: ScalarLikelihood, units: Units) -> None:
        super().__init__()
        self.likelihood, self.mean, self.scale = likelihood, units.y_mean, units.y_scale

    def _restored(self, values: tf.Tensor) -> tf.Tensor:
        return self.mean + self.scale * values

    def _scalar_log_prob(self, X: Any, F: tf.Tensor, Y: tf.Tensor) -> tf.Tensor:
        density = self.likelihood._scalar_log_prob(X, self._restored(F), self._restored(Y))
        return density + math.log(self.scale)

    def _conditional_mean(self, X: Any, F: tf.Tensor) -> tf.Tensor:
        return (self.likelihood.conditional_mean(X, self._restored(F)) - self.mean) / self.scale

    def _conditional_variance(self, X: Any, F: tf.Tensor) -> tf.Tensor:
        return self.likelihood.conditional_variance(X, self._restored(F)) / self.scale**2

    def _predict_mean_and_var(
        self, X: Any, Fmu: tf.Tensor, Fvar: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        mean, variance = self.likelihood.predict_mean_and_var(X, *self._moments(Fmu, Fvar))
        return (mean - self.mean) / self.scale, variance / self.scale**2

    def _predict_log_density(
        self, X: Any, Fmu: tf.Tensor, Fvar: tf.Tensor, Y: tf.Tensor
    ) -> tf.Tensor:
        moments = self._moments(Fmu, Fvar)
        density = self.likelihood.predict_log_density(X, *moments, self._restored(Y))
        return density + math.log(self.scale)

    def _variational_expectations(
        self, X: Any, Fmu: tf.Tensor, Fvar: tf.Tensor, Y: tf.Tensor
    ) -> tf.Tensor:
        moments = self._moments(Fmu, Fvar)
        expected = self.likelihood.variational_expectations(X, *moments, self._restored(Y))
        return expected + math.log(self.scale)

    def _moments(self, Fmu: tf.Tensor, Fvar: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return self._restored(Fmu), self.scale**2 * Fvar
