"""Predictions averaged over kernels and their hyperparameters, as a GPflow model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from gpflow.base import InputData, MeanAndVariance, RegressionData, TensorType
from gpflow.models import BayesianModel

from vbks.arrays import Array, Mask
from vbks.data import TrainingData, read_inputs
from vbks.errors import DataError, TailWarning, VbksError
from vbks.inference.likelihoods import Gaussian, Likelihood
from vbks.inference.local_fit import LocalFit
from vbks.models.averaging import Average
from vbks.models.components import NEGLIGIBLE, NUM_SAMPLES, Member, without_negligible
from vbks.models.conditioning import data_by_warp
from vbks.models.posteriors import Data, as_tensor
from vbks.models.serving import ServedMixture

QUANTILES = (0.05, 0.5, 0.95)
"""The median, and an interval that holds nine targets of ten."""


class KernelMixture(BayesianModel):
    """A mixture of fitted candidates, each averaged over its posterior of θ (VBKS eq. 15).

    Inputs and results are in the user's units; warps of targets are undone. Shapes are those of
    GPflow's models with one output, so ``full_output_cov`` changes them alone. Densities and
    quantiles are those of the mixture itself, not of a Gaussian with its moments. Where the
    tails of a mixture would decide its mean, they are limited, and a `TailWarning` says so. All of
    this runs eagerly and cannot be part of a graph; `to_module` makes what can.

    Args:
        fits: the candidates.
        weights: a weight for each; those that matter least are left out.
        data: the rows that the fits are of, or a mapping to them from each warp of the fits.
        likelihood: what the fits were made with; Gaussian noise by default.
        num_samples: about how many samples of θ there are in the mixture.
        negligible: the share of the weights that may be left out.
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
        negligible: float = NEGLIGIBLE,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if num_samples < 1:
            raise DataError(f"num_samples is {num_samples}, expected at least 1.")
        if not 0.0 <= negligible < 1.0:
            raise DataError(f"negligible is {negligible}, expected a share from 0 to below 1.")
        members = _members(fits, _checked_weights(weights, len(fits)), negligible)
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

    @property
    def members(self) -> tuple[Member, ...]:
        """The fits that are averaged over, and their weights, which add up to one."""
        return self._average.members

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
        X = self._inputs(data[0])
        y = _targets(data[1], len(X))
        self.likelihood.check_targets(y)
        return as_tensor(self._average.log_density(X, y))

    def predict_quantiles(
        self, Xnew: InputData, quantiles: Sequence[float] = QUANTILES, of_y: bool = True
    ) -> tf.Tensor:
        """Quantiles [N, Q] of new targets, or of the function, under the mixture.

        Those of targets whose noise is not Gaussian are estimated from samples.
        """
        levels = np.asarray(quantiles, np.float64)
        if levels.ndim != 1 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise DataError(f"quantiles are {quantiles}, expected numbers between 0 and 1.")
        return as_tensor(self._average.quantiles(self._inputs(Xnew), levels, noisy=of_y))

    def predict_f_samples(
        self,
        Xnew: InputData,
        num_samples: int | None = None,
        full_cov: bool = True,
        full_output_cov: bool = False,
    ) -> tf.Tensor:
        """Functions [S, N, 1] from the posterior, each with a kernel and a θ of its own.

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
        return self._average.member_moments(self._inputs(Xnew))

    def to_module(self) -> ServedMixture:
        """The same moments and densities as graphs, for TensorFlow to save and to serve."""
        return ServedMixture(self._average)

    def _moments(
        self, Xnew: InputData, noisy: bool, full_cov: bool, full_output_cov: bool
    ) -> MeanAndVariance:
        X = self._inputs(Xnew)
        N = len(X)
        if full_cov:
            mean, spread, is_limited = self._average.covariance(X, noisy)
            shape = [N, 1, N, 1] if full_output_cov else [1, N, N]
        else:
            mean, spread, is_limited = self._average.moments(X, noisy)
            shape = [N, 1, 1] if full_output_cov else [N, 1]
        _warn_of_tails(is_limited)
        return as_tensor(mean[:, np.newaxis]), as_tensor(spread.reshape(shape))

    def _samples(
        self, Xnew: InputData, num_samples: int | None, full_cov: bool, noisy: bool
    ) -> tf.Tensor:
        if num_samples is not None and num_samples < 1:
            raise DataError(f"num_samples is {num_samples}, expected at least 1.")
        num, X = num_samples or 1, self._inputs(Xnew)
        found = self._average.samples(X, num, self._rng, noisy=noisy, joint=full_cov)
        return as_tensor((found[0] if num_samples is None else found)[..., np.newaxis])

    def _inputs(self, Xnew: InputData) -> Array:
        """Inputs in standardised units, if they can be used."""
        data = next(iter(self._average.data.values()))
        X = np.asarray(read_inputs(Xnew).X, np.float64)
        if X.shape[1] != data.num_inputs or not len(X):
            raise DataError(
                f"Xnew has {X.shape[0]} rows and {X.shape[1]} columns, expected at least one row "
                f"and {data.num_inputs} columns: the inputs that the fits are of."
            )
        _refuse_not_finite(X, "Xnew")
        return data.units.standardise_inputs(X)


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


def _targets(Ynew: TensorType, num_rows: int) -> Array:
    """Targets [N] from [N] or [N, 1], if they can be used."""
    y = np.asarray(Ynew, np.float64)
    if y.shape not in ((num_rows,), (num_rows, 1)):
        raise DataError(
            f"Ynew has the shape {list(y.shape)}, expected [{num_rows}, 1]: a target for each row "
            "of Xnew."
        )
    _refuse_not_finite(y.reshape(-1, 1), "Ynew")
    return y.reshape(-1)


def _refuse_not_finite(table: Array, name: str) -> None:
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        row, column = wrong[0] + 1
        raise DataError(
            f"{name} has {len(wrong)} missing or infinite values, the first in row {row}, column "
            f"{column}. Drop or fill them."
        )
