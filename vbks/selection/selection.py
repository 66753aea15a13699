"""The result of a fit: candidates, the belief over them, and averaged predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pandas as pd
import tensorflow as tf

from vbks.arrays import Array
from vbks.data.tables import read_inputs
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.data.warps import Warp
from vbks.errors import DataError, GraphError, VbksError
from vbks.execution.devices import Devices
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.candidate import given_by
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.proposal import of_warp, structure_of
from vbks.inference.result import LocalFit, Posterior
from vbks.inference.workshop import Stage, Workshop
from vbks.kernels.precision import check_precision
from vbks.predict.leave_one_out import leave_one_out
from vbks.predict.mixture import KernelMixture
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.models.mean_functions import mean_values
from vbks.predict.models.posterior_models import NUM_MODELS, models_at_samples, variational_model
from vbks.predict.models.variational_svgp import VariationalSVGP
from vbks.predict.new_noise import NewNoise
from vbks.predict.shifted_mixture import ShiftedMixture
from vbks.search.paper import BeliefRecord, Callback, Training, TrainingRecord
from vbks.search.protocol import Step
from vbks.selection.missing_rows import MissingRows
from vbks.weights.belief import KernelBelief
from vbks.weights.forming import averaged_weights, form_belief, stack
from vbks.weights.settings import BeliefSettings, belief_fields

if TYPE_CHECKING:
    from gpflow.functions import Function
    from gpflow.models import GPR, SGPR, SVGP
    from matplotlib.axes import Axes

KINDS = ("bayes", "vbks", "stacking")
"""Ways of weighing candidates that the table has beside each other."""

LEAVE_OUT_ROWS = 2000
"""Rows at most that are left out in turn to see how well candidates predict."""

SIMILARITY_POINTS = 200
"""Inputs at which the predictions of kernels are compared, unless others are given."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Fits of all candidates, the belief over them, and predictions averaged over it.

    Inputs and targets are in the user's own units everywhere. A selection does not change:
    `with_belief`, `pruned` and `update` give new ones.
    """

    fits: tuple[LocalFit, ...]
    data: Mapping[Warp, TrainingData]
    settings: BeliefSettings = field(default_factory=BeliefSettings)
    likelihood: Likelihood = field(default_factory=Gaussian)
    feature_names: tuple[str, ...] | None = None
    notices: tuple[str, ...] = ()
    """Sentences about data and search that the user should know."""
    trace: pd.DataFrame | None = None
    """Probabilities of candidates against the rows seen, where `fit` was asked for it."""
    time_inputs: tuple[int, ...] = ()
    """Inputs that are times, counted from 0; new ones must be times, too."""
    steps: tuple[Step, ...] = ()
    """Candidates that were the best of the search, one after the other."""
    untried: tuple[str, ...] = ()
    """Candidates that there was no budget for: those proposed, and all others of a fixed space."""
    given_weights: Array | None = None
    """Weights [K] that were found while rows were there which were not saved."""
    training: Training | None = None
    """How candidates were trained, where that was done as in the VBKS paper."""
    mean_function: Function | None = None
    """What targets vary around, in the user's units; the rows of `data` have it taken off."""

    def __post_init__(self) -> None:
        if not any(fit.status == "fitted" for fit in self.fits):
            reasons = "; ".join(f"{fit.expression}: {fit.reason}" for fit in self.fits[:5])
            raise VbksError(f"none of {len(self.fits)} candidates could be fitted. {reasons}")

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the fields, and nothing that is computed from them."""
        return {own.name: getattr(self, own.name) for own in fields(self)}

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<Selection: {len(self.fits)} candidates, best '{best.expression}'"
            f"{of_warp(best.warp)} with probability {self.probabilities.max():.2f}>"
        )

    # Belief

    @cached_property
    def kernel_belief(self) -> KernelBelief:
        """The belief in candidates, with q(g) where it has one."""
        return form_belief(self.fits, self.settings)

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
        densities = self._densities if self._can_stack else None
        return averaged_weights(self.fits, self.settings, self.probabilities, densities)

    @property
    def best(self) -> LocalFit:
        """The candidate with the highest probability."""
        return self.fits[int(np.argmax(self.probabilities))]

    @cached_property
    def belief(self) -> pd.DataFrame:
        """A table of the candidates, best first.

        ``probability`` says how sure we are of a candidate, ``weight`` what it counts in averaged
        predictions. ``log_evidence`` is comparable between warps; ``evidence`` says how it was got
        (importance sampling, a bound, Laplace, or the likelihood of a candidate that was pruned)
        and ``standard_error`` what sampling leaves uncertain in it. ``elbo`` is that of the fit, in
        its own units, where it is a bound; ``bic`` = −2 log likelihood + p log N, lower is better.
        ``most_probable`` is what a candidate that was not fitted to the end could have held at
        most. The columns of `KINDS` have what other ways of weighing say.
        """
        columns: dict[str, Any] = {
            "expression": [str(fit.expression) for fit in self.fits],
            "warp": [fit.warp.name for fit in self.fits],
            "probability": self.probabilities,
            "weight": self.weights,
            "log_evidence": [fit.log_evidence(self.settings.correction) for fit in self.fits],
            "standard_error": [fit.log_evidence_error for fit in self.fits],
            "evidence": [_evidence(fit, self.settings) for fit in self.fits],
            "most_probable": self._most_probable,
            **{kind: self._weights_by(kind) for kind in KINDS},
            "elbo": [fit.elbo if fit.is_bounded else math.nan for fit in self.fits],
            "upper": [fit.upper + fit.log_jacobian for fit in self.fits],
            "bic": [fit.bic for fit in self.fits],
            "inference": [fit.bound for fit in self.fits],
            "status": [fit.status for fit in self.fits],
            "converged": [fit.converged for fit in self.fits],
            "seconds": [fit.seconds for fit in self.fits],
            "reason": [fit.reason for fit in self.fits],
        }
        table = pd.DataFrame(columns)
        rank = {"fitted": 0, "dropped": 1, "failed": 2}
        order = table.assign(rank=table["status"].map(rank)).sort_values(
            ["rank", "probability", "most_probable", "log_evidence"],
            ascending=[True, False, False, False],
            kind="stable",
        )
        return table.loc[order.index].reset_index(drop=True)

    @cached_property
    def structures(self) -> pd.DataFrame:
        """The belief in structures, best first: copies of one and its warps are added up."""
        pairs = zip(self.fits, self.probabilities, self.weights, strict=True)
        rows = [(str(structure_of(fit)[0]), fit.warp.name, p, w) for fit, p, w in pairs]
        table = pd.DataFrame(rows, columns=["structure", "warps", "probability", "weight"])
        table = table[[fit.status == "fitted" for fit in self.fits]]
        found = table.groupby("structure", sort=False).agg(
            {"probability": "sum", "weight": "sum", "warps": _joined}
        )
        return found.sort_values("probability", ascending=False, kind="stable").reset_index()

    def with_belief(self, kind: str | None = None, **settings: Any) -> Selection:
        """The same fits under another belief: "bayes", "vbks", or "stacking" for its weights.

        Settings are those of `vbks.BeliefSettings`.
        """
        changed = self.settings.changed(kind, **settings)
        return replace(self, settings=changed.resolved(self.fits), given_weights=None)

    def pruned(self, num: int) -> Selection:
        """The belief over the best ``num`` candidates, formed again from the fits there are."""
        return self.with_belief(members=num)

    def correlations(self) -> pd.DataFrame:
        """Correlations in q(g) of the VBKS belief: a diagnostic, not a likeness of kernels."""
        is_layer = self.settings.kind == "vbks"
        settings = self.settings if is_layer else replace(self.settings, kind="vbks")
        belief = form_belief(self.fits, settings)
        kept = [k for k, p in enumerate(belief.probabilities) if p > 0]
        names = [_name(self.fits[k]) for k in kept]
        return pd.DataFrame(belief.correlations[np.ix_(kept, kept)], names, names)

    def similarity(self, Xnew: Any = None) -> pd.DataFrame:
        """How alike candidates are: correlations of their predictions, at data rows by default."""
        if Xnew is None:
            rng = np.random.default_rng(0)
            inputs, _ = self._rows.source.sample(SIMILARITY_POINTS, rng)
        else:
            inputs = self._inputs(Xnew)
        means, _ = self.mixture.member_predictions(inputs)
        names = [_name(fit) for fit, _ in self.mixture.members]
        return pd.DataFrame(np.atleast_2d(np.corrcoef(means)), names, names)

    @property
    def path(self) -> pd.DataFrame:
        """The way of the search: which candidate was the best from when on, and its score then."""
        names = [own.name for own in fields(Step)]
        return pd.DataFrame([astuple(step) for step in self.steps], columns=names)

    @property
    def record(self) -> TrainingRecord | None:
        """Steps, minibatches, inducing points and samples of a fit as in the VBKS paper."""
        return None if self.training is None else self.training.record

    @property
    def history(self) -> tuple[BeliefRecord, ...]:
        """The belief on the way, where a callback or a trace was asked for in such a fit."""
        return () if self.training is None else self.training.history

    # Predictions

    @cached_property
    def mixture(self) -> KernelMixture:
        """The averaged model as a GPflow model, in the user's units.

        Its predictions are tensors, with gradients for inputs that are tensors, too.
        """
        return self.mixture_of(self.fits, self.weights)

    def mixture_of(self, fits: Sequence[LocalFit], weights: Any) -> KernelMixture:
        """Some of the candidates, averaged with weights, as a GPflow model in the user's units."""
        if self.mean_function is None:
            return KernelMixture(fits, weights, self.data, likelihood=self.likelihood)
        return ShiftedMixture(fits, weights, self.data, mean_function=self.mean_function)

    def predict_f(self, Xnew: Any, full_cov: bool = False) -> tuple[Array, Array]:
        """Mean [N] and variance [N], or covariance [N, N], of the function, noise left out."""
        mean, variance = self.mixture.predict_f(self._inputs(Xnew), full_cov=full_cov)
        return mean.numpy()[:, 0], variance.numpy()[0 if full_cov else (slice(None), 0)]

    def predict_y(self, Xnew: Any, *, noise_variance: Any = None) -> tuple[Array, Array]:
        """Mean [N] and variance [N] of new targets.

        Their noise is what was learned and, where it is given, the known variance of each [N]: that
        of rows which were learned from says nothing of new ones.
        """
        X = self._inputs(Xnew)
        mean, variance = (part.numpy()[:, 0] for part in self.mixture.predict_y(X))
        if noise_variance is None:
            return mean, variance
        return mean, variance + NewNoise(self.mixture, X, noise_variance).variances

    def predict_log_density(self, data: tuple[Any, Any], *, noise_variance: Any = None) -> Array:
        """Log densities [N] of new targets under the mixture, with noise as in `predict_y`."""
        Xnew, ynew = data
        X, targets = self._inputs(Xnew), np.asarray(ynew, float).reshape(-1, 1)
        if noise_variance is None:
            return np.ravel(self.mixture.predict_log_density((X, targets)))
        return NewNoise(self.mixture, X, noise_variance).log_density(targets[:, 0])

    def predict_quantiles(
        self,
        Xnew: Any,
        quantiles: float | Sequence[float] = (0.05, 0.5, 0.95),
        *,
        noise_variance: Any = None,
    ) -> Array:
        """Quantiles of new targets under the mixture, with noise as in `predict_y`: [N, Q]."""
        levels = tuple(np.atleast_1d(quantiles))
        X = self._inputs(Xnew)
        if noise_variance is not None:
            return NewNoise(self.mixture, X, noise_variance).quantiles(np.asarray(levels, float))
        found = self.mixture.predict_quantiles(X, levels)
        return np.asarray(found).reshape(-1, len(levels))

    def predict_f_samples(self, Xnew: Any, num_samples: int = 10) -> Array:
        """Functions drawn from the averaged posterior: [S, N]."""
        return np.asarray(self.mixture.predict_f_samples(self._inputs(Xnew), num_samples))[..., 0]

    # Candidates

    @property
    def num_rows(self) -> int:
        """Number N of rows that were learned from."""
        return self._rows.num_rows

    @property
    def units(self) -> Units:
        """The units of the best candidate, which its GPflow model does not know.

        With a likelihood that has a link only inputs are in other units there.
        """
        units = self.data[self.best.warp].units
        return units if self.likelihood.has_identity_link else units.with_targets_as_they_are()

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

    @overload
    def model(
        self,
        expression: Expression | str | None = None,
        warp: str | None = None,
        *,
        posterior: Literal[False] = False,
    ) -> GPR | SGPR | SVGP: ...

    @overload
    def model(
        self,
        expression: Expression | str | None = None,
        warp: str | None = None,
        *,
        posterior: Literal[True],
        num_samples: int = NUM_MODELS,
    ) -> VariationalSVGP | list[tuple[float, GPR | SGPR]]: ...

    def model(
        self,
        expression: Expression | str | None = None,
        warp: str | None = None,
        *,
        posterior: bool = False,
        num_samples: int = NUM_MODELS,
    ) -> GPR | SGPR | SVGP | VariationalSVGP | list[tuple[float, GPR | SGPR]]:
        """A candidate, or the best, as a trained GPflow model in warped standardised units.

        ``selection.data[fit.warp].units`` converts: inputs go in by `standardise_inputs`, what
        comes out goes through `restore_moments`.

        The model is at the mean of q(θ). With ``posterior``, a stochastic fit is a
        `VariationalSVGP`, which has q(θ) itself, and others are a list of about ``num_samples``
        weights and models at samples of θ.
        """
        fit = self.best if expression is None else self.fit_of(expression, warp)
        rows = self.data[fit.warp]
        if not posterior:
            return gpflow_model(fit, rows, self.likelihood, self.mean_function)
        if self.mean_function is not None:
            raise DataError(
                "models with the posterior of θ have no mean function. Use model() without "
                "posterior=, or the averaged predictions."
            )
        if fit.bound == "stochastic":
            return variational_model(fit, rows, self.likelihood)
        return models_at_samples(fit, rows, self.likelihood, num_samples)

    def refit(
        self,
        expression: Expression | str | None = None,
        warp: str | None = None,
        *,
        posterior: Posterior | None = None,
        restarts: int | None = None,
        seed: int = 0,
    ) -> Selection:
        """The selection after a candidate, or the best, was fitted on from where it is.

        It may have been dropped or have failed before: it is fitted by the bound of the others, and
        the belief is formed anew. With ``restarts`` it is also begun from this many starts, and the
        better of the two counts; ``posterior`` is another q(θ) than that of the others.
        """
        from vbks.selection.refits import refit

        fit = self.best if expression is None else self.fit_of(expression, warp)
        return refit(self, fit, posterior, restarts, seed)

    def with_model(
        self, model: Any, expression: Expression | str | None = None, warp: str | None = None
    ) -> Selection:
        """The selection with a candidate that is fitted on from the values of a GPflow model.

        The model is one that `model` gave, trained further, or one of your own of the same rows, in
        your units or standardised; parameters that are not trainable are held. A candidate that is
        there already is replaced if the new fit has more evidence; else there is one more.
        """
        from vbks.selection.refits import with_model

        return with_model(self, model, expression, warp)

    # More rows

    def update(
        self, X: Any, y: Any, noise_variance: Any = None, *, callback: Callback | None = None
    ) -> Selection:
        """The selection after more rows: fits go on from where they are, and the belief moves.

        Units and inducing inputs stay. Candidates that were dropped or have failed stay out. Where
        the noise of the rows was known, that of the new ones [N] has to be given. After a fit as in
        the VBKS paper only the new rows are looked at: what earlier ones say is in q(u) and q(θ),
        and a point estimate of θ stays. The callback is that of `vbks.fit`.
        """
        if self.training is not None:
            from vbks.selection.paper import update_as_paper

            if noise_variance is not None:
                raise DataError("noise_variance is no part of the VBKS paper. Leave it out.")
            return update_as_paper(self, X, y, callback)
        if callback is not None:
            raise DataError("a callback goes with fits of preset='paper'. Leave it out.")
        inputs = read_inputs(X)
        self.refuse_mixed_times(inputs.labels, inputs.times)
        if self.mean_function is not None:
            y = np.ravel(np.asarray(y, float)) - mean_values(self.mean_function, self._inputs(X))
        data = {warp: rows.with_rows(X, y, noise_variance) for warp, rows in self.data.items()}
        going = [k for k, fit in enumerate(self.fits) if fit.status == "fitted"]
        first = self.fits[going[0]]
        settings = {
            "likelihood": self.likelihood, "ard": first.ard, "inducing": first.inducing,
            "given": given_by(self.fits[k] for k in going),
        }  # fmt: skip
        done: dict[int, LocalFit] = {}
        for stage, places in _stages(self.fits, going).items():
            workshop = Workshop(data, stage, False, settings, executor=Devices())
            done |= zip(places, workshop.go_on([self.fits[k] for k in places]), strict=True)
        fits = tuple(done.get(k, fit) for k, fit in enumerate(self.fits))
        return replace(self, fits=fits, data=data, trace=None, given_weights=None)

    # Pictures

    def plot_prediction(self, ax: Axes | None = None, Xnew: Any = None) -> Axes:
        """The data and the averaged prediction with its 90 % interval, for one input."""
        from vbks.selection.plots import plot_prediction

        return plot_prediction(self, ax, Xnew)

    def plot_belief(self, ax: Axes | None = None, num: int = 10) -> Axes:
        """The probabilities of the best candidates as bars."""
        from vbks.selection.plots import plot_belief

        return plot_belief(self, ax, num)

    def plot_trace(self, ax: Axes | None = None, num: int = 6) -> Axes:
        """The belief against the proportion of rows seen."""
        from vbks.selection.plots import plot_trace

        return plot_trace(self, ax, num)

    def save(self, folder: Any) -> None:
        """Write everything to a folder as JSON and NumPy arrays; `vbks.load` reads it."""
        from vbks.selection.files import save

        save(self, folder)

    def export(
        self, folder: Any, candidate: Expression | str | None = None, warp: str | None = None
    ) -> None:
        """Write averaged predictions, or those of one candidate, as a SavedModel for serving.

        ``tf.saved_model.load(folder)`` needs neither vbks nor GPflow. What it gives has
        ``predict_f(Xnew)``, ``predict_y(Xnew)`` and ``predict_log_density(Xnew, Ynew)``, from
        inputs [N, D] and targets [N, 1] of 64 bits to dictionaries of ``mean`` and ``variance``
        [N, 1], or ``log_density`` [N], all in the user's units; instants are days since 1970.
        """
        from vbks.selection.export import export

        export(self, folder, candidate, warp)

    # Own work

    @property
    def _rows(self) -> TrainingData:
        """The rows under any of the warps."""
        return next(iter(self.data.values()))

    def _inputs(self, Xnew: Any) -> Array:
        check_precision()
        if not tf.executing_eagerly():
            raise GraphError(
                "predictions of a selection are arrays, which cannot be part of a graph. Use those "
                "of `selection.mixture`, which are tensors and have gradients."
            )
        values, labels, names, times = read_inputs(Xnew)
        if names is not None and self.feature_names is not None and names != self.feature_names:
            raise DataError(
                f"Xnew has the columns {', '.join(names)}, but the fit had "
                f"{', '.join(self.feature_names)}. Give the same columns in the same order."
            )
        if values.shape[1] != self._rows.num_inputs:
            raise DataError(
                f"Xnew has {values.shape[1]} columns, but the fit had {self._rows.num_inputs}."
            )
        self.refuse_mixed_times(labels, times)
        return values

    def refuse_mixed_times(self, labels: Sequence[str], times: Sequence[int]) -> None:
        """Days since 1970 and the user's own numbers must not pass for each other."""
        for place in set(times) ^ set(self.time_inputs):
            now, then = ("times", "numbers") if place in times else ("numbers", "times")
            raise DataError(
                f"{labels[place]} has {now}, but had {then} when it was fitted. Give {then}."
            )

    @cached_property
    def _leave_one_out(self) -> Array:
        densities = np.full((self._rows.num_rows, len(self.fits)), -math.inf)
        for warp, rows in self.data.items():
            own = [k for k, f in enumerate(self.fits) if f.status == "fitted" and f.warp == warp]
            if own:
                found = leave_one_out([self.fits[k] for k in own], rows, most_rows=LEAVE_OUT_ROWS)
                densities[: len(found), own] = found
        return densities[: min(LEAVE_OUT_ROWS, len(densities))]

    def _densities(self) -> Array:
        return self._leave_one_out

    @property
    def _can_stack(self) -> bool:
        """Whether rows are there to be left out, with noise for which that has a closed form."""
        has_rows = not isinstance(self._rows.source, MissingRows)
        return has_rows and self.likelihood.is_gaussian

    def _weights_by(self, kind: str) -> Array:
        """What one of the ways of weighing says of each candidate: [K]."""
        if kind == self.settings.kind:
            return self.probabilities
        if kind != "stacking":
            plain = replace(
                self.settings,
                **belief_fields(kind),
                form="gaussian",
                prior_mean=None,
                prior_covariance=None,
            )
            return form_belief(self.fits, plain).probabilities
        if not self._can_stack:
            return np.full(len(self.fits), np.nan)
        return stack(self.fits, self.settings, self._leave_one_out).probabilities

    @property
    def _most_probable(self) -> list[float]:
        """The probability, or what a candidate could have held that was not fitted to the end."""
        pairs = zip(self.fits, self.probabilities, strict=True)
        return [p if fit.status == "fitted" else fit.most_probable for fit, p in pairs]


def _stages(fits: Sequence[LocalFit], places: Sequence[int]) -> dict[Stage, list[int]]:
    """Places of fits that were made alike."""
    found: dict[Stage, list[int]] = {}
    for k in places:
        fit = fits[k]
        stage = Stage(fit.bound, fit.posterior, importance=bool(np.isfinite(fit.evidence)))
        found.setdefault(stage, []).append(k)
    return found


def _joined(names: pd.Series[str]) -> str:
    """Names in their order, each once."""
    return ", ".join(dict.fromkeys(names))


def _evidence(fit: LocalFit, settings: BeliefSettings) -> str:
    """How the log evidence of the table was got."""
    return fit.evidence_source if settings.correction == "laplace" else settings.correction


def _name(fit: LocalFit) -> str:
    return f"{fit.expression}{of_warp(fit.warp)}"
