"""Predictions averaged over any GPflow models, as a GPflow model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.base import InputData, MeanAndVariance, RegressionData
from gpflow.models import BayesianModel, GPModel

from vbks.data.units import Units
from vbks.errors import DataError, VbksError
from vbks.predict.differentiable import refuse_graph, without_gradient
from vbks.predict.models.variational_svgp import SPREAD, VariationalSVGP
from vbks.predict.posteriors.marginals import WarpedGaussians, mixture_quantiles, quantile_levels
from vbks.predict.posteriors.observations import draw_of
from vbks.predict.posteriors.posteriors import as_tensor
from vbks.predict.posteriors.samples import NEGLIGIBLE, without_negligible

QUANTILES = (0.05, 0.5, 0.95)
"""The median, and an interval that holds nine targets of ten."""


class ModelMixture(BayesianModel):
    """A mixture of GPflow models, with what they predict themselves (VBKS eq. 15).

    Shapes are those of the models' own predictions. Moments and densities are tensors with
    gradients and may be part of a graph, as far as those of the models are. Densities and quantiles
    are those of the mixture itself, not of a Gaussian with its moments.

    Args:
        models: trained models of the same data, in the same units.
        weights: a weight for each; those that matter least are left out.
        seed: samples follow from it.
    """

    def __init__(self, models: Sequence[GPModel], weights: Any, *, seed: int = 0) -> None:
        super().__init__()
        found = np.asarray(weights, np.float64)
        if found.shape != (len(models),):
            raise DataError(
                f"weights have the shape {list(found.shape)}, expected [{len(models)}]: one for "
                "each model."
            )
        if not (np.all(np.isfinite(found)) and np.all(found >= 0.0) and np.any(found > 0.0)):
            raise DataError("weights must not be negative, and one of them must be above zero.")
        kept = without_negligible(found, NEGLIGIBLE)
        self.averaged = tuple(models[place] for place in kept)
        """The models that matter."""
        self.shares = found[kept] / found[kept].sum()
        """What they count: [K]."""
        self._rng = np.random.default_rng(seed)

    def maximum_log_likelihood_objective(self, *args: Any, **kwargs: Any) -> tf.Tensor:
        """There is none: models are trained on their own, and their weights are given."""
        raise VbksError("an average is not trained. Train its models, and average them again.")

    def predict_f(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        """Mean and covariance of the function, by total variance over models."""
        return self._moments("predict_f", Xnew, full_cov, full_output_cov)

    def predict_y(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        """Mean and variance of new data, by total variance over models."""
        return self._moments("predict_y", Xnew, full_cov, full_output_cov)

    def predict_log_density(
        self, data: RegressionData, full_cov: bool = False, full_output_cov: bool = False
    ) -> tf.Tensor:
        """Log densities of new data, each row on its own, under the mixture."""
        if full_cov or full_output_cov:
            raise DataError(
                "densities are those of each row alone. Leave out full_cov and full_output_cov."
            )
        X, Y = (tf.convert_to_tensor(values, gpflow.default_float()) for values in data)
        rows = _flat(X), _flat(Y)
        found = tf.stack([model.predict_log_density(rows) for model in self.averaged])
        logs = tf.constant(np.log(self.shares)[:, np.newaxis], found.dtype)
        return tf.reshape(tf.reduce_logsumexp(found + logs, axis=0), tf.shape(X)[:-1])

    def predict_f_samples(
        self,
        Xnew: InputData,
        num_samples: int | None = None,
        full_cov: bool = True,
        full_output_cov: bool = False,
    ) -> tf.Tensor:
        """Functions [..., S, N, P], each from a model of its own."""
        found, _ = self._samples(Xnew, num_samples, full_cov, full_output_cov)
        return found

    def predict_y_samples(
        self,
        Xnew: InputData,
        num_samples: int | None = None,
        full_cov: bool = True,
        full_output_cov: bool = False,
    ) -> tf.Tensor:
        """New data at functions that are drawn as by `predict_f_samples`."""
        f, places = self._samples(Xnew, num_samples or 1, full_cov, full_output_cov)
        functions, X = f.numpy(), np.asarray(Xnew)
        for place in np.unique(places):
            own = functions[..., places == place, :, :]
            likelihood = self.averaged[place].likelihood
            functions[..., places == place, :, :] = draw_of(likelihood, own, X, self._rng)
        found = functions[..., 0, :, :] if num_samples is None else functions
        return _refusing(as_tensor(found), Xnew, "samples")

    def predict_quantiles(
        self, Xnew: InputData, quantiles: Sequence[float] = QUANTILES, of_y: bool = True
    ) -> tf.Tensor:
        """Quantiles [N, Q] of new data, or of the function, for one output and Gaussian noise."""
        levels = quantile_levels(quantiles)
        refuse_graph("quantiles")
        parts = [
            self._gaussians(model, share, Xnew, of_y)
            for model, share in zip(self.averaged, self.shares, strict=True)
        ]
        return _refusing(as_tensor(mixture_quantiles(parts, levels)), Xnew, "quantiles")

    def _gaussians(
        self, model: GPModel, share: float, Xnew: InputData, of_y: bool
    ) -> WarpedGaussians:
        """The normal distributions [S, N] that one model is made of, with their weights."""
        if model.num_latent_gps != 1:
            raise DataError(
                f"quantiles are those of one output, and the models have {model.num_latent_gps}. "
                "Use predict_y_samples."
            )
        if of_y and not isinstance(model.likelihood, gpflow.likelihoods.Gaussian):
            raise DataError(
                f"quantiles of targets of {type(model.likelihood).__name__} are not known. Ask for "
                "those of the function with of_y=False, or for samples."
            )
        if isinstance(model, VariationalSVGP):
            means, variances = model.predict_at_samples(Xnew, of_y=of_y)
        else:
            moments = (model.predict_y if of_y else model.predict_f)(Xnew)
            means, variances = (values[tf.newaxis] for values in moments)
        S = len(means)
        shape = (S, -1)
        weights, units = np.full(S, share / S), Units(np.zeros(1), np.ones(1), 0.0, 1.0)
        own = (np.reshape(values, shape) for values in (means, variances))
        return WarpedGaussians(units, weights, *own)

    def _samples(
        self, Xnew: InputData, num_samples: int | None, full_cov: bool, full_output_cov: bool
    ) -> tuple[tf.Tensor, Any]:
        """Functions, and the places of the models that they are from."""
        if num_samples is not None and num_samples < 1:
            raise DataError(f"num_samples is {num_samples}, expected at least 1.")
        refuse_graph("samples")
        num = num_samples or 1
        places = np.sort(self._rng.choice(len(self.shares), num, p=self.shares))
        draws = [
            self.averaged[place].predict_f_samples(Xnew, int(count), full_cov, full_output_cov)
            for place, count in zip(*np.unique(places, return_counts=True), strict=True)
        ]
        order = self._rng.permutation(num)
        found = tf.gather(tf.concat(draws, axis=-3), order, axis=-3)
        return (found[..., 0, :, :] if num_samples is None else found), places[order]

    def _moments(
        self, name: str, Xnew: InputData, full_cov: bool, full_output_cov: bool
    ) -> MeanAndVariance:
        """Mean and covariance of the mixture, by total expectation and total variance.

        Not all models of GPflow take batches [..., N, D]; where rows do not depend on each other,
        they are given all rows at once.
        """
        X = tf.convert_to_tensor(Xnew, gpflow.default_float())
        rows = X if full_cov else _flat(X)
        found = [getattr(model, name)(rows, full_cov, full_output_cov) for model in self.averaged]
        moments = self._mixed(found, SPREAD[full_cov, full_output_cov])
        if full_cov:
            return moments
        shape = tf.shape(X)[:-1]
        mean, variance = (
            tf.reshape(values, tf.concat([shape, tf.shape(values)[1:]], axis=0))
            for values in moments
        )
        return mean, variance

    def _mixed(self, found: Sequence[MeanAndVariance], spread: str) -> MeanAndVariance:
        """The same of all models that there are."""
        means, covariances = (tf.stack(parts) for parts in zip(*found, strict=True))
        weights = tf.constant(self.shares, means.dtype)
        mean = tf.tensordot(weights, means, 1)
        roots = tf.reshape(tf.sqrt(weights), [-1] + [1] * (means.shape.rank - 1))
        distance = roots * (means - mean)
        return mean, tf.tensordot(weights, covariances, 1) + tf.einsum(spread, distance, distance)


def _flat(values: tf.Tensor) -> tf.Tensor:
    """All rows of batches: [B·N, D]."""
    return tf.reshape(values, [-1, values.shape[-1]])


def _refusing(values: tf.Tensor, Xnew: Any, name: str) -> tf.Tensor:
    """Values that say so where they are asked for a gradient that they have not."""
    is_tensor = tf.is_tensor(Xnew) or isinstance(Xnew, tf.Variable)
    return without_gradient(values, tf.convert_to_tensor(Xnew), name) if is_tensor else values
