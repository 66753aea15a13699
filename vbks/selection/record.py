"""Everything that a selection is made of, and the belief and averages that follow from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from gpflow.functions import Function

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.errors import DataError, VbksError
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.result import LocalFit
from vbks.predict.leave_one_out import leave_one_out
from vbks.predict.mixture import KernelMixture
from vbks.predict.posteriors.samples import NUM_SAMPLES
from vbks.predict.shifted_mixture import ShiftedMixture
from vbks.search.paper import Training
from vbks.search.protocol import Step
from vbks.selection.missing_rows import MissingRows
from vbks.weights.belief import KernelBelief
from vbks.weights.forming import averaged_weights, form_belief
from vbks.weights.settings import BeliefSettings

MOST_LEFT_OUT = 1000
"""With more rows, densities of left-out ones take too long for a table that is only looked at."""

PlainValue: TypeAlias = "bool | int | float | str | tuple[PlainValue, ...] | None"
"""A setting as a file has it."""


@dataclass(frozen=True, eq=False)
class SelectionRecord:
    """Fits of all candidates, the rows they are of, and how the belief over them is formed."""

    fits: tuple[LocalFit, ...]
    data: Mapping[Warp, TrainingData]
    belief_settings: BeliefSettings = field(default_factory=BeliefSettings)
    likelihood: Likelihood = field(default_factory=Gaussian)
    feature_names: tuple[str, ...] | None = None
    notices: tuple[str, ...] = ()
    """Sentences about data and search that the user should know."""
    trace: pd.DataFrame | None = None
    """Probabilities of candidates against the rows seen, where `fit` was asked for it."""
    time_inputs: tuple[int, ...] = ()
    """Inputs that are times, counted from 0; new ones must be times, too."""
    search_steps: tuple[Step, ...] = ()
    """Candidates that were the best of the search, one after the other."""
    untried: tuple[str, ...] = ()
    """Candidates that there was no budget for: those proposed, and all others of a fixed space."""
    given_weights: Array | None = None
    """Weights [K] that were found while rows were there which were not saved."""
    training: Training | None = None
    """How candidates were trained, where that was done as in the VBKS paper."""
    mean_function: Function | None = None
    """What targets vary around, in the user's units; the rows of `data` have it taken off."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Every setting of the fit by its name, each a `PlainValue`."""
    target_name: str | None = None
    """The name of the target, if it came with one."""

    def __post_init__(self) -> None:
        if not any(fit.status == "fitted" for fit in self.fits):
            reasons = "; ".join(f"{fit.expression}: {fit.reason}" for fit in self.fits[:5])
            raise VbksError(f"none of {len(self.fits)} candidates could be fitted. {reasons}")

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the fields, and nothing that is computed from them."""
        return {own.name: getattr(self, own.name) for own in fields(self)}

    def with_notices(self: AnySelection, *notices: str) -> AnySelection:
        """The same, with more that its user should know, before the rest."""
        return replace(self, notices=(*notices, *self.notices)) if notices else self

    @property
    def rows(self) -> TrainingData:
        """The rows under any of the warps: they differ by their targets alone."""
        return next(iter(self.data.values()))

    @property
    def num_rows(self) -> int:
        """Number N of rows that were learned from."""
        return self.rows.num_rows

    @property
    def num_inputs(self) -> int:
        """Number D of inputs."""
        return self.rows.num_inputs

    @cached_property
    def kernel_belief(self) -> KernelBelief:
        """The belief in candidates, with q(g) where it has one."""
        return form_belief(self.fits, self.belief_settings)

    @property
    def probabilities(self) -> Array:
        """The belief in each of `fits`, which says how sure we are of it: [K]."""
        return self.kernel_belief.probabilities

    @cached_property
    def weights(self) -> Array:
        """What each of `fits` counts in averaged predictions: [K].

        These are the probabilities, unless weights by stacking are asked for or predict rows that
        are left out clearly better.
        """
        if self.given_weights is not None:
            return self.given_weights
        densities = (lambda: self.left_out_densities) if self.can_stack else None
        return averaged_weights(self.fits, self.belief_settings, self.probabilities, densities)

    @property
    def best(self) -> LocalFit:
        """The candidate with the highest probability."""
        return self.fits[int(np.argmax(self.probabilities))]

    def fit_of(self, expression: Expression | str, warp: str | None = None) -> LocalFit:
        """The fit of a candidate, in whatever order it is written; the best of its warps."""
        wanted = arrange(parse(expression))
        found = [
            (probability, k)
            for k, (fit, probability) in enumerate(zip(self.fits, self.probabilities, strict=True))
            if arrange(fit.expression) == wanted and warp in (None, fit.warp.name)
        ]
        if not found:
            under = "" if warp is None else f" under the warp '{warp}'"
            raise DataError(
                f"'{wanted}'{under} was not tried. `belief` lists the {len(self.fits)} candidates."
            )
        return self.fits[max(found)[1]]

    @property
    def can_stack(self) -> bool:
        """Whether rows are there to be left out, with noise for which that has a closed form."""
        return not isinstance(self.rows.source, MissingRows) and self.likelihood.is_gaussian

    @property
    def has_cheap_left_out(self) -> bool:
        """Whether `left_out_densities` are there, or rows few enough for them to take no time."""
        known = "left_out_densities" in self.__dict__
        return known or (self.can_stack and self.num_rows <= MOST_LEFT_OUT)

    @property
    def weights_at_hand(self) -> Array:
        """The `weights` [K], or NaN where finding them would take long and nobody asked for it.

        That is so with many rows, of which those left out would have to say whether weights by
        stacking are better.
        """
        is_quick = (
            self.given_weights is not None
            or "weights" in self.__dict__
            or self.belief_settings.weights != "auto"
            or not self.can_stack
            or self.has_cheap_left_out
        )
        return self.weights if is_quick else np.full(len(self.fits), np.nan)

    @cached_property
    def left_out_densities(self) -> Array:
        """Log densities of rows given all others, of some rows if there are many: [N, K]."""
        most = self.belief_settings.averaging.max_left_out
        densities = np.full((self.num_rows, len(self.fits)), -math.inf)
        for warp, rows in self.data.items():
            own = [k for k, f in enumerate(self.fits) if f.status == "fitted" and f.warp == warp]
            if own:
                found = leave_one_out([self.fits[k] for k in own], rows, max_rows=most)
                densities[: len(found), own] = found
        return densities[: min(most, len(densities))]

    @cached_property
    def mixture(self) -> KernelMixture:
        """The averaged model as a GPflow model, in the user's units.

        Its predictions are tensors, with gradients for inputs that are tensors, too.
        """
        return self.mixture_of(self.fits, self.weights)

    def mixture_of(
        self, fits: Sequence[LocalFit], weights: Any, num_samples: int = NUM_SAMPLES
    ) -> KernelMixture:
        """Some of the candidates, averaged with weights, as a GPflow model in the user's units."""
        if self.mean_function is None:
            return KernelMixture(
                fits, weights, self.data, likelihood=self.likelihood, num_samples=num_samples
            )
        return ShiftedMixture(
            fits, weights, self.data, mean_function=self.mean_function, num_samples=num_samples
        )


AnySelection = TypeVar("AnySelection", bound=SelectionRecord)
"""A record of a selection, or the `Selection` that has it: what goes in comes out changed."""
