"""The scikit-learn estimator on top of `vbks.fit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vbks.api import Preset, fit
from vbks.arrays import Array
from vbks.config import Space
from vbks.data.given import as_pandas, with_instants
from vbks.data.times import places_of_instants, with_days
from vbks.data.training import MIN_ROWS
from vbks.execution.work import Executor
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.result import Posterior
from vbks.inference.settings import Inference
from vbks.policies import Policies
from vbks.progress import Progress
from vbks.search.budget import Budget
from vbks.search.method import Method
from vbks.search.paper import Callback
from vbks.weights.prior import KernelPrior
from vbks.weights.settings import BeliefSettings, Weighting

LARGEST_SEED = 2**31 - 1
"""Seeds that are drawn from a random state are smaller."""


class VBKSRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression averaged over kernels, for pipelines and searches of scikit-learn.

    Parameters are those of `vbks.fit`; ``random_state`` is its seed, the noise of rows goes to
    `fit`, and there is one target, so that there is no ``targets``. A growing space ends after a
    time, so that two fits may differ; with ``budget=vbks.Budget(candidates=...)`` they do not.

    Attributes:
        selection_: the `vbks.Selection`: candidates, belief, quantiles, GPflow models.
        n_features_in_: number of inputs.
        feature_names_in_: names of the inputs, if they came in a table with names.
    """

    def __init__(
        self,
        space: Space = "grow",
        *,
        method: str | Method = "vbks",
        belief: Literal["bayes", "vbks", "stacking"] | BeliefSettings | None = None,
        temperature: float = 1.0,
        prior: KernelPrior = "uniform",
        weights: Weighting | None = None,
        inference: Inference = "auto",
        posterior: Posterior | Literal["auto"] = "auto",
        num_inducing: int | None = None,
        batch_size: int | None = None,
        likelihood: Any = "gaussian",
        mean_function: Any = None,
        warps: Literal["auto"] | Sequence[str] = "auto",
        target_range: tuple[float, float] | None = None,
        preset: Preset | PaperSettings | None = None,
        families: Sequence[str] | None = None,
        restarts: int | None = None,
        prune: bool = True,
        budget: float | Budget | None = None,
        trace: int = 0,
        callback: Callback | None = None,
        policies: Policies | None = None,
        memory_limit: int | None = None,
        executor: Executor | None = None,
        checkpoint: str | PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool | Progress = False,
    ) -> None:
        self.space = space
        self.method = method
        self.belief = belief
        self.temperature = temperature
        self.prior = prior
        self.weights = weights
        self.inference = inference
        self.posterior = posterior
        self.num_inducing = num_inducing
        self.batch_size = batch_size
        self.likelihood = likelihood
        self.mean_function = mean_function
        self.warps = warps
        self.target_range = target_range
        self.preset = preset
        self.families = families
        self.restarts = restarts
        self.prune = prune
        self.budget = budget
        self.trace = trace
        self.callback = callback
        self.policies = policies
        self.memory_limit = memory_limit
        self.executor = executor
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, noise_variance: Any = None) -> VBKSRegressor:
        """Choose kernels for inputs X [N, D], which may have times, and targets y [N].

        ``noise_variance`` [N] is what is known of the noise of each row.
        """
        rows, targets = validate_data(
            self,
            _without_times(X),
            y,
            dtype=np.float64,
            y_numeric=True,
            ensure_min_samples=MIN_ROWS,
        )
        names = getattr(self, "feature_names_in_", None)
        settings = self.get_params(deep=False)
        settings["seed"] = _seed(settings.pop("random_state"))
        table = pd.DataFrame(rows, columns=names)
        selection = fit(table, targets, noise_variance=noise_variance, **settings)
        self.selection_ = replace(selection, time_inputs=_places_of_times(X))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Means [N] of new targets at X [N, D], and their standard deviations [N] if asked for."""
        rows = self._new_rows(X)
        mean, variance = self.selection_.mixture.predict_y(rows)
        found = mean.numpy()[:, 0]
        return (found, np.sqrt(variance.numpy()[:, 0])) if return_std else found

    def predict_quantiles(
        self, X: Any, quantiles: float | Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Array:
        """Quantiles of new targets at X [N, D]: [N, Q]."""
        levels, rows = tuple(np.atleast_1d(quantiles)), self._new_rows(X)
        found = self.selection_.mixture.predict_quantiles(rows, levels)
        return np.asarray(found).reshape(-1, len(levels))

    def _new_rows(self, X: Any) -> Array:
        """Inputs [N, D] of the kind that it was fitted to."""
        check_is_fitted(self)
        rows = validate_data(self, _without_times(X), reset=False, dtype=np.float64)
        return np.asarray(rows)


def _without_times(X: Any) -> Any:
    """Times as days; anything else is left for scikit-learn to judge."""
    table = as_pandas(X)
    return with_days(with_instants(table)) if _is_table(table) else X


def _places_of_times(X: Any) -> tuple[int, ...]:
    table = as_pandas(X)
    return places_of_instants(with_instants(table)) if _is_table(table) else ()


def _is_table(X: Any) -> bool:
    return isinstance(X, pd.DataFrame | np.ndarray) and X.ndim == 2


def _seed(random_state: Any) -> int:
    """A whole number as it is, and a number drawn from anything else."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))
