"""The stages of a fit: rungs with pruning after each of them, and what finalises candidates."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vbks.execution.work import Executor, Failure, Stage, Work
from vbks.inference import finalise, rungs
from vbks.inference.candidate import Candidate, failed_fit, unfinished
from vbks.inference.chunks import cost_of, cut
from vbks.inference.context import FitContext
from vbks.inference.proposal import of_warp
from vbks.inference.pruning import margin_of, prune
from vbks.inference.relatives import better_relatives
from vbks.inference.result import LocalFit
from vbks.inference.screening import Rung
from vbks.inference.svgp import finalise as svgp_finalise
from vbks.inference.svgp import plain_ascent, steps
from vbks.progress import Progress


def _failed(candidate: Candidate, context: FitContext, reason: str) -> Candidate:
    return candidate.failed(reason)


class Pipeline:
    """The stages that candidates go through, with pruning between them."""

    def __init__(
        self, context: FitContext, report: Progress, prune: bool, executor: Executor
    ) -> None:
        self.context, self.report = context, report
        self.prune, self.executor = prune, executor

    def fit(self, candidates: Sequence[Candidate]) -> list[LocalFit]:
        """Fits of all candidates, in their order; those far behind stay where they are."""
        is_stochastic = self.context.bound == "stochastic"
        found, before = list(candidates), None
        for rung in self.context.screening.rungs:
            is_used = rung.rows == "screening" or not is_stochastic
            if is_used and rungs.applies(rung, found, self.context, self.prune):
                found, before = self._rung(found, rung, before), rung
        if not is_stochastic:
            return self._finalise(finalise.finalise, found)
        if self.context.ascent == "plain":
            done = self._stage("plain ascent", plain_ascent.ascend, found, is_long=True)
        else:
            done = self._stage("SVGP steps", steps.take_steps, found, is_long=True)
        return self._finalise(svgp_finalise.finalise, done)

    def _rung(
        self, candidates: Sequence[Candidate], rung: Rung, before: Rung | None
    ) -> list[Candidate]:
        """One rung; who goes on from an earlier fit has no screening, as there was one."""
        takes_part = [rung.rows != "screening" or not c.has_begun for c in candidates]
        own = [c for c, takes in zip(candidates, takes_part, strict=True) if takes]
        done = self._stage(rung.name, partial(rungs.run_rung, rung=rung, before=before), own)
        if rung.learns_from_relatives:
            done = self._screen_again(done, rung)
        pruned = self._prune(done, rung)
        going = [c for c in pruned if c.is_going]
        if going:
            self.report.leads(self._name(max(going, key=lambda c: c.best)))
        left = iter(pruned)
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
        self,
        name: str,
        stage: Stage,
        candidates: Sequence[Candidate],
        fail: Failure = _failed,
        is_long: bool = False,
    ) -> list[Any]:
        """Results of one stage for those who are still going; the others stay as they are."""
        going = [k for k, c in enumerate(candidates) if c.is_going]
        self.report.stage(name, len(going))
        places = [
            [going[k] for k in chunk] for chunk in cut([candidates[k] for k in going], self.context)
        ]
        chunks = tuple(tuple(candidates[k] for k in chunk) for chunk in places)
        work = Work(name, stage, self.context, chunks, fail, is_long, cost_of=cost_of)
        found: list[Any] = list(candidates)
        with closing(self.executor.run(work)) as results:
            for chunk, done in results:
                for k, result in zip(places[chunk], done, strict=True):
                    found[k] = result
                self._tell(done)
        return found

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
        for c in candidates:
            if not c.is_going:
                self.report.finished(self._name(c), np.nan, ok=not c.reason)
        done = self._stage("finalising", stage, candidates, failed_fit)
        return [own if isinstance(own, LocalFit) else unfinished(own, self.context) for own in done]

    def _name(self, own: Candidate | LocalFit) -> str:
        return f"{own.expression}{of_warp(self.context.data.units.warp)}"

    def _tell(self, done: Sequence[Candidate | LocalFit]) -> None:
        for result in done:
            if isinstance(result, LocalFit):
                ok = result.status != "failed"
                self.report.finished(self._name(result), result.log_evidence(), ok=ok)
        self.report.advance(len(done))
