"""The stages of a fit: rungs with pruning after each of them, and what finalises candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vbks.execution.work import Executor, Failure, Stage, Work, carry_out
from vbks.inference import finalise, rungs
from vbks.inference.candidate import Candidate, failed_fit, unfinished
from vbks.inference.chunks import cost_of, cut
from vbks.inference.context import FitContext
from vbks.inference.progress import Progress
from vbks.inference.pruning import margin_of, prune
from vbks.inference.relatives import better_relatives
from vbks.inference.result import LocalFit
from vbks.inference.screening import Rung
from vbks.inference.svgp import finalise as svgp_finalise
from vbks.inference.svgp import plain_ascent, steps


class Pipeline:
    """The stages that candidates go through, with pruning between them."""

    def __init__(
        self, context: FitContext, report: Progress, prune: bool, executor: Executor
    ) -> None:
        self.context, self.report = context, report
        self.prune, self.executor = prune, executor

    def fit(self, candidates: Sequence[Candidate]) -> list[LocalFit]:
        """Fits of all candidates, in their order."""
        every = self.context.screening.rungs
        if self.context.bound != "stochastic":
            return self._finalise(finalise.finalise, self._go_through(candidates, every))
        cheap = [rung for rung in every if rung.rows == "screening"]
        screened = self._go_through(candidates, cheap)
        if self.context.ascent == "plain":
            done = self._stage("plain ascent", plain_ascent.ascend, screened, is_long=True)
        else:
            done = self._stage("SVGP steps", steps.take_steps, screened, is_long=True)
        return self._finalise(svgp_finalise.finalise, done)

    def _go_through(
        self, candidates: Sequence[Candidate], every: Sequence[Rung]
    ) -> list[Candidate]:
        """Candidates after all rungs that apply; those far behind stay where they are."""
        found, before = list(candidates), None
        for rung in every:
            if rungs.applies(rung, found, self.context, self.prune):
                found, before = self._rung(found, rung, before), rung
        return found

    def _rung(
        self, candidates: Sequence[Candidate], rung: Rung, before: Rung | None
    ) -> list[Candidate]:
        """One rung; who goes on from an earlier fit has no screening, as there was one."""
        takes_part = [rung.rows != "screening" or not c.has_begun for c in candidates]
        own = [c for c, takes in zip(candidates, takes_part, strict=True) if takes]
        done = self._stage(rung.name, partial(rungs.run_rung, rung=rung, before=before), own)
        if rung.learns_from_relatives:
            done = self._screen_again(done, rung)
        left = iter(self._prune(done, rung))
        parts = zip(candidates, takes_part, strict=True)
        return [next(left) if takes else c for c, takes in parts]

    def _screen_again(self, candidates: Sequence[Candidate], rung: Rung) -> list[Candidate]:
        """Another screening of those below a relative, whose optimum they may have missed."""
        better = better_relatives(candidates, self.context.screening)
        if not better:
            return list(candidates)
        chosen = [replace(candidates[k], parent=parent) for k, parent in better.items()]
        found = self._stage(f"{rung.name} again", partial(rungs.run_rung, rung=rung), chosen)
        again = dict(zip(better, found, strict=True))
        return [
            c.joined(again[k]) if k in again and again[k].is_going else c
            for k, c in enumerate(candidates)
        ]

    def _stage(
        self, name: str, stage: Stage, candidates: Sequence[Candidate], is_long: bool = False
    ) -> list[Candidate]:
        """One stage for those who are still going; the others stay as they are."""
        going = [c for c in candidates if c.is_going]
        done = iter(self._work(name, stage, going, _failed, is_long))
        return [next(done) if c.is_going else c for c in candidates]

    def _prune(self, candidates: Sequence[Candidate], rung: Rung) -> list[Candidate]:
        going = [c for c in candidates if c.is_going]
        pruned = prune(
            going,
            rung.name,
            margin_of(rung, self.context) if self.prune else np.inf,
            self.context.num_rows_of(rung),
            keep=rung.keep,
            penalty=self.context.screening.parameter_penalty,
            log_prior=self._log_prior,
        )
        left = iter(pruned)
        return [next(left) if c.is_going else c for c in candidates]

    def _log_prior(self, candidate: Candidate) -> float:
        return self.context.log_prior(candidate.layout, candidate.thetas[0])

    def _finalise(self, stage: Stage, candidates: Sequence[Candidate]) -> list[LocalFit]:
        going = [c for c in candidates if c.is_going]
        for c in candidates:
            if not c.is_going:
                self.report.finished(str(c.expression), c.best, ok=not c.reason)
        done = iter(self._work("finalising", stage, going, failed_fit))
        return [next(done) if c.is_going else unfinished(c, self.context) for c in candidates]

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
        places = cut(candidates, self.context)
        chunks = tuple(tuple(candidates[k] for k in chunk) for chunk in places)
        work = Work(name, stage, self.context, chunks, fail, is_long, cost_of=cost_of)
        results = carry_out(self.executor, work, places, self._tell)
        return [results[k] for k in range(len(candidates))]

    def _tell(self, done: Sequence[Candidate | LocalFit]) -> None:
        for result in done:
            if isinstance(result, LocalFit):
                ok = result.status != "failed"
                self.report.finished(str(result.expression), result.elbo, ok=ok)
        self.report.advance(len(done))


def _failed(candidate: Candidate, context: FitContext, reason: str) -> Candidate:
    return candidate.failed(reason)
