"""A fixed space: all of its members, under the warps that small members do not rule out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vbks.data.warps import Identity, Warp
from vbks.grammar import Expression, num_leaves
from vbks.inference.local_fit import LocalFit
from vbks.inference.proposal import Proposal, pairs_of
from vbks.selection.strategy import SearchState, near_warps

SCREEN_LEAVES = 2
"""Members up to this size are fitted under every warp ..."""

SCREEN_MEMBERS = 24
"""... or this many, if there are more ..."""

WARP_MARGIN = 25.0
"""... and the others under warps whose best is not further than this, in nats, below the best: in
the series tried, larger members never make up more."""


@dataclass(frozen=True)
class FixedSpace:
    """Every expression of a list, each under every warp that has a chance."""

    expressions: tuple[Expression, ...]
    warps: tuple[Warp, ...] = (Identity(),)

    is_finite = True

    @property
    def num_expected(self) -> int:
        """Members of the space; most warps are soon ruled out."""
        return len(self.expressions)

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Small members under all warps, then the rest under those that are near the best."""
        small = self._small()
        if state.rounds == 0:
            first = self.expressions if len(self.warps) == 1 else small
            return state, pairs_of(first, self.warps)
        over = replace(state, ending="all members of the space were tried")
        rest = [expression for expression in self.expressions if expression not in set(small)]
        fitted = state.fitted()
        if state.rounds > 1 or len(self.warps) == 1 or not rest or not fitted:
            return over, ()
        return state, pairs_of(rest, near_warps(fitted, WARP_MARGIN))

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are only gathered."""
        return state.with_fits(fits)

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest evidence."""
        return state.best()

    def _small(self) -> list[Expression]:
        few = [e for e in self.expressions if num_leaves(e) <= SCREEN_LEAVES]
        return (few or list(self.expressions))[:SCREEN_MEMBERS]
