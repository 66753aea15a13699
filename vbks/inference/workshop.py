"""Fits of candidates under several warps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.execution.work import Executor, InOrder, Work
from vbks.execution.work import Stage as WorkStage
from vbks.inference.bounds.upper_bounds import with_uppers, worth_bounding
from vbks.inference.chunks import cost_of
from vbks.inference.context import FitContext
from vbks.inference.evaluator import Evaluator
from vbks.inference.progress import Progress, Quiet
from vbks.inference.proposal import Proposal, Structure, structure_of
from vbks.inference.residuals import as_parent
from vbks.inference.result import Bound, LocalFit, Posterior
from vbks.inference.settings import AS_ASKED, compare
from vbks.kernels.starts.inheritance import Parent
from vbks.predict.leave_one_out import leave_one_out

Tell = Callable[[Mapping[int, LocalFit]], object]
"""Hears of fits by their places."""


def nobody(fits: Mapping[int, LocalFit]) -> None:
    """Hear of fits, and do nothing."""


@dataclass(frozen=True)
class Stage:
    """The bound, posterior and inducing points of fits that are compared with each other.

    ``uppers`` is how many of a list, the best by BIC, have their likelihood bounded from above;
    ``held_out`` asks for the log density of rows given the others. With ``num_rows``, fits are to
    about this many of the rows, in runs of neighbours. ``importance`` asks for evidences by
    importance sampling.
    """

    bound: Bound
    posterior: Posterior
    num_inducing: int | None = None
    uppers: int = 0
    held_out: bool = False
    num_rows: int | None = None
    importance: bool = False

    def part_of(self, rows: TrainingData) -> TrainingData:
        """The rows that fits are to."""
        return rows if self.num_rows is None else rows.in_runs(self.num_rows)


@dataclass(frozen=True)
class Workshop:
    """Turns proposals into fits, list after list, with an evaluator for each warp.

    ``settings`` are further ones of `fit_candidates`, such as its restarts and seed.
    """

    data: Mapping[Warp, TrainingData]
    stage: Stage
    race: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: Progress = field(default_factory=Quiet)
    executor: Executor = field(default_factory=InOrder)
    _evaluators: dict[Warp, Evaluator] = field(default_factory=dict)
    _parents: dict[Structure, Parent] = field(default_factory=dict)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the evaluators have to say, each sentence once."""
        said = (notice for evaluator in self._evaluators.values() for notice in evaluator.notices)
        # The choice of the bound was made here, so that it says nothing to the user.
        return tuple(dict.fromkeys(text for text in said if not text.endswith(AS_ASKED)))

    def fit(self, proposals: Sequence[Proposal], tell: Tell = nobody) -> list[LocalFit]:
        """Fits in the order of the proposals, children from their parents.

        ``tell`` hears of fits, by their places, as soon as nothing is missing in them: one by one
        where they are bounded from above.
        """
        self.report.start(len(proposals), f"{len(proposals)} candidates, {self.stage.bound}")
        fits: dict[int, LocalFit] = {}
        for warp, places in _by_warp([p.warp for p in proposals]).items():
            own = [proposals[k] for k in places]
            parents = {p.expression: self._parent(p.parent) for p in own if p.parent is not None}
            expressions = [p.expression for p in own]
            evaluate = self._evaluator(warp, len(own))
            done = evaluate(expressions, parents=parents, report=self.report)
            done = self._judged(done, evaluate.comparison, places, tell)
            fits |= dict(zip(places, done, strict=True))
        return [fits[k] for k in range(len(proposals))]

    def go_on(self, fits: Sequence[LocalFit]) -> list[LocalFit]:
        """The same candidates, from where earlier fits of them have ended."""
        self.report.start(len(fits), f"the best {len(fits)}, {self.stage.bound}")
        again: dict[int, LocalFit] = {}
        for warp, places in _by_warp([fit.warp for fit in fits]).items():
            own = [fits[k] for k in places]
            earlier = {fit.expression: fit for fit in own}
            evaluate = self._evaluator(warp, len(own))
            done = evaluate([fit.expression for fit in own], earlier=earlier, report=self.report)
            again |= dict(zip(places, done, strict=True))
        return [again[k] for k in range(len(fits))]

    def _judged(
        self, fits: list[LocalFit], comparison: FitContext, places: Sequence[int], tell: Tell
    ) -> list[LocalFit]:
        """Fits with what the stage asks for beside their bounds."""
        stage = self.stage
        if stage.uppers:
            chosen = worth_bounding(fits, comparison, stage.uppers)
            told = nobody if stage.held_out else tell
            told({places[k]: fit for k, fit in enumerate(fits) if k not in chosen})
            heard = _by_place(places, told)
            fits = self._also("upper bounds", with_uppers, fits, chosen, comparison, 1, heard)
        if stage.held_out:
            size, every = comparison.chunk_size, list(range(len(fits)))
            heard = _by_place(places, tell)
            fits = self._also("held-out rows", _with_held_out, fits, every, comparison, size, heard)
        return fits

    def _also(
        self,
        name: str,
        stage: WorkStage,
        fits: list[LocalFit],
        chosen: Sequence[int],
        comparison: FitContext,
        size: int,
        tell: Tell,
    ) -> list[LocalFit]:
        """Further work on some of the fits, ``size`` at once."""
        places = [chosen[i : i + size] for i in range(0, len(chosen), size)]
        chunks = tuple(tuple(fits[k] for k in chunk) for chunk in places)
        self.report.stage(name, len(chosen))
        work = Work(name, stage, comparison, chunks, _as_it_is, cost_of=cost_of)
        done: dict[int, LocalFit] = {}
        with closing(self.executor.run(work)) as results:
            for k, found in results:
                fresh = dict(zip(places[k], found, strict=True))
                done |= fresh
                self.report.advance(len(found))
                tell(fresh)
        return [done.get(k, fit) for k, fit in enumerate(fits)]

    def _evaluator(self, warp: Warp, num_candidates: int) -> Evaluator:
        if warp not in self._evaluators:
            comparison, notices = compare(
                self.stage.part_of(self.data[warp]),
                num_candidates,
                whole=self.data[warp],
                inference=self.stage.bound,
                posterior=self.stage.posterior,
                num_inducing=self.stage.num_inducing,
                importance=self.stage.importance,
                **self.settings,
            )
            self._evaluators[warp] = Evaluator(comparison, notices, self.race, self.executor)
        return self._evaluators[warp]

    def _parent(self, fit: LocalFit) -> Parent:
        """The fit as a parent, its residuals computed once."""
        structure = structure_of(fit)
        if structure not in self._parents:
            comparison = self._evaluator(fit.warp, 1).comparison
            self._parents[structure] = as_parent(fit, comparison)
        return self._parents[structure]


def _by_place(places: Sequence[int], tell: Tell) -> Tell:
    """Tell of fits by the places that members of a part of them have."""
    return lambda fits: tell({places[k]: fit for k, fit in fits.items()})


def _with_held_out(fits: Sequence[LocalFit], comparison: FitContext) -> list[LocalFit]:
    """Fits with the log density of all rows, each given the others."""
    densities = leave_one_out(fits, comparison.data).sum(axis=0)
    return [replace(fit, held_out=float(d)) for fit, d in zip(fits, densities, strict=True)]


def _as_it_is(fit: LocalFit, comparison: FitContext, reason: str) -> LocalFit:
    """A fit about which nothing more could be found out."""
    return fit


def _by_warp(warps: Sequence[Warp]) -> dict[Warp, list[int]]:
    """Places of each warp, in order of first appearance."""
    places: dict[Warp, list[int]] = {}
    for place, warp in enumerate(warps):
        places.setdefault(warp, []).append(place)
    return places
