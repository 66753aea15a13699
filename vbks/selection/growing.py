"""A space that grows where the belief is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vbks.data.warps import Identity, Warp
from vbks.grammar import (
    ABCD_MOVES,
    BASE_FAMILIES,
    Expression,
    Leaf,
    Move,
    canonical,
    children,
    num_leaves,
    space,
    structures,
)
from vbks.inference.local_fit import LocalFit
from vbks.inference.proposal import Proposal, structure_of
from vbks.selection.strategy import SearchState, near_warps

BEAM = 3
"""Candidates that are expanded in a round: the belief is rarely spread over more that differ."""

PARENT_MARGIN = 6.0
"""Nats below the best within which a candidate is worth expanding."""

WARP_MARGIN = 12.0
"""Nats below the best within which the best candidate of another warp is expanded, too."""

MAX_GROWN_LEAVES = 8
"""Leaves at most: larger kernels were never chosen on the series tried, and nobody reads them."""


@dataclass(frozen=True)
class Growing:
    """Starts small, and expands what the data favour until no child gains."""

    warps: tuple[Warp, ...] = (Identity(),)
    num_inputs: int = 1
    families: tuple[str, ...] = BASE_FAMILIES
    max_leaves: int = MAX_GROWN_LEAVES
    moves: tuple[Move, ...] = ABCD_MOVES
    beam: int = BEAM
    more: tuple[Expression, ...] = ()
    """Expressions that the search starts from beside the usual ones."""

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Small expressions first, then the children of the best that were not expanded yet."""
        if not state.rounds:
            return state, tuple(
                Proposal(expression, warp) for warp in self.warps for expression in self._roots()
            )
        tried = {structure_of(fit) for fit in state.fits}
        proposals: dict[tuple[Expression, Warp], Proposal] = {}
        parents = self._parents(state)
        for parent in parents:
            for proposal in self._children(parent):
                if proposal.structure not in tried:
                    proposals.setdefault(proposal.structure, proposal)
        expanded = state.expanded.union(map(structure_of, parents))
        state = replace(state, expanded=expanded)
        if not parents:
            return replace(state, ending="no child of the best kernels gained"), ()
        if not proposals:
            return self.propose(state)
        return state, tuple(proposals.values())

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are gathered; the next proposal looks at where they stand."""
        return state.with_fits(fits)

    def _roots(self) -> tuple[Expression, ...]:
        """Expressions of one or two leaves on one input; of several, a leaf on each and on all."""
        if self.num_inputs == 1:
            small = space(level=2, families=self.families)
        else:
            on_all = tuple(Leaf(family) for family in self.families)
            small = (*on_all, *space(level=1, families=self.families, dims=self.num_inputs))
        return tuple(structures([*small, *self.more]))

    def _parents(self, state: SearchState) -> list[LocalFit]:
        """The best that were not expanded: of all, and of every warp that is near the best."""
        ranked = state.fitted()
        if not ranked:
            return []
        best = ranked[0].log_evidence()
        near = [fit for fit in ranked if fit.log_evidence() > best - PARENT_MARGIN]
        chosen = [fit for fit in near if structure_of(fit) not in state.expanded][: self.beam]
        for warp in near_warps(ranked, WARP_MARGIN):
            first = next(fit for fit in ranked if fit.warp == warp)
            if structure_of(first) not in state.expanded and first not in chosen:
                chosen.append(first)
        return chosen

    def _children(self, parent: LocalFit) -> Iterator[Proposal]:
        dims = self.num_inputs
        for child in children(canonical(parent.expression), self.families, dims, self.moves):
            if num_leaves(child) <= self.max_leaves:
                yield Proposal(child, parent.warp, parent)
