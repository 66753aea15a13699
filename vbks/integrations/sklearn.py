"""The scikit-learn estimator on top of `vbks.fit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vbks.api import fit
from vbks.arrays import Array
from vbks.config import Space
from vbks.data.times import places_of_instants, with_days
from vbks.data.training import MIN_ROWS
from vbks.inference.result import Posterior
from vbks.inference.settings import Inference
from vbks.search.budget import Budget
from vbks.weights.prior import KernelPrior
from vbks.weights.settings import BeliefSettings, Weighting

LARGEST_SEED = 2**31 - 1
"""Seeds that are drawn from a random state are smaller."""


class VBKSRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression averaged over kernels, for pipelines and searches of scikit-learn.

    Parameters are those of `vbks.fit`; ``random_state`` is its seed. A growing space ends after a
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
        belief: Literal["bayes", "vbks", "stacking"] | BeliefSettings | None = None,
        prior: KernelPrior = "uniform",
        weights: Weighting | None = None,
        inference: Inference = "auto",
        posterior: Posterior | Literal["auto"] = "auto",
        num_inducing: int | None = None,
        batch_size: int | None = None,
        likelihood: Any = "gaussian",
        warps: Literal["auto"] | Sequence[str] = "auto",
        target_range: tuple[float, float] | None = None,
        families: Sequence[str] | None = None,
        restarts: int | None = None,
        budget: float | Budget | None = None,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool = False,
    ) -> None:
        self.space = space
        self.belief = belief
        self.prior = prior
        self.weights = weights
        self.inference = inference
        self.posterior = posterior
        self.num_inducing = num_inducing
        self.batch_size = batch_size
        self.likelihood = likelihood
        self.warps = warps
        self.target_range = target_range
        self.families = families
        self.restarts = restarts
        self.budget = budget
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any) -> VBKSRegressor:
        """Choose kernels for inputs X [N, D], which may have times, and targets y [N]."""
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
        selection = fit(pd.DataFrame(rows, columns=names), targets, **settings)
        self.selection_ = replace(selection, time_inputs=_places_of_times(X))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Means [N] of new targets at X [N, D], and their standard deviations [N] if asked for."""
        check_is_fitted(self)
        rows = validate_data(self, _without_times(X), reset=False, dtype=np.float64)
        mean, variance = (part.numpy()[:, 0] for part in self.selection_.mixture.predict_y(rows))
        return (mean, np.sqrt(variance)) if return_std else mean


def _without_times(X: Any) -> Any:
    """Times as days; anything else is left for scikit-learn to judge."""
    return with_days(X) if _is_table(X) else X


def _places_of_times(X: Any) -> tuple[int, ...]:
    return places_of_instants(X) if _is_table(X) else ()


def _is_table(X: Any) -> bool:
    return isinstance(X, pd.DataFrame | np.ndarray) and X.ndim == 2


def _seed(random_state: Any) -> int:
    """A whole number as it is, and a number drawn from anything else."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))
