"""A search at work: a strategy proposes, a workshop fits, until one of them has had enough."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from vbks.execution import Workshop
from vbks.inference.local_fit import Correction, LocalFit
from vbks.inference.proposal import Proposal
from vbks.selection.budget import Budget, Purse
from vbks.selection.strategy import SearchState, Step, Strategy, contenders, left_behind

FINAL_SHARE = 0.25
"""Share of a budget in seconds that is kept for the last fits of the best."""


class Search:
    """A strategy at work until it ends or its budget does.

    ``final_share`` of a budget in seconds is kept for the last fits of the best; ``path`` has a
    step for every time that another candidate became the best, by the criterion.
    """

    def __init__(
        self,
        strategy: Strategy,
        workshop: Workshop,
        budget: Budget,
        criterion: Correction = "laplace",
        final_share: float = FINAL_SHARE,
    ) -> None:
        kept = replace(budget, seconds=(1.0 - final_share) * budget.seconds)
        self.strategy, self.workshop, self.purse = strategy, workshop, Purse(kept)
        self.criterion: Correction = criterion
        self.path: list[Step] = []
        self.left_out = 0

    def run(self) -> SearchState:
        """The last state."""
        state = SearchState()
        while True:
            state, proposals = self.strategy.propose(state)
            fits = self._fits(proposals)
            if fits:
                state = self.strategy.absorb(state, fits)
                self._note(state)
            self.left_out = len(proposals) - len(fits)
            if self.left_out or not proposals:
                return state

    def _note(self, state: SearchState) -> None:
        """Remember the best if it is another one than before."""
        best = self.strategy.best(state)
        if best is None:
            return
        step = Step(
            self.purse.seconds, self.purse.candidates, str(best.expression), best.warp.name,
            best.log_evidence(self.criterion),
        )  # fmt: skip
        if not self.path or not self.path[-1].is_same(step):
            self.path.append(step)

    def _fits(self, proposals: Sequence[Proposal]) -> list[LocalFit]:
        """As many fits as there is budget for, warp by warp, which shows what they cost."""
        fits: list[LocalFit] = []
        for _, group in groupby(proposals, key=lambda proposal: proposal.warp):
            own = list(group)
            affordable = self.purse.affordable(len(own))
            if affordable:
                began = time.perf_counter()
                fits += self.workshop.fit(own[:affordable])
                self.purse.spend(affordable, time.perf_counter() - began)
            if affordable < len(own):
                break
        return fits

    def notice(self, state: SearchState) -> str:
        """How the search has ended, and how to let it go on."""
        tried = f"{self.purse.candidates} candidates were tried in {self.purse.seconds:.0f} s"
        if state.ending:
            return f"{tried}: {state.ending}."
        more = f"{self.left_out} more were proposed" if self.left_out else "it could go on"
        return f"{tried}, and {more}. Give a larger budget=, in seconds, to let it think longer."


def finish_best(
    fits: Sequence[LocalFit], workshop: Workshop, margin: float, most: int | None
) -> tuple[list[LocalFit], str]:
    """Contenders fitted to the end, the others as dropped, and a sentence if that went wrong.

    If all last fits fail, those of the search stay as they are.
    """
    going = contenders(fits, margin, most)
    if not going:
        return list(fits), ""
    best = max(fits[k].log_evidence() for k in going)
    done = dict(zip(going, workshop.go_on([fits[k] for k in going]), strict=True))
    if not any(fit.status == "fitted" for fit in done.values()):
        reason = next(fit.reason for fit in done.values())
        return list(fits), f"The last fits failed, so those of the search are used: {reason}"
    return [
        replace(done[k], seconds=fit.seconds + done[k].seconds, race=fit.race)
        if k in done
        else left_behind(fit, best, "search")
        for k, fit in enumerate(fits)
    ], ""
