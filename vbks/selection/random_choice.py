"""Random search: what any other search has to be better than."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from vbks.data.warps import Identity, Warp
from vbks.grammar import BASE_FAMILIES, CKS_MOVES, Expression, Move, structures
from vbks.inference.local_fit import LocalFit
from vbks.inference.proposal import Proposal, Structure, structure_of
from vbks.selection.growing import EXPECTED_CANDIDATES, MAX_GROWN_LEAVES
from vbks.selection.neighbours import Neighbourhood, fitted_parent, shuffled, untried, walks
from vbks.selection.strategy import SearchState

BATCH = 8
"""Candidates that are proposed together: their order does not depend on their fits, and fits of
several together are quicker."""

FRUITLESS = 1000
"""Random walks in a row that end where others did, after which there is nothing new."""


@dataclass(frozen=True)
class RandomChoice:
    """Candidates at random: members of a pool in a random order, or ends of random walks.

    Without a ``pool``, walks go from a random leaf through the grammar, up to ``max_leaves``.
    """

    num_inputs: int = 1
    families: tuple[str, ...] = BASE_FAMILIES
    pool: tuple[Expression, ...] | None = None
    warps: tuple[Warp, ...] = (Identity(),)
    max_leaves: int = MAX_GROWN_LEAVES
    moves: tuple[Move, ...] = CKS_MOVES
    batch_size: int = BATCH
    seed: int = 0

    @property
    def is_finite(self) -> bool:
        """A pool is; the grammar is not."""
        return self.pool is not None

    @property
    def num_expected(self) -> int:
        """Members of the pool, or as many as other searches try."""
        if self.pool is None:
            return EXPECTED_CANDIDATES
        return len(structures(self.pool)) * len(self.warps)

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """The next few that were not tried yet."""
        new = list(islice(untried(self._stream(), state), self.batch_size))
        if not new:
            ending = "random walks led to nothing new"
            if self.is_finite:
                ending = "all members of the space were tried"
            return replace(state, ending=ending), ()
        fits = {structure_of(fit): fit for fit in state.fitted()}
        begun = [replace(p, parent=fitted_parent(p.structure, fits)) for p in new]
        return state, tuple(sorted(begun, key=lambda proposal: self.warps.index(proposal.warp)))

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are only gathered."""
        return state.with_fits(fits)

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest evidence."""
        return state.best()

    @cached_property
    def _members(self) -> tuple[Proposal, ...]:
        return shuffled(self.pool or (), self.warps, self.seed)

    def _stream(self) -> Iterable[Proposal]:
        if self.pool is not None:
            return self._members
        space = Neighbourhood(self.num_inputs, self.families, self.max_leaves, self.moves)
        return _until_fruitless(walks(space, self.warps, self.seed))


def _until_fruitless(proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """The proposals up to where they only repeat themselves."""
    passed: set[Structure] = set()
    fruitless = 0
    for proposal in proposals:
        fruitless = fruitless + 1 if proposal.structure in passed else 0
        if fruitless == FRUITLESS:
            return
        passed.add(proposal.structure)
        yield proposal
