"""Random search: what any other search has to be better than."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from vbks.inference.proposal import Proposal, Structure
from vbks.search.protocol import SearchState
from vbks.search.strategies.neighbours import untried, walks
from vbks.search.strategies.pool import PoolSearch


@dataclass(frozen=True)
class RandomChoice(PoolSearch):
    """Candidates at random: members of a pool in a random order, or ends of random walks.

    Without a ``pool``, walks go from a random leaf through the grammar, up to ``max_leaves``.
    """

    batch_size: int = 8
    """Candidates that are proposed together: their order does not depend on their fits, and fits of
    several together are quicker."""
    max_fruitless: int = 1000
    """End the search after this many random walks in a row that end where others did."""

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """The next few that were not tried yet."""
        new = list(islice(untried(self._stream(), state), self.batch_size))
        if not new:
            ending = "random walks led to nothing new"
            if self.is_finite:
                ending = "all members of the space were tried"
            return replace(state, ending=ending), ()
        return state, self._begun(new, state)

    def _stream(self) -> Iterable[Proposal]:
        if self.pool is not None:
            return self._members
        return _until_fruitless(walks(self._space, self.warps, self.seed), self.max_fruitless)


def _until_fruitless(proposals: Iterable[Proposal], max_fruitless: int) -> Iterator[Proposal]:
    """The proposals up to where they only repeat themselves."""
    passed: set[Structure] = set()
    fruitless = 0
    for proposal in proposals:
        fruitless = fruitless + 1 if proposal.structure in passed else 0
        if fruitless == max_fruitless:
            return
        passed.add(proposal.structure)
        yield proposal
