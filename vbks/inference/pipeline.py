"""The stages of a fit, from candidates to fits, with pruning between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbks.execution.work import Executor, Failure, Stage, Work, carry_out
from vbks.inference import climbing
from vbks.inference.candidate import Candidate, failed_fit, unfinished
from vbks.inference.chunks import cost_of, cut
from vbks.inference.context import FitContext
from vbks.inference.progress import Progress
from vbks.inference.pruning import (
    ALWAYS,
    ALWAYS_CLIMBING,
    CLIMB_MARGIN,
    CLOSE_LOOK_MARGIN,
    FEW,
    LOOK_MARGIN,
    decide,
    glance_margin,
)
from vbks.inference.relatives import better_relatives
from vbks.inference.result import LocalFit
from vbks.inference.svgp import finalise, plain_ascent, steps


class Pipeline:
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
            climb = plain_ascent.climb if comparison.ascent == "plain" else steps.climb
            climbed = self._stage("climbing", climb, looked, is_long=True)
        else:
            climbed = self._climb(looked)
            # Evidences that are quickly found say more than standings.
            margin = CLIMB_MARGIN if comparison.bounds_theta else np.inf
            climbed = self._decide(climbed, "climb", margin, comparison.num_rows)
        finish = finalise.finish if is_stochastic else climbing.finish
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
