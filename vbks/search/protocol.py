"""What all searches have in common: a strategy proposes candidates and reads their fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from vbks.data.warps import Warp
from vbks.inference.proposal import Proposal, Structure
from vbks.inference.result import Correction, LocalFit


@dataclass(frozen=True)
class SearchState:
    """How far a search has come: all fits in their order, and whose children were proposed, in
    which turn."""

    fits: tuple[LocalFit, ...] = ()
    expanded: frozenset[tuple[Structure, int]] = frozenset()
    rounds: int = 0
    ending: str = ""
    """Why the search has nothing more to propose."""

    def with_fits(self, fits: Sequence[LocalFit]) -> SearchState:
        """The state after a round of fits."""
        return replace(self, fits=(*self.fits, *fits), rounds=self.rounds + 1)

    def fitted(self, criterion: Correction = "laplace") -> list[LocalFit]:
        """Fits that count, the highest score first."""
        known = [fit for fit in self.fits if fit.status == "fitted"]
        return sorted(known, key=lambda fit: -fit.log_evidence(criterion))

    def best(self, criterion: Correction = "laplace") -> LocalFit | None:
        """The fit with the highest score, if any counts."""
        return next(iter(self.fitted(criterion)), None)


@dataclass(frozen=True)
class Step:
    """A candidate that became the best of a search: after how long, among how many, its score."""

    seconds: float
    candidates: int
    expression: str
    warp: str
    score: float

    def is_same(self, other: Step) -> bool:
        """Whether both are about one candidate."""
        return (self.expression, self.warp) == (other.expression, other.warp)


class Strategy(Protocol):
    """A search as two pure functions around an explicit state."""

    @property
    def num_expected(self) -> int:
        """Candidates that it will propose, roughly."""
        ...

    @property
    def is_finite(self) -> bool:
        """Whether that is all there is, so that no budget is needed."""
        ...

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """What to fit next, the most promising first; nothing when the search is over."""
        ...

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """The state after these fits."""
        ...

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate that the search would choose now."""
        ...


def near_warps(fits: Sequence[LocalFit], margin: float) -> tuple[Warp, ...]:
    """Warps whose best fit is within ``margin`` nats of the best of all, best first."""
    best: dict[Warp, float] = {}
    for fit in fits:
        best[fit.warp] = max(best.get(fit.warp, fit.log_evidence()), fit.log_evidence())
    highest = max(best.values())
    near = [warp for warp in best if best[warp] >= highest - margin]
    return tuple(sorted(near, key=lambda warp: -best[warp]))


def left_behind(fit: LocalFit, best: float, stage: str) -> LocalFit:
    """A fit that is left as it is while others go on; it has no part in the belief."""
    if fit.status != "fitted":
        return fit
    reason = f"{best - fit.log_evidence():.1f} nats behind the best after the {stage}"
    return replace(fit, status="dropped", reason=reason)
