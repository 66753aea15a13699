"""Searches with made-up evidences instead of fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from support.fits import made_up_fit, make_data
from vbks.data.training import TrainingData
from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import leaves
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings, FitStage
from vbks.search.protocol import SearchState, Strategy

Judge = Callable[[Proposal], float]


def run(
    search: Strategy, judge: Judge, max_rounds: int = 20
) -> tuple[SearchState, list[tuple[Proposal, ...]]]:
    """The last state of a search, and what it has proposed round after round."""
    state, asked = SearchState(), []
    for _ in range(max_rounds):
        state, proposals = search.propose(state)
        if not proposals:
            break
        asked.append(proposals)
        state = search.absorb(state, [made_up_fit(p, judge(p)) for p in proposals])
    return state, asked


def towards(target: str) -> Judge:
    """Higher the more leaves are shared with a target, with a price for each leaf."""
    wanted = [leaf.family for leaf in leaves(parse(target))]

    def judge(proposal: Proposal) -> float:
        have = [leaf.family for leaf in leaves(proposal.expression)]
        shared = sum(min(have.count(f), wanted.count(f)) for f in set(wanted))
        exact = 30.0 * (canonical(proposal.expression) == canonical(parse(target)))
        return 20.0 * shared - 3.0 * len(have) + exact

    return judge


@dataclass
class Clock:
    """Shows what it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Pretence:
    """An evaluator in which a fit is worth what its text is long, and takes some time.

    ``first`` is what the first call takes beside.
    """

    gain: float = 0.0
    seconds: float = 0.0
    first: float = 0.0
    clock: Clock = field(default_factory=Clock)
    calls: list[int] = field(default_factory=list)

    data: dict[Warp, TrainingData] = field(default_factory=lambda: {Identity(): make_data()})
    settings: FitSettings = field(default_factory=FitSettings)
    notices: tuple[str, ...] = ()

    def fit(self, proposals: Sequence[Proposal], stage: FitStage) -> list[LocalFit]:
        """Fits in the order of the proposals."""
        self.clock.now += self.seconds * len(proposals) + self.first * (not self.calls)
        self.calls.append(len(proposals))
        return [self._fit(proposal) for proposal in proposals]

    def go_on(self, fits: Sequence[LocalFit], stage: FitStage) -> list[LocalFit]:
        """The same candidates, which take twice as long."""
        again = self.fit([Proposal(fit.expression, fit.warp) for fit in fits], stage)
        return [replace(fit, seconds=2.0) for fit in again]

    def _fit(self, proposal: Proposal) -> LocalFit:
        fit = made_up_fit(proposal, float(len(str(proposal.expression))) + self.gain)
        return replace(fit, seconds=1.0)
