"""A whole choice: a strategy proposes until it or its budget ends, then the best are finalised."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import Proposal, of_warp, structure_of
from vbks.inference.result import Correction, LocalFit
from vbks.search.budget import BudgetTracker, Decide, made_now
from vbks.search.cost import all_alike
from vbks.search.final_fits import FinalFits
from vbks.search.plan import Plan
from vbks.search.protocol import SearchState, Step, Strategy

SHOWN = 3
"""A sentence names this many candidates that were not tried; `SearchResult.untried` has all."""

NEAR = 10.0
"""A fit that has not converged is told of if its log evidence is at most this many nats below the
best."""


TOLD_STARTUP = 1.0
"""From this many seconds on it is said how long starting took."""


@dataclass(frozen=True)
class SearchResult:
    """All fits, sentences about them, when which was the best, and what was not tried."""

    fits: tuple[LocalFit, ...]
    notices: tuple[str, ...]
    path: tuple[Step, ...]
    untried: tuple[str, ...]


@dataclass
class SearchRunner:
    """Runs a search, and then the final fits of the best, if there are any.

    ``cost`` is what a fit of the search costs, roughly, in seconds, and ``space`` are candidates
    that are to be tried whatever the strategy proposes before it is stopped. A runner that
    ``is_patient`` has no budget to keep to: it takes as long as the method usually does, finishes
    the best in any case, and others in some more time. ``decide_final`` makes decisions about final
    fits, which may have been made before.
    """

    strategy: Strategy
    evaluator: Evaluator
    plan: Plan
    tracker: BudgetTracker
    criterion: Correction = "laplace"
    cost: Callable[[Proposal], float] = all_alike
    final: FinalFits | None = None
    space: Sequence[Proposal] = ()
    is_patient: bool = False
    decide_final: Decide = made_now
    state: SearchState = field(default_factory=SearchState)
    """How far the search has come."""
    path: list[Step] = field(default_factory=list)
    """A step for every time that another candidate became the best, by the criterion."""
    untried: tuple[str, ...] = ()
    seconds: float = 0.0
    startup: float = 0.0
    """Seconds before the first candidate: imports, and what is read off the data."""

    def run(self) -> SearchResult:
        """Search until that ends or its budget does, and fit the best as well as can be."""
        self.startup = self.tracker.seconds
        while True:
            self.state, proposals = self.strategy.propose(self.state)
            fits: list[LocalFit] = []
            for affordable in self._affordable(proposals, fits):
                fits += self.evaluator.fit(affordable, self.plan.search)
            if fits:
                self.state = self.strategy.absorb(self.state, fits)
                self._note()
            left = proposals[len(fits) :]
            if left or not proposals:
                return self._result(left)

    def _result(self, left: Sequence[Proposal]) -> SearchResult:
        """What a search has found that did not fit the proposals ``left``, after final fits."""
        self._end(left)
        fits, failure = list(self.state.fits), ""
        if self.final is not None:
            budget = self.tracker.budget
            if self.is_patient:
                longer = self.evaluator.settings.policies.search.patience * budget.seconds
                self.tracker.budget = replace(budget, seconds=longer)
            tracker = self.tracker.for_final_fits(self.decide_final)
            fits, failure = self.final.finish(fits, tracker, self.is_patient)
        rows = next(iter(self.evaluator.data.values()))
        notices = (
            *rows.notices, *self.evaluator.notices,
            self._used(fits, rows.num_rows).notice(rows.num_rows), self.notice(), failure,
            not_converged(fits),
            *failed_warps(fits),
        )  # fmt: skip
        told = tuple(dict.fromkeys(filter(None, notices)))
        return SearchResult(tuple(fits), told, tuple(self.path), self.untried)

    def _affordable(
        self, proposals: Sequence[Proposal], fits: Sequence[LocalFit]
    ) -> Iterator[list[Proposal]]:
        """What there is budget for now, warp by warp, which shows what fits cost.

        ``fits`` are those that were made of the proposals so far.
        """
        for _, group in groupby(proposals, key=lambda proposal: proposal.warp):
            own = list(group)
            costs = [self.cost(proposal) for proposal in own]
            while own:
                done = (*self.state.fits, *fits)
                reserve = () if self.final is None else self.final.costs(done)
                num = self.tracker.affordable(costs, reserve)
                if not num:
                    return
                yield own[:num]
                self.tracker.spend(costs[:num])
                own, costs = own[num:], costs[num:]

    def _note(self) -> None:
        """Remember the best if it is another one than before."""
        best = self.strategy.best(self.state)
        if best is None:
            return
        step = Step(
            self.tracker.seconds, self.tracker.candidates, str(best.expression), best.warp.name,
            best.log_evidence(self.criterion),
        )  # fmt: skip
        if not self.path or not self.path[-1].is_same(step):
            self.path.append(step)

    def _end(self, left: Sequence[Proposal]) -> None:
        """Remember when it was over, and what was left."""
        self.seconds = self.tracker.seconds
        known = {structure_of(fit)[0] for fit in self.state.fits} | {p.structure[0] for p in left}
        ended = bool(self.state.ending)
        never = [] if ended else [p for p in self.space if p.structure[0] not in known]
        self.untried = tuple(str(proposal) for proposal in (*left, *never))

    def _used(self, fits: Sequence[LocalFit], num_rows: int) -> Plan:
        """The plan as far as it was carried out."""
        bound = self.plan.final.bound
        last = [fit for fit in fits if fit.bound == bound and fit.num_rows == num_rows]
        is_final = any(fit.status == "fitted" for fit in last)
        return self.plan if is_final else Plan(self.plan.search, self.plan.search)

    def notice(self) -> str:
        """How the search has ended, what it has not tried, and how to let it go on."""
        num = self.tracker.candidates
        were = "candidate was" if num == 1 else "candidates were"
        tried = f"{num} {were} tried in {self.seconds:.0f} s"
        if self.startup >= TOLD_STARTUP:
            tried += f", of which starting took {self.startup:.0f} s"
        if self.state.ending:
            return f"{tried}: {self.state.ending}."
        more = _not_tried(self.untried) if self.untried else "it could go on"
        is_counted = math.isinf(self.tracker.budget.seconds)
        unit = "of more candidates" if is_counted else "in seconds"
        told = f"{tried}, and {more}. Give a larger budget=, {unit}, to let it think longer."
        budget = self.tracker.budget.seconds
        if self.startup < budget:
            return told
        return (
            f"The budget of {budget:g} s was over before the first candidate was fitted, as a new "
            f"process has to start TensorFlow, so only a few were. {told}"
        )


def failed_warps(fits: Sequence[LocalFit]) -> list[str]:
    """A sentence for each warp under which all candidates failed, with the commonest reason."""
    told = []
    for warp in dict.fromkeys(fit.warp for fit in fits):
        own = [fit for fit in fits if fit.warp == warp]
        if all(fit.status == "failed" for fit in own):
            reason, num = Counter(fit.reason for fit in own).most_common(1)[0]
            told.append(
                f"No candidate could be fitted under the warp '{warp.name}', which takes no part: "
                f"{len(own)} failed, {num} of them for this reason: {reason}"
            )
    return told


def not_converged(fits: Sequence[LocalFit]) -> str:
    """A sentence about candidates near the best whose bounds could still rise, or nothing."""
    fitted = [fit for fit in fits if fit.status == "fitted"]
    best = max((fit.log_evidence() for fit in fitted), default=0.0)
    names = [
        f"'{fit.expression}'{of_warp(fit.warp)}"
        for fit in fitted
        if not fit.converged and fit.log_evidence() > best - NEAR
    ]
    if not names:
        return ""
    have = "has" if len(names) == 1 else "have"
    return (
        f"{', '.join(names)} {have} not converged: the bound could be higher with more steps, and "
        "so could the probability."
    )


def _not_tried(names: Sequence[str]) -> str:
    """How many were not tried, and the first of them."""
    num, more = len(names), len(names) - SHOWN
    text = f"{num} more {'was' if num == 1 else 'were'} not: {', '.join(names[:SHOWN])}"
    if more > 0:
        text += f" and {more} other{'' if more == 1 else 's'}"
    return text
