"""Averaged predictions around a mean function."""

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.base import InputData, MeanAndVariance, RegressionData
from gpflow.functions import Function

from vbks.arrays import Array
from vbks.data.tables import read_inputs
from vbks.predict.mixture import KernelMixture
from vbks.predict.models.mean_functions import mean_values
from vbks.predict.posteriors.averaging import Average
from vbks.predict.serving import ServedMixture


class ServedShiftedMixture(ServedMixture):
    """Predictions of a mixture around a mean function as graphs."""

    def __init__(self, average: Average, mean_function: Function) -> None:
        super().__init__(average)
        self.held = [*self.held, *mean_function.variables]
        left = self.predict_f, self.predict_y, self.predict_log_density

        def mean(Xnew: tf.Tensor) -> tf.Tensor:
            found = mean_function(tf.cast(Xnew, gpflow.default_float()))
            return tf.cast(found, tf.float64)

        def shifted(answer: dict[str, tf.Tensor], Xnew: tf.Tensor) -> dict[str, tf.Tensor]:
            return {**answer, "mean": answer["mean"] + mean(Xnew)}

        answers = (
            lambda Xnew: shifted(left[0](Xnew), Xnew),
            lambda Xnew: shifted(left[1](Xnew), Xnew),
            lambda Xnew, Ynew: left[2](Xnew, Ynew - mean(Xnew)),
        )
        self.predict_f, self.predict_y, self.predict_log_density = (
            tf.function(answer, input_signature=own.input_signature, autograph=False)
            for answer, own in zip(answers, left, strict=True)
        )


class ShiftedMixture(KernelMixture):
    """A mixture of fits to what a mean function leaves of the targets, with that function added.

    The function takes and gives the user's units; all else is as in `KernelMixture`.
    """

    def __init__(self, *args: Any, mean_function: Function, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.mean_function = mean_function

    def predict_f(self, Xnew: InputData, *args: Any, **kwargs: Any) -> MeanAndVariance:
        """Moments of the function, as `KernelMixture` has them."""
        mean, spread = super().predict_f(Xnew, *args, **kwargs)
        return mean + self._mean(Xnew), spread

    def predict_y(self, Xnew: InputData, *args: Any, **kwargs: Any) -> MeanAndVariance:
        """Moments of new targets, as `KernelMixture` has them."""
        mean, spread = super().predict_y(Xnew, *args, **kwargs)
        return mean + self._mean(Xnew), spread

    def predict_log_density(self, data: RegressionData, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Log densities of new targets, as `KernelMixture` has them."""
        Xnew, Ynew = data
        mean = self._mean(Xnew)
        targets = tf.convert_to_tensor(Ynew, mean.dtype)
        left = targets - (mean if targets.shape.rank == mean.shape.rank else mean[..., 0])
        return super().predict_log_density((Xnew, left), *args, **kwargs)

    def predict_quantiles(self, Xnew: InputData, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Quantiles of new targets or of the function, as `KernelMixture` has them."""
        return super().predict_quantiles(Xnew, *args, **kwargs) + self._mean(Xnew)

    def predict_f_samples(self, Xnew: InputData, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Functions from the posterior, as `KernelMixture` has them."""
        return super().predict_f_samples(Xnew, *args, **kwargs) + self._mean(Xnew)

    def predict_y_samples(self, Xnew: InputData, *args: Any, **kwargs: Any) -> tf.Tensor:
        """New targets, as `KernelMixture` has them."""
        return super().predict_y_samples(Xnew, *args, **kwargs) + self._mean(Xnew)

    def member_predictions(self, Xnew: InputData) -> tuple[Array, Array]:
        """Moments [K, N] of the function under each of `members` alone."""
        means, variances = super().member_predictions(Xnew)
        X = np.asarray(read_inputs(Xnew).X, np.float64)
        return means + mean_values(self.mean_function, X), variances

    def to_module(self) -> ServedMixture:
        """The same moments and densities as graphs, for TensorFlow to save and to serve."""
        return ServedShiftedMixture(self._average, self.mean_function)

    def _mean(self, Xnew: InputData) -> tf.Tensor:
        """The mean function at inputs [..., N, D]: [..., N, 1]."""
        if not tf.is_tensor(Xnew):
            Xnew = np.asarray(read_inputs(Xnew).X, np.float64)
        return self.mean_function(tf.cast(Xnew, gpflow.default_float()))
