"""Predictions averaged over kernels and their hyperparameters, as a GPflow model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import tensorflow as tf
from gpflow.base import InputData, MeanAndVariance, RegressionData, TensorType
from gpflow.models import BayesianModel

from vbks.arrays import Array, Mask
from vbks.data.training import TrainingData
from vbks.errors import DataError, TailWarning, VbksError
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.result import LocalFit
from vbks.predict.differentiable import (
    DifferentiableMixture,
    Kind,
    refuse_graph,
    with_gradient,
    without_gradient,
)
from vbks.predict.posteriors.averaging import Average
from vbks.predict.posteriors.conditioning import data_by_warp
from vbks.predict.posteriors.marginals import quantile_levels
from vbks.predict.posteriors.new_inputs import NewInputs, read_new_inputs, refuse_not_finite
from vbks.predict.posteriors.posteriors import Data, as_tensor
from vbks.predict.posteriors.samples import NEGLIGIBLE, NUM_SAMPLES, Member, without_negligible
from vbks.predict.serving import ServedMixture

QUANTILES = (0.05, 0.5, 0.95)
"""The median, and an interval that holds nine targets of ten."""


class KernelMixture(BayesianModel):
    """A mixture of fitted candidates, each averaged over its posterior of θ (VBKS eq. 15).

    Inputs and results are in the user's units; warps of targets are undone. Shapes are those of
    GPflow's models with one output, so ``full_output_cov`` changes them alone. Densities and
    quantiles are those of the mixture itself, not of a Gaussian with its moments. Where the
    tails of a mixture would decide its mean, they are limited, and a `TailWarning` says so.

    Inputs may be batches [..., N, D], of each of which the answer is that of its own rows. Where
    they are tensors, moments, covariances and log densities have gradients for them, and can be
    part of a `tf.function`, which gives no warnings and refuses no values. Quantiles and samples
    run eagerly and have no gradient.

    Args:
        fits: the candidates.
        weights: a weight for each; those that matter least are left out.
        data: the rows that the fits are of, or a mapping to them from each warp of the fits.
        likelihood: what the fits were made with; Gaussian noise by default.
        num_samples: about how many samples of θ there are in the mixture.
        negligible_weight: the share of the weights that may be left out.
        seed: samples of θ follow from it, so that predictions are the same each time.

    The posteriors of all samples are made at the first prediction and kept: one matrix for each,
    as large as that of all rows if fits are exact, and fewer samples where that would be too much.
    """

    def __init__(
        self,
        fits: Sequence[LocalFit],
        weights: TensorType,
        data: Data | TrainingData,
        *,
        likelihood: Likelihood | None = None,
        num_samples: int = NUM_SAMPLES,
        negligible_weight: float = NEGLIGIBLE,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if num_samples < 1:
            raise DataError(f"num_samples is {num_samples}, expected at least 1.")
        if not 0.0 <= negligible_weight < 1.0:
            raise DataError(
                f"negligible_weight is {negligible_weight}, expected a share from 0 to below 1."
            )
        members = _members(fits, _checked_weights(weights, len(fits)), negligible_weight)
        self.likelihood = Gaussian() if likelihood is None else likelihood
        # A plain object: TensorFlow looks for variables in dictionaries, and sorts their keys.
        self._average = Average(
            members,
            data_by_warp([fit for fit, _ in members], data),
            self.likelihood,
            num_samples,
            seed,
        )
        self._rng = np.random.default_rng(seed)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied: not the graphs, which are made again."""
        return {name: value for name, value in self.__dict__.items() if name != "_graphs"}

    @property
    def members(self) -> tuple[Member, ...]:
        """The fits that are averaged over, and their weights, which add up to one."""
        return self._average.members

    @property
    def average(self) -> Average:
        """The posteriors of all members, in standardised units."""
        return self._average

    def maximum_log_likelihood_objective(self, *args: Any, **kwargs: Any) -> tf.Tensor:
        """There is none: members and their weights come from fits that are done."""
        raise VbksError(
            "a KernelMixture is not trained: its members are fitted, and their weights are given. "
            "The log evidence of each is `fit.log_evidence()` of `members`."
        )

    def predict_f(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        """Mean [N, 1] and variance [N, 1], or covariance [1, N, N], of the function without noise.

        With a warp of the targets, the function is what they would be without noise.
        """
        return self._moments(Xnew, False, full_cov, full_output_cov)

    def predict_y(
        self, Xnew: InputData, full_cov: bool = False, full_output_cov: bool = False
    ) -> MeanAndVariance:
        """Mean [N, 1] and variance [N, 1], or covariance [1, N, N], of new targets."""
        if full_cov and not self.likelihood.is_gaussian:
            raise DataError(
                f"the covariance of targets of {self.likelihood.name} is not known. Ask for their "
                "variance, or for samples of them."
            )
        return self._moments(Xnew, True, full_cov, full_output_cov)

    def predict_log_density(
        self, data: RegressionData, full_cov: bool = False, full_output_cov: bool = False
    ) -> tf.Tensor:
        """Log densities [N] of new targets, each on its own, under the mixture."""
        if full_cov or full_output_cov:
            raise DataError(
                "densities are those of each target alone. Leave out full_cov and full_output_cov."
            )
        inputs = self._inputs(data[0])
        rows = inputs.with_targets(data[1])
        if inputs.is_symbolic:
            found = self._graphs.predict("log_density", rows)
        else:
            y = np.asarray(rows)[:, -1]
            refuse_not_finite(y.reshape(-1, 1), "Ynew")
            self.likelihood.check_targets(y)
            values = as_tensor(self._average.log_density(inputs.array, y)[:, np.newaxis])
            found = self._differentiable("log_density", values, rows)
        return inputs.restored(found, [])

    def predict_quantiles(
        self, Xnew: InputData, quantiles: Sequence[float] = QUANTILES, of_y: bool = True
    ) -> tf.Tensor:
        """Quantiles [N, Q] of new targets, or of the function, under the mixture.

        Those of targets whose noise is not Gaussian are estimated from samples.
        """
        levels = quantile_levels(quantiles)
        refuse_graph("quantiles")
        inputs = self._inputs(Xnew)
        found = as_tensor(self._average.quantiles(inputs.array, levels, noisy=of_y))
        if inputs.is_tensor:
            found = without_gradient(found, inputs.rows, "quantiles")
        return inputs.restored(found, [len(levels)])

    def predict_f_samples(
        self,
        Xnew: InputData,
        num_samples: int | None = None,
        full_cov: bool = True,
        full_output_cov: bool = False,
    ) -> tf.Tensor:
        """Functions [..., S, N, 1] from the posterior, each with a kernel and a θ of its own.

        Without a number, it is one of [N, 1]. Each call draws new ones; the seed of the model
        decides which. Without ``full_cov``, they are right at each input alone.
        """
        return self._samples(Xnew, num_samples, full_cov, noisy=False)

    def predict_y_samples(
        self,
        Xnew: InputData,
        num_samples: int | None = None,
        full_cov: bool = True,
        full_output_cov: bool = False,
    ) -> tf.Tensor:
        """New targets [S, N, 1] at functions that are drawn as by `predict_f_samples`."""
        return self._samples(Xnew, num_samples, full_cov, noisy=True)

    def member_predictions(self, Xnew: InputData) -> tuple[Array, Array]:
        """Means and variances [K, N] of the function under each of `members` alone."""
        refuse_graph("predictions of members")
        return self._average.member_moments(self._inputs(Xnew).array)

    def to_module(self) -> ServedMixture:
        """The same moments and densities as graphs, for TensorFlow to save and to serve."""
        return ServedMixture(self._average)

    @cached_property
    def _graphs(self) -> DifferentiableMixture:
        return DifferentiableMixture(self._average)

    def _moments(
        self, Xnew: InputData, noisy: bool, full_cov: bool, full_output_cov: bool
    ) -> MeanAndVariance:
        inputs = self._inputs(Xnew)
        kind: Kind = "targets" if noisy else "function"
        if inputs.is_symbolic:
            found = self._graphs.predict(kind, inputs.rows)
        else:
            mean, variance, is_limited = self._average.moments(inputs.array, noisy)
            _warn_of_tails(is_limited)
            values = as_tensor(np.stack([mean, variance], axis=1))
            found = self._differentiable(kind, values, inputs.rows)
        mean = inputs.restored(found[:, :1], [1])
        if not full_cov:
            return mean, inputs.restored(found[:, 1:], [1, 1] if full_output_cov else [1])
        covariance = inputs.in_turn(lambda rows: self._covariance(rows, noisy))
        if full_output_cov:
            return mean, covariance[..., tf.newaxis, :, tf.newaxis]
        return mean, covariance[..., tf.newaxis, :, :]

    def _covariance(self, rows: tf.Tensor, noisy: bool) -> tf.Tensor:
        """The covariance [N, N] of one batch of rows."""
        kind: Kind = "target_covariance" if noisy else "function_covariance"
        if not tf.executing_eagerly():
            return self._graphs.predict(kind, rows)
        _, covariance, _ = self._average.covariance(np.asarray(rows), noisy)
        return self._differentiable(kind, as_tensor(covariance), rows)

    def _samples(
        self, Xnew: InputData, num_samples: int | None, full_cov: bool, noisy: bool
    ) -> tf.Tensor:
        if num_samples is not None and num_samples < 1:
            raise DataError(f"num_samples is {num_samples}, expected at least 1.")
        refuse_graph("samples")
        num, inputs = num_samples or 1, self._inputs(Xnew)

        def draw(rows: tf.Tensor) -> tf.Tensor:
            X = np.asarray(rows)
            found = self._average.samples(X, num, self._rng, noisy=noisy, joint=full_cov)
            return as_tensor((found[0] if num_samples is None else found)[..., np.newaxis])

        found = inputs.in_turn(draw)
        return without_gradient(found, inputs.rows, "samples") if inputs.is_tensor else found

    def _differentiable(self, kind: Kind, values: tf.Tensor, rows: Any) -> tf.Tensor:
        """Values with a gradient for the rows they are of, where these are a tensor."""
        if not tf.is_tensor(rows):
            return values
        return with_gradient(values, rows, partial(self._pull, kind))

    def _pull(self, kind: Kind, rows: tf.Tensor, upstream: tf.Tensor) -> tf.Tensor:
        """Made when it is first asked for: graphs take a second or more."""
        return self._graphs.pull(kind, rows, upstream)

    def _inputs(self, Xnew: InputData) -> NewInputs:
        """Inputs in standardised units, if they can be used."""
        return read_new_inputs(Xnew, next(iter(self._average.data.values())))


def _warn_of_tails(is_limited: Mask) -> None:
    num = int(np.count_nonzero(is_limited))
    if num:
        warnings.warn(
            f"at {num} of {len(is_limited)} inputs the tails of the mixture would decide the mean. "
            "They are limited there, so that mean and variance are not those of the mixture. Use "
            "predict_quantiles, which needs no limits.",
            TailWarning,
            stacklevel=4,
        )


def _members(fits: Sequence[LocalFit], weights: Array, negligible: float) -> tuple[Member, ...]:
    """The fits that matter, their weights made to add up to one."""
    kept = without_negligible(weights, negligible)
    for place in kept:
        fit = fits[place]
        if fit.status != "fitted":
            raise DataError(
                f"'{fit.expression}' has a weight of {weights[place]:.2g}, but no posterior: "
                f"{fit.status}, {fit.reason}. Give it no weight."
            )
    total = weights[kept].sum()
    return tuple((fits[place], float(weights[place] / total)) for place in kept)


def _checked_weights(weights: TensorType, num_fits: int) -> Array:
    found = np.asarray(weights, np.float64)
    if found.shape != (num_fits,):
        raise DataError(
            f"weights have the shape {list(found.shape)}, expected [{num_fits}]: one for each fit."
        )
    if not (np.all(np.isfinite(found)) and np.all(found >= 0.0) and np.any(found > 0.0)):
        raise DataError("weights must not be negative, and one of them must be above zero.")
    return found
