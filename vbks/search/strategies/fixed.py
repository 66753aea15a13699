"""A fixed space: all of its members, and the best of them under every warp that has a chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vbks.data.warps import Identity, Warp
from vbks.grammar.expression import Expression, Leaf
from vbks.inference.proposal import Proposal, pairs_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState, near_warps


@dataclass(frozen=True)
class FixedSpace:
    """Every expression of a list, and the best under every warp that has a chance."""

    expressions: tuple[Expression, ...]
    warps: tuple[Warp, ...] = (Identity(),)
    screen_members: int = 24
    """Fit spaces of up to this many members under every warp; of larger spaces only the single
    leaves, or this many members if there are none."""
    warp_margin: float = 40.0
    """Rule out a warp whose best fit is further than this below the best of all, in nats, by the
    members that are fitted under every warp."""
    num_under_all_warps: int = 16
    """Fit this many of the best members under every warp that is not ruled out."""

    is_finite = True

    @property
    def num_expected(self) -> int:
        """Members of the space; most warps are soon ruled out."""
        return len(self.expressions)

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Small members under all warps, the rest under the best, whose best then have others."""
        small = self._small()
        if state.rounds == 0:
            return state, pairs_of(small, self.warps)
        fitted = state.fitted()
        proposals: tuple[Proposal, ...] = ()
        if state.rounds == 1 and fitted:
            rest = [expression for expression in self.expressions if expression not in set(small)]
            proposals = pairs_of(rest, (fitted[0].warp,))
        elif state.rounds == 2 and fitted:
            screened = [fit for fit in fitted if fit.expression in set(small)]
            warps = near_warps(screened or fitted, self.warp_margin)
            best = dict.fromkeys(fit.expression for fit in fitted)
            tried = {(fit.expression, fit.warp) for fit in state.fits}
            pairs = pairs_of(list(best)[: self.num_under_all_warps], warps)
            proposals = tuple(p for p in pairs if (p.expression, p.warp) not in tried)
        if not proposals:
            return replace(state, ending="all members of the space were tried"), ()
        return state, proposals

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are only gathered."""
        return state.with_fits(fits)

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest evidence."""
        return state.best()

    def _small(self) -> Sequence[Expression]:
        """What is fitted under every warp."""
        if len(self.warps) == 1 or len(self.expressions) <= self.screen_members:
            return self.expressions
        leaves = [expression for expression in self.expressions if isinstance(expression, Leaf)]
        return leaves or self.expressions[: self.screen_members]
