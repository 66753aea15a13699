"""The evaluator: a list of expressions becomes a list of fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from vbks.arrays import Array
from vbks.errors import GrammarError
from vbks.execution.work import Executor, Failure, InOrder, Stage, Work, carry_out
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference import pipeline as climbing
from vbks.inference.candidate import Candidate, failed_fit, make_candidate, unfinished
from vbks.inference.chunks import cost_of, cut
from vbks.inference.context import FitContext
from vbks.inference.progress import Progress, Quiet, reporting
from vbks.inference.relatives import better_relatives
from vbks.inference.result import Ascent, LocalFit, Posterior
from vbks.inference.screening import (
    ALWAYS,
    ALWAYS_CLIMBING,
    CLIMB_MARGIN,
    CLOSE_LOOK_MARGIN,
    FEW,
    LOOK_MARGIN,
    decide,
    glance_margin,
)
from vbks.inference.settings import RESTARTS, Inference, compare
from vbks.inference.svgp import finalise as last_passes
from vbks.inference.svgp import plain_ascent as plain
from vbks.inference.svgp import steps as rounds
from vbks.kernels.given import GivenValues
from vbks.kernels.starts.inheritance import Parent


def fit_candidates(
    expressions: Sequence[Expression | str],
    data: Any,
    *,
    inference: Inference = "auto",
    posterior: Posterior | Literal["auto"] = "auto",
    num_inducing: int | None = None,
    batch_size: int | None = None,
    ascent: Ascent = "natural",
    likelihood: Any = "gaussian",
    prior: str = "vbks",
    restarts: int = RESTARTS,
    ard: bool = True,
    jitter: float | None = None,
    parents: Mapping[Expression, Parent] | None = None,
    earlier: Mapping[Expression, LocalFit] | None = None,
    inducing: Array | None = None,
    given: Mapping[Expression, GivenValues] | None = None,
    race: bool = True,
    memory_limit: int | None = None,
    importance: bool = False,
    executor: Executor | None = None,
    seed: int = 0,
    progress: bool | Progress = False,
) -> list[LocalFit]:
    """Fit every expression to rows (X, y) in any units, and bound its log evidence.

    Args:
        expressions: the candidates; fits come back in their order.
        data: a pair (X, y), a `tf.data.Dataset` of rows, or `TrainingData`.
        inference: how the function is integrated out: "exact", "collapsed" (Titsias' bound),
            "stochastic" (minibatches), or what time and memory allow.
        posterior: q(θ) with the best "full" or "diagonal" covariance, or that of "laplace", or a
            "point"; by default full, and a point where fits are stochastic.
        num_inducing: inducing points, the same for all candidates.
        batch_size: rows of a minibatch.
        ascent: how stochastic fits climb: by "natural" gradients and Newton's steps, or "plain"
            stochastic gradient ascent for everything, as in the VBKS paper.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        prior: "vbks", "flat" for maximum likelihood, or "skc" for the partly improper priors of Kim
            and Teh (2018).
        restarts: starts of each candidate.
        ard: whether a leaf on several inputs has a lengthscale for each.
        jitter: what is added to the diagonals of matrices before they are factorised.
        parents: fitted expressions that candidates begin from.
        earlier: fits of the candidates themselves, from which they go on instead of starting anew.
        inducing: inducing inputs [M, D] in standardised units, instead of chosen ones.
        given: values of θ of some candidates, in standardised units; some are held, and the others
            are one of the starts.
        race: whether candidates far behind stop early, which their fits record.
        memory_limit: bytes that the fit may use; half of what is free by default.
        executor: where the fits are made; here, chunk after chunk, by default.
        seed: everything random follows from it.
        progress: show a live table, if the output is a terminal.

    A candidate that cannot be fitted comes back as a failed fit with the reason.
    """
    comparison, notices = compare(
        data,
        len(expressions),
        inference=inference,
        posterior=posterior,
        num_inducing=num_inducing,
        batch_size=batch_size,
        ascent=ascent,
        likelihood=likelihood,
        prior=prior,
        restarts=restarts,
        ard=ard,
        jitter=jitter,
        inducing=inducing,
        given=given,
        memory=memory_limit,
        importance=importance,
        seed=seed,
    )
    evaluate = Evaluator(comparison, notices, race, executor or InOrder())
    with reporting(progress) as report:
        report.start(len(expressions), _describe(comparison, len(expressions)))
        for notice in notices:
            report.say(notice)
        return evaluate(expressions, parents=parents, earlier=earlier, report=report)


@dataclass(frozen=True)
class Evaluator:
    """Turns lists of expressions into fits that can be compared, list after list."""

    comparison: FitContext
    notices: tuple[str, ...] = ()
    race: bool = True
    executor: Executor = field(default_factory=InOrder)

    def __call__(
        self,
        expressions: Sequence[Expression | str],
        *,
        parents: Mapping[Expression, Parent] | None = None,
        earlier: Mapping[Expression, LocalFit] | None = None,
        report: Progress | None = None,
    ) -> list[LocalFit]:
        """Fits in the order of the expressions; one that cannot be fitted has failed, and says why.

        A candidate begins from its parent, or goes on from an earlier fit of itself.
        """
        if isinstance(expressions, str):
            raise GrammarError(f"expected a list of expressions, got the text {expressions!r}.")
        parsed = [parse(expression) for expression in expressions]
        if not parsed:
            raise GrammarError("there is nothing to fit. Give at least one expression.")
        parents, earlier = parents or {}, earlier or {}
        candidates = [
            make_candidate(e, self.comparison, parents.get(e), earlier.get(e)) for e in parsed
        ]
        fits = _Run(self.comparison, report or Quiet(), self.race, self.executor).fit(candidates)
        return [replace(fit, notices=self.notices) for fit in fits]


def _describe(comparison: FitContext, num_candidates: int) -> str:
    text = f"{num_candidates} candidates, {comparison.num_rows:,} rows, {comparison.bound}"
    if comparison.bound != "exact":
        text += f" with {len(comparison.Z)} inducing points"
    return text


class _Run:
    """The stages that candidates go through: look, climb, finish, with the race between them."""

    def __init__(
        self, comparison: FitContext, report: Progress, race: bool, executor: Executor
    ) -> None:
        self.comparison, self.report = comparison, report
        self.race, self.executor = race, executor

    def fit(self, candidates: Sequence[Candidate]) -> list[LocalFit]:
        """Fits of all candidates, in their order."""
        comparison = self.comparison
        is_stochastic = comparison.bound == "stochastic"
        looked = self._look(candidates)
        if is_stochastic:
            climb = plain.climb if comparison.ascent == "plain" else rounds.climb
            climbed = self._stage("climbing", climb, looked, is_long=True)
        else:
            climbed = self._climb(looked)
            # Evidences that are quickly found say more than standings.
            margin = CLIMB_MARGIN if comparison.bounds_theta else np.inf
            climbed = self._decide(climbed, "climb", margin, comparison.num_rows)
        finish = last_passes.finish if is_stochastic else climbing.finish
        return self._finish(finish, climbed)

    def _climb(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Climbs of exact and collapsed fits, in whose midst those far behind leave."""
        going = [c for c in candidates if c.is_going]
        few = ALWAYS_CLIMBING if self.comparison.has_middle else ALWAYS
        is_few = len(going) <= few or any(c.has_begun for c in going)
        if is_few or not self.race:
            return self._stage("climbing", climbing.climb, candidates)
        begun = self._stage("climbing", climbing.begin_climb, candidates)
        num_rows = self.comparison.seen_by("first climb")
        begun = self._decide(begun, "first climb", CLOSE_LOOK_MARGIN, num_rows, few)
        return self._stage("climbing on", climbing.climb_on, begun)

    def _look(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """A look at those who are new; who goes on from an earlier fit has had one."""
        fresh = [c for c in candidates if not c.has_begun]
        num_rows = self.comparison.seen_by("look")
        look: Stage = climbing.look
        if self.race and len(fresh) > FEW:
            fresh = self._stage("glancing", climbing.glance, fresh)
            fresh = self._decide(fresh, "glance", glance_margin(num_rows), num_rows)
            look = climbing.look_on
        looked = self._stage("looking", look, fresh)
        looked = self._look_again(looked)
        margin = CLOSE_LOOK_MARGIN if self.comparison.looks_closely else LOOK_MARGIN
        decided = self._decide(looked, "look", margin, num_rows)
        done = iter(decided)
        return [c if c.has_begun else next(done) for c in candidates]

    def _look_again(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Another look at those below a relative, whose optimum they may have missed."""
        better = better_relatives(candidates)
        if not better:
            return list(candidates)
        chosen = [replace(candidates[k], parent=parent) for k, parent in better.items()]
        again = dict(zip(better, self._stage("looking again", climbing.look, chosen), strict=True))
        return [
            c.joined(again[k]) if k in again and again[k].is_going else c
            for k, c in enumerate(candidates)
        ]

    def _stage(
        self, name: str, stage: Stage, candidates: Sequence[Candidate], is_long: bool = False
    ) -> list[Candidate]:
        """One stage for those who are still in the race; the others stay as they are."""
        going = [c for c in candidates if c.is_going]
        done = iter(self._work(name, stage, going, _failed, is_long))
        return [next(done) if c.is_going else c for c in candidates]

    def _decide(
        self,
        candidates: Sequence[Candidate],
        stage: str,
        margin: float,
        num_rows: int,
        always: int = ALWAYS,
    ) -> list[Candidate]:
        going = [c for c in candidates if c.is_going]
        margin = margin if self.race else np.inf
        decided = iter(decide(going, stage, margin, num_rows, always, self._log_prior))
        return [next(decided) if c.is_going else c for c in candidates]

    def _log_prior(self, candidate: Candidate) -> float:
        return self.comparison.log_prior(candidate.layout, candidate.thetas[0])

    def _finish(self, stage: Stage, candidates: Sequence[Candidate]) -> list[LocalFit]:
        going = [c for c in candidates if c.is_going]
        for c in candidates:
            if not c.is_going:
                self.report.finished(str(c.expression), c.best, ok=not c.reason)
        done = iter(self._work("finishing", stage, going, failed_fit))
        return [next(done) if c.is_going else unfinished(c, self.comparison) for c in candidates]

    def _work(
        self,
        name: str,
        stage: Stage,
        candidates: Sequence[Candidate],
        fail: Failure,
        is_long: bool = False,
    ) -> list[Any]:
        """A stage by the executor, its results in the order of the candidates."""
        self.report.stage(name, len(candidates))
        places = cut(candidates, self.comparison)
        chunks = tuple(tuple(candidates[k] for k in chunk) for chunk in places)
        work = Work(name, stage, self.comparison, chunks, fail, is_long, cost_of=cost_of)
        results = carry_out(self.executor, work, places, self._tell)
        return [results[k] for k in range(len(candidates))]

    def _tell(self, done: Sequence[Candidate | LocalFit]) -> None:
        for result in done:
            if isinstance(result, LocalFit):
                ok = result.status != "failed"
                self.report.finished(str(result.expression), result.elbo, ok=ok)
        self.report.advance(len(done))


def _failed(candidate: Candidate, comparison: FitContext, reason: str) -> Candidate:
    return candidate.failed(reason)
