"""A search at work: a strategy proposes, a workshop fits, until one of them has had enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from vbks.inference.proposal import Proposal, structure_of
from vbks.inference.result import Correction, LocalFit
from vbks.inference.workshop import Workshop
from vbks.search.budget import BudgetTracker
from vbks.search.cost import all_alike
from vbks.search.protocol import SearchState, Step, Strategy

SHOWN = 3
"""Candidates that were not tried which a sentence names; `Search.untried` has all."""

Price = Callable[[Proposal], float]
"""What a fit costs, roughly, in seconds."""

Reserve = Callable[[Sequence[LocalFit]], Sequence[float]]
"""Costs that are kept for the last fits of the best of some fits, best first."""


def nothing(fits: Sequence[LocalFit]) -> Sequence[float]:
    """The reserve where there are no last fits."""
    return ()


class Search:
    """A strategy at work until it ends or its budget does.

    ``price`` and ``reserve`` are what the tracker plans with, and ``space`` are candidates that are
    to be tried whatever the strategy proposes before it is stopped. ``path`` has a step for every
    time that another candidate became the best, by the criterion.
    """

    def __init__(
        self,
        strategy: Strategy,
        workshop: Workshop,
        tracker: BudgetTracker,
        criterion: Correction = "laplace",
        *,
        price: Price = all_alike,
        reserve: Reserve = nothing,
        space: Sequence[Proposal] = (),
    ) -> None:
        self.strategy, self.workshop, self.tracker = strategy, workshop, tracker
        self.criterion: Correction = criterion
        self.price, self.reserve, self.space = price, reserve, space
        self.path: list[Step] = []
        self.untried: tuple[str, ...] = ()
        self.seconds = 0.0

    def run(self) -> SearchState:
        """The last state."""
        state = SearchState()
        while True:
            state, proposals = self.strategy.propose(state)
            fits = self._fits(proposals, state)
            if fits:
                state = self.strategy.absorb(state, fits)
                self._note(state)
            left = proposals[len(fits) :]
            if left or not proposals:
                self._end(state, left)
                return state

    def _fits(self, proposals: Sequence[Proposal], state: SearchState) -> list[LocalFit]:
        """As many fits as there is budget for, warp by warp, which shows what they cost."""
        fits: list[LocalFit] = []
        for _, group in groupby(proposals, key=lambda proposal: proposal.warp):
            own = list(group)
            costs = [self.price(proposal) for proposal in own]
            while own:
                num = self.tracker.affordable(costs, self.reserve([*state.fits, *fits]))
                if not num:
                    return fits
                fits += self.workshop.fit(own[:num])
                self.tracker.spend(costs[:num])
                own, costs = own[num:], costs[num:]
        return fits

    def _note(self, state: SearchState) -> None:
        """Remember the best if it is another one than before."""
        best = self.strategy.best(state)
        if best is None:
            return
        step = Step(
            self.tracker.seconds, self.tracker.candidates, str(best.expression), best.warp.name,
            best.log_evidence(self.criterion),
        )  # fmt: skip
        if not self.path or not self.path[-1].is_same(step):
            self.path.append(step)

    def _end(self, state: SearchState, left: Sequence[Proposal]) -> None:
        """Remember when it was over, and what was left."""
        self.seconds = self.tracker.seconds
        known = {structure_of(fit)[0] for fit in state.fits} | {p.structure[0] for p in left}
        never = [] if state.ending else [p for p in self.space if p.structure[0] not in known]
        self.untried = tuple(str(proposal) for proposal in (*left, *never))

    def notice(self, state: SearchState) -> str:
        """How the search has ended, what it has not tried, and how to let it go on."""
        tried = f"{self.tracker.candidates} candidates were tried in {self.seconds:.0f} s"
        if state.ending:
            return f"{tried}: {state.ending}."
        more = _not_tried(self.untried) if self.untried else "it could go on"
        is_counted = math.isinf(self.tracker.budget.seconds)
        unit = "of more candidates" if is_counted else "in seconds"
        return f"{tried}, and {more}. Give a larger budget=, {unit}, to let it think longer."


def _not_tried(names: Sequence[str]) -> str:
    """How many were not tried, and the first of them."""
    num, more = len(names), len(names) - SHOWN
    text = f"{num} more {'was' if num == 1 else 'were'} not: {', '.join(names[:SHOWN])}"
    if more > 0:
        text += f" and {more} other{'' if more == 1 else 's'}"
    return text
