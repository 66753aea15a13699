"""The result of a fit: candidates, the belief over them, and averaged predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.data.units import Units
from vbks.errors import DataError
from vbks.grammar.expression import Expression
from vbks.inference.proposal import of_warp
from vbks.inference.result import Posterior
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.models.posterior_models import NUM_MODELS, models_at_samples, variational_model
from vbks.predict.models.variational_svgp import VariationalSVGP
from vbks.predict.new_noise import NewNoise
from vbks.search.paper import BeliefRecord, Callback, TrainingRecord
from vbks.selection import (
    belief_tables,
    export,
    files,
    paper_updates,
    plot_data,
    plots,
    refits,
    updates,
)
from vbks.selection import forecast as forecasts
from vbks.selection import leaderboard as leaderboards
from vbks.selection.explained import ExplainedSelection
from vbks.selection.forecast import Forecast
from vbks.selection.new_inputs import read_new_inputs

if TYPE_CHECKING:
    from gpflow.models import GPR, SGPR, SVGP
    from matplotlib.axes import Axes

    from vbks.backtesting.results import Backtest
    from vbks.report.content import Report

SIMILARITY_POINTS = 200
"""Predictions of kernels are compared at this many rows unless other inputs are given."""


@dataclass(frozen=True, eq=False)
class Selection(ExplainedSelection):
    """Fits of all candidates, the belief over them, and predictions averaged over it.

    Inputs and targets are in the user's own units everywhere. A selection does not change:
    `with_belief`, `top`, `refit` and `update` give new ones. `SelectionRecord` has its fields,
    and with them ``probabilities``, ``weights``, ``best``, ``fit_of`` and the ``mixture`` as a
    GPflow model; `ExplainedSelection` has `components`, `properties` and `criticism`.
    """

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<Selection: {len(self.fits)} candidates, best '{best.expression}'"
            f"{of_warp(best.warp)} with probability {self.probabilities.max():.2f}>"
        )

    # Belief

    @cached_property
    def belief(self) -> pd.DataFrame:
        """A table of the candidates, best first.

        ``reading`` says in a few words what a candidate is made of, such as "yearly cycle × growth,
        slow drift". ``probability`` says how sure we are of a candidate, ``weight`` what it counts
        in averaged predictions. ``log_evidence`` is comparable between warps; ``evidence`` says how
        it was got (importance sampling, a bound, Laplace, or the likelihood of a candidate that was
        pruned) and ``standard_error`` what sampling leaves uncertain in it. ``elbo`` is that of the
        fit, in its own units, where it is a bound; ``bic`` = −2 log likelihood + p log N, lower is
        better. ``most_probable`` is what a candidate that was not fitted to the end could have held
        at most. The columns of `KINDS` have what other ways of weighing say.

        The table computes nothing that takes long: with more than a thousand rows ``stacking`` is
        empty until left-out rows were looked at, and so is ``weight``, which `weights` finds.
        """
        return belief_tables.belief_table(self)

    def leaderboard(self, data: tuple[Any, Any] | None = None) -> pd.DataFrame:
        """A table of the average and of each candidate, best first, with how well it predicts.

        ``left_out`` is the mean log density of rows given all others, where rows are few enough for
        it to be cheap. With rows ``data`` = (X, y) that were held out, there are their ``rmse`` and
        ``nlpd``, by which the table is sorted then. ``seconds`` are those of the fit.
        """
        return leaderboards.leaderboard(self, data)

    @cached_property
    def structures(self) -> pd.DataFrame:
        """The belief in structures, best first: copies of one and its warps are added up."""
        return belief_tables.structure_table(self)

    def with_belief(self, kind: str | None = None, **settings: Any) -> Selection:
        """The same fits under another belief: "bayes", "vbks", or "stacking" for its weights.

        Settings are those of `vbks.BeliefSettings`.
        """
        changed = self.belief_settings.changed(kind, **settings)
        return replace(self, belief_settings=changed.resolved(self.fits), given_weights=None)

    def top(self, num_candidates: int) -> Selection:
        """The belief over the best ``num_candidates``, formed again from the fits there are."""
        return self.with_belief(max_candidates=num_candidates)

    def correlations(self) -> pd.DataFrame:
        """Correlations in q(g) of the VBKS belief: a diagnostic, not a likeness of kernels."""
        return belief_tables.correlation_table(self)

    def similarity(self, Xnew: Any = None) -> pd.DataFrame:
        """How alike candidates are: correlations of their predictions, at data rows by default."""
        if Xnew is None:
            rng = np.random.default_rng(0)
            inputs, _ = self.rows.source.sample(SIMILARITY_POINTS, rng)
        else:
            inputs = read_new_inputs(self, Xnew)
        return belief_tables.similarity_table(self.mixture, inputs)

    @property
    def search_path(self) -> pd.DataFrame:
        """The way of the search: which candidate was the best from when on, and its score then."""
        return belief_tables.search_table(self.search_steps)

    @property
    def settings_table(self) -> pd.DataFrame:
        """A row for each of the `settings` of the fit, by its name."""
        names, values = [*self.settings], pd.Series([*self.settings.values()], dtype=object)
        return pd.DataFrame({"setting": names, "value": values})

    @property
    def training_record(self) -> TrainingRecord | None:
        """Steps, minibatches, inducing points and samples of a fit as in the VBKS paper."""
        return None if self.training is None else self.training.record

    @property
    def belief_history(self) -> tuple[BeliefRecord, ...]:
        """The belief on the way, where a callback or a trace was asked for in such a fit."""
        return () if self.training is None else self.training.history

    # Predictions

    def predict_f(self, Xnew: Any, full_cov: bool = False) -> tuple[Array, Array]:
        """Mean [N] and variance [N], or covariance [N, N], of the function, noise left out."""
        mean, variance = self.mixture.predict_f(read_new_inputs(self, Xnew), full_cov=full_cov)
        return mean.numpy()[:, 0], variance.numpy()[0 if full_cov else (slice(None), 0)]

    def predict_y(self, Xnew: Any, *, noise_variance: Any = None) -> tuple[Array, Array]:
        """Mean [N] and variance [N] of new targets.

        Their noise is what was learned and, where it is given, the known variance of each [N]: that
        of rows which were learned from says nothing of new ones.
        """
        X = read_new_inputs(self, Xnew)
        mean, variance = (part.numpy()[:, 0] for part in self.mixture.predict_y(X))
        if noise_variance is None:
            return mean, variance
        return mean, variance + NewNoise(self.mixture, X, noise_variance).variances

    def predict_log_density(self, data: tuple[Any, Any], *, noise_variance: Any = None) -> Array:
        """Log densities [N] of new targets under the mixture, with noise as in `predict_y`."""
        Xnew, ynew = data
        X, targets = read_new_inputs(self, Xnew), np.asarray(ynew, float).reshape(-1, 1)
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
        X = read_new_inputs(self, Xnew)
        if noise_variance is not None:
            return NewNoise(self.mixture, X, noise_variance).quantiles(np.asarray(levels, float))
        found = self.mixture.predict_quantiles(X, levels)
        return np.asarray(found).reshape(-1, len(levels))

    def predict_f_samples(self, Xnew: Any, num_samples: int = 10) -> Array:
        """Functions drawn from the averaged posterior: [S, N]."""
        X = read_new_inputs(self, Xnew)
        return np.asarray(self.mixture.predict_f_samples(X, num_samples))[..., 0]

    def forecast(
        self,
        periods: int,
        *,
        freq: Any = None,
        levels: Sequence[float] = forecasts.LEVELS,
        noise_variance: Any = None,
    ) -> Forecast:
        """What the target will be in the ``periods`` steps after the last row, as a table.

        The step is found from the dates, or from even numbers. ``freq`` says otherwise: "M", "B" or
        another offset of pandas, or a number where the input has numbers. Intervals hold the shares
        of new targets that ``levels`` names.
        """
        return forecasts.forecast(self, periods, freq, levels, noise_variance)

    def simulate(self, periods: Any, num_samples: int = 100, *, freq: Any = None) -> pd.DataFrame:
        """Joint paths of new targets in the periods after the last row, a column a path: [N, S].

        In place of a number of periods there may be inputs [N, D] of your own. What several
        periods together will be follows from paths and not from intervals of each:
        ``selection.simulate(12).sum().quantile([0.05, 0.95])``. Each call draws new ones.
        """
        return forecasts.simulate(self, periods, num_samples, freq)

    # Candidates

    @property
    def units(self) -> Units:
        """The units of the best candidate, which its GPflow model does not know.

        With a likelihood that has a link only inputs are in other units there.
        """
        units = self.data[self.best.warp].units
        return units if self.likelihood.has_identity_link else units.with_targets_as_they_are()

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
        fit = self.best if expression is None else self.fit_of(expression, warp)
        return refits.refit(self, fit, posterior, restarts, seed)

    def with_model(
        self, model: Any, expression: Expression | str | None = None, warp: str | None = None
    ) -> Selection:
        """The selection with a candidate that is fitted on from the values of a GPflow model.

        The model is one that `model` gave, trained further, or one of your own of the same rows, in
        your units or standardised; parameters that are not trainable are held. A candidate that is
        there already is replaced if the new fit has more evidence; else there is one more.
        """
        return refits.with_model(self, model, expression, warp)

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
            if noise_variance is not None:
                raise DataError("noise_variance is no part of the VBKS paper. Leave it out.")
            return paper_updates.update_as_paper(self, X, y, callback)
        if callback is not None:
            raise DataError("a callback goes with fits of preset='paper'. Leave it out.")
        return updates.update(self, X, y, noise_variance)

    # Pictures

    def plot_prediction(self, ax: Axes | None = None, Xnew: Any = None) -> Axes:
        """The data, the median of new targets, and the intervals that hold 50 % and 90 % of them.

        Of one input, that is a curve over the range of the data and a little beyond, or over Xnew.
        Of several, predictions at the rows of the fit are drawn against their targets.
        """
        if self.num_inputs > 1:
            return plots.plot_against_targets(plot_data.predicted_rows(self, Xnew), ax)
        return plots.plot_curve(plot_data.predicted_curve(self, Xnew), ax)

    def plot_belief(self, ax: Axes | None = None, num_candidates: int = 10) -> Axes:
        """The probabilities of the best candidates as bars, with what others say as marks.

        Those that were nearly as good but not fitted to the end have an empty bar, as long as what
        they could have held at most.
        """
        return plots.plot_belief(self.belief, self.belief_settings.kind, ax, num_candidates)

    def plot_trace(self, ax: Axes | None = None, num_candidates: int = 6) -> Axes:
        """The probabilities of candidates that have led, against the share of the rows seen.

        After a fit as in the VBKS paper it is against the steps of its training.
        """
        return plots.plot_trace(plot_data.trace_of(self), ax, num_candidates)

    # The report

    def report(self, path: Any = None, *, backtest: Backtest | None = None) -> Report:
        """All that there is to say, as plain values and, with a path, in a file for people.

        "report.html" is one page that needs nothing else; "report.json" has the same content. The
        page has forecasts of the past, made without new fits where that is cheap; a ``backtest`` of
        `vbks.backtest` takes their place.
        """
        from vbks.report import report_of, write_report

        found = report_of(self, backtest)
        if path is not None:
            write_report(found, path)
        return found

    def _repr_html_(self) -> str:
        from vbks.report import brief_report_of, notebook_of

        return notebook_of(brief_report_of(self))

    # Files

    def save(self, folder: Any) -> None:
        """Write everything to a folder as JSON and NumPy arrays; `vbks.load` reads it."""
        files.save(self, folder)

    def export(
        self, folder: Any, expression: Expression | str | None = None, warp: str | None = None
    ) -> None:
        """Write averaged predictions, or those of one candidate, as a SavedModel for serving.

        ``tf.saved_model.load(folder)`` needs neither vbks nor GPflow. What it gives has
        ``predict_f(Xnew)``, ``predict_y(Xnew)`` and ``predict_log_density(Xnew, Ynew)``, from
        inputs [N, D] and targets [N, 1] of 64 bits to dictionaries of ``mean`` and ``variance``
        [N, 1], or ``log_density`` [N], all in the user's units; instants are days since 1970.
        """
        export.export(self, folder, expression, warp)
