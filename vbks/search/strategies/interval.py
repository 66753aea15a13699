"""Scalable kernel composition (Kim and Teh, 2018): a search by intervals of its BIC score.

That is log likelihood − ½ p log N, of which higher is better, as in the paper; BIC everywhere else
is −2 of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import Leaf
from vbks.grammar.space import space
from vbks.grammar.vocabulary import vocabulary
from vbks.inference.proposal import Proposal, pairs_of, structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState

SKC_FAMILIES = ("SE", "LIN", "PER")


@dataclass(frozen=True)
class Interval:
    """Between which bounds the BIC score of a fit lies, at its θ."""

    lower: float
    upper: float

    def overlaps(self, other: Interval) -> bool:
        """Whether it cannot be told which of two is higher."""
        return self.lower <= other.upper and other.lower <= self.upper


def bic_score_interval(fit: LocalFit) -> Interval:
    """The interval of a fit; one without an upper bound has no length."""
    lower = fit.log_evidence("bic")
    if math.isnan(fit.upper):
        return Interval(lower, lower)
    return Interval(lower, fit.upper - fit.penalty() + fit.log_jacobian)


@dataclass(frozen=True)
class IntervalSearch:
    """Expands at each depth the kernel of highest upper bound and those it cannot be told from.

    ``buffer`` is how many of the latter at most. Fits without upper bounds make it SKC-LB, which
    goes by lower bounds alone.
    """

    num_inputs: int = 1
    families: tuple[str, ...] = SKC_FAMILIES
    max_depth: int = 6
    buffer: int = 3
    warps: tuple[Warp, ...] = (Identity(),)

    is_finite = True

    @property
    def num_expected(self) -> int:
        """Children of the best and of its rivals, at each depth."""
        base = len(self.families) * self.num_inputs
        return base + 2 * base * self.max_depth * (1 + self.buffer) // 2

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Single leaves on each input at first, then children of the buffer."""
        if not state.rounds:
            leaves = structures(space(level=1, families=self.families, dims=self.num_inputs))
            return state, pairs_of(tuple(leaves), self.warps)
        if state.rounds > self.max_depth:
            return replace(state, ending=f"depth {self.max_depth} was reached"), ()
        parents = self._buffer(state, state.rounds)
        if not parents:
            return replace(state, ending="nothing can be mistaken for the best"), ()
        state, proposals = self._expanded(parents, state, 0)
        if not proposals:
            return replace(state, ending="the buffer has no new children"), ()
        return state, proposals

    def propose_early(
        self, state: SearchState, fits: Sequence[LocalFit], num_waiting: int
    ) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Children of those that the next buffer will have, given some fits of this depth.

        Each of the ``num_waiting`` that are not done can put one out of the buffer, so that all but
        this many of it are certain (appendix G). Which leaf is the best is not known before all of
        them are.
        """
        turn = state.rounds + 1
        seen = replace(state, fits=(*state.fits, *fits))
        best = self.best(seen)
        if turn > self.max_depth or best is None or isinstance(best.expression, Leaf):
            return state, ()
        parents = self._buffer(seen, turn, num_waiting)
        _, proposals = self._expanded(parents, seen, turn)
        expanded = state.expanded.union((structure_of(parent), turn) for parent in parents)
        return replace(state, expanded=expanded), proposals

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are gathered."""
        return state.with_fits(fits)

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest upper bound."""
        return next(iter(_by_upper(state.fitted())), None)

    def _buffer(self, state: SearchState, turn: int, num_waiting: int = 0) -> list[LocalFit]:
        """The best and those that overlap with it, but for those that were expanded before.

        Those that were expanded early in this turn have their places, and so have those that others
        wait for.
        """
        best = self.best(state)
        if best is None:
            return []
        mine = bic_score_interval(best)
        before = {structure for structure, own in state.expanded if own != turn}
        early = {structure for structure, own in state.expanded if own == turn}
        rivals = [
            fit
            for fit in state.fitted()
            if fit is not best
            and not isinstance(fit.expression, Leaf)
            and bic_score_interval(fit).overlaps(mine)
            and structure_of(fit) not in before
        ]
        first = [] if structure_of(best) in before else [best]
        size = len(first) + self.buffer - num_waiting
        members = [*first, *_by_upper(rivals)][: max(size, 0)]
        fresh = [fit for fit in members if structure_of(fit) not in early]
        return fresh[: max(size - len(early), 0)]

    def _expanded(
        self, parents: Sequence[LocalFit], state: SearchState, turn: int
    ) -> tuple[SearchState, tuple[Proposal, ...]]:
        """New children of some parents, which are noted as expanded."""
        expanded = state.expanded.union((structure_of(parent), turn) for parent in parents)
        tried = {structure_of(fit) for fit in state.fits}
        proposals: dict[object, Proposal] = {}
        for parent in parents:
            for proposal in self._children(parent):
                if proposal.structure not in tried:
                    proposals.setdefault(proposal.structure, proposal)
        return replace(state, expanded=expanded), tuple(proposals.values())

    def _children(self, parent: LocalFit) -> Iterator[Proposal]:
        """k + B and k × B, where k is the whole kernel."""
        for leaf in vocabulary(self.families, self.num_inputs):
            for child in (parent.expression + leaf, parent.expression * leaf):
                yield Proposal(canonical(child), parent.warp, parent)


def _by_upper(fits: Sequence[LocalFit]) -> list[LocalFit]:
    return sorted(fits, key=lambda fit: -bic_score_interval(fit).upper)
