"""What searches have in common that choose among a pool of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression
from vbks.grammar.families import BASE_FAMILIES
from vbks.grammar.moves import CKS_MOVES, Move
from vbks.inference.proposal import Proposal, structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.grow import Growing
from vbks.search.strategies.neighbours import Neighbourhood, fitted_parent, shuffled


@dataclass(frozen=True)
class PoolSearch:
    """Candidates are the members of a ``pool``, or else expressions up to ``max_leaves``."""

    num_inputs: int = 1
    families: tuple[str, ...] = BASE_FAMILIES
    pool: tuple[Expression, ...] | None = None
    warps: tuple[Warp, ...] = (Identity(),)
    max_leaves: int = Neighbourhood.max_leaves
    moves: tuple[Move, ...] = CKS_MOVES
    seed: int = 0
    stopping: float = Neighbourhood.stopping
    """End a random walk before its next move with this probability."""
    expected_candidates: int = Growing.num_expected
    """Candidates that are usually tried without a pool, by which a bound is chosen that is
    affordable."""

    @property
    def is_finite(self) -> bool:
        """A pool is; the grammar is not."""
        return self.pool is not None

    @property
    def num_expected(self) -> int:
        """Members of the pool, or as many as other searches try."""
        if self.pool is None:
            return self.expected_candidates
        return len(structures(self.pool)) * len(self.warps)

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are only gathered."""
        return state.with_fits(fits)

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest evidence."""
        return state.best()

    @cached_property
    def _members(self) -> tuple[Proposal, ...]:
        """Members in a random order, which decides between those that promise the same."""
        return shuffled(self.pool or (), self.warps, self.seed)

    @property
    def _space(self) -> Neighbourhood:
        return Neighbourhood(
            self.num_inputs, self.families, self.max_leaves, self.moves, self.stopping
        )

    def _begun(self, chosen: Sequence[Proposal], state: SearchState) -> tuple[Proposal, ...]:
        """Proposals with the fits that they begin from, warp by warp."""
        fits = {structure_of(fit): fit for fit in state.fitted()}
        begun = [
            p if p.parent else replace(p, parent=fitted_parent(p.structure, fits)) for p in chosen
        ]
        return tuple(sorted(begun, key=lambda proposal: self.warps.index(proposal.warp)))
