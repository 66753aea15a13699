"""A space that grows where the belief is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import Expression, Leaf, num_leaves
from vbks.grammar.families import GROWN_FAMILIES
from vbks.grammar.moves import (
    ABCD_MOVES,
    CKS_MOVES,
    Move,
    change_point,
    change_to_constant,
    change_window,
    changed_children,
    children,
)
from vbks.grammar.space import space
from vbks.inference.proposal import Proposal, Structure, pairs_of, structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState, near_warps
from vbks.search.strategies.constraints import Constraints, accept_all, accepted_or_dropped
from vbks.search.strategies.first_candidates import has_cycle

MOVES: tuple[tuple[Move, ...], ...] = (
    CKS_MOVES,
    tuple(move for move in ABCD_MOVES if move not in CKS_MOVES),
)
"""Moves of the first turn, and those of the second, which have more children and rarely better
ones."""

CHANGES_TURN = -1
"""Marks the turn that tries changes which the data show; turns of ``moves`` count from 0."""


class Changes(NamedTuple):
    """Inputs, counted from 1, along which the target shows changes for good, or for a while."""

    for_good: tuple[int, ...] = ()
    for_a_while: tuple[int, ...] = ()


@dataclass(frozen=True)
class Growing:
    """Starts small, and expands what the data favour until no child gains."""

    warps: tuple[Warp, ...] = (Identity(),)
    num_inputs: int = 1
    families: tuple[str, ...] = GROWN_FAMILIES
    max_leaves: int = 8
    """Leave out children with more leaves: larger kernels were never chosen on the series tried,
    and nobody reads them."""
    moves: tuple[tuple[Move, ...], ...] = MOVES
    """Moves turn by turn: those of the first are made before those of the next."""
    first: tuple[Expression, ...] = ()
    """What the data show is tried first, such as a cycle and a trend. If a cycle is among it, other
    warps are known by these instead of by leaves, and pairs of leaves with a cycle come first."""
    more: tuple[Expression, ...] = ()
    """Expressions that the search starts from beside the usual ones."""
    changes: Mapping[Warp, Changes] = field(default_factory=dict)
    """What the data show of changes under each warp: they are tried for the whole kernel and its
    noise as soon as first moves gain little."""
    constraints: Constraints = accept_all
    """Fits that these do not accept are dropped."""
    later_moves_delay: int = 3
    """Make the second moves of the best kernel after the first moves of it and this many others."""
    change_margin: float = 4.0
    """Try changes of the best once a candidate within this many nats of it was expanded by first
    moves. A kernel that fits before and after is best found first, as changes double it."""
    parent_margin: float = 6.0
    """Expand candidates within this many nats of the best."""
    first_warp_margin: float = 40.0
    """Go on with warps whose best single leaf is within this many nats of the best of all."""
    num_under_all_warps: int = 6
    """Try this many of the best leaves and pairs of leaves under every warp that goes on."""
    warp_margin: float = 12.0
    """Expand the best candidate of another warp, too, if it is within this many nats of the best of
    all."""
    late_pairs_round: int = 5
    """Where data show a cycle, try pairs of leaves without one after this many rounds."""
    num_expected: int = 200
    """Candidates that are usually tried, by which a bound is chosen that is affordable."""

    is_finite = False

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Small expressions first, then the children of the best that were not expanded yet."""
        if not state.rounds:
            return state, self._smallest()
        tried = {structure_of(fit) for fit in state.fits}
        fitted = state.fitted()
        if fitted and (pairs := self._pairs(fitted, state.rounds)):
            new = tuple(pair for pair in pairs if pair.structure not in tried)
            if new:
                return state, new
        while expansions := self._expansions(state):
            expanded = state.expanded.union((structure_of(fit), turn) for fit, turn in expansions)
            state = replace(state, expanded=expanded)
            proposals: dict[Structure, Proposal] = {}
            for parent, turn in expansions:
                for proposal in self._children(parent, turn):
                    if proposal.structure not in tried:
                        proposals.setdefault(proposal.structure, proposal)
            if proposals:
                return state, tuple(proposals.values())
        return replace(state, ending="no child of the best kernels gained"), ()

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are gathered; those that are not accepted are dropped with the reason."""
        return state.with_fits([accepted_or_dropped(fit, self.constraints) for fit in fits])

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest evidence."""
        return state.best()

    def _smallest(self) -> tuple[Proposal, ...]:
        """What the data show and single leaves; under other warps one of both."""
        leaves = self._leaves()
        others = self.first if self._shows_cycle else leaves
        return (
            *pairs_of(list(dict.fromkeys((*self.first, *leaves))), self.warps[:1]),
            *pairs_of(others, self.warps[1:]),
        )

    @property
    def _shows_cycle(self) -> bool:
        return any(map(has_cycle, self.first))

    def _pairs(self, fitted: Sequence[LocalFit], rounds: int) -> tuple[Proposal, ...]:
        """Pairs of leaves that are proposed after this number of rounds."""
        if rounds == 1:
            return self._second(fitted)
        if rounds == 2:
            return self._third(fitted)
        if self._shows_cycle and rounds == self.late_pairs_round:
            return pairs_of(self._pairs_of_leaves(), (fitted[0].warp,))
        return ()

    def _leaves(self) -> tuple[Expression, ...]:
        """Leaves on the only input; of several inputs, on each and on all of them."""
        on_all = tuple(Leaf(family) for family in self.families)
        if self.num_inputs == 1:
            return tuple(structures(on_all))
        return tuple(
            structures((*on_all, *space(level=1, families=self.families, dims=self.num_inputs)))
        )

    def _pairs_of_leaves(self) -> tuple[Expression, ...]:
        """Two leaves on the only input, and the expressions that the user has added."""
        pairs = space(level=2, families=self.families) if self.num_inputs == 1 else ()
        return tuple(structures([*pairs, *self.more]))

    def _second(self, fitted: Sequence[LocalFit]) -> tuple[Proposal, ...]:
        """Pairs of leaves under the warp of the best leaf."""
        pairs = self._pairs_of_leaves()
        if self._shows_cycle:
            pairs = tuple(pair for pair in pairs if has_cycle(pair) or pair in self.more)
        return pairs_of(pairs, (fitted[0].warp,))

    def _third(self, fitted: Sequence[LocalFit]) -> tuple[Proposal, ...]:
        """The best of all so far under every warp that is near."""
        leading = dict.fromkeys(canonical(fit.expression) for fit in fitted)
        best = list(leading)[: self.num_under_all_warps]
        if self._shows_cycle:
            tried_first = [fit for fit in fitted if fit.expression in self.first]
            return pairs_of(best, near_warps(tried_first or fitted, self.warp_margin))
        single = [fit for fit in fitted if isinstance(fit.expression, Leaf)]
        return pairs_of(best, near_warps(single or fitted, self.first_warp_margin))

    def _expansions(self, state: SearchState) -> list[tuple[LocalFit, int]]:
        """Whose children come next, by which moves: one of all, and one of each other near warp."""
        ranked = state.fitted()
        if not ranked:
            return []
        best = ranked[0].log_evidence()
        near = [fit for fit in ranked if fit.log_evidence() > best - self.parent_margin]
        if self._is_to_change(near, state):
            return [(ranked[0], CHANGES_TURN)]
        chosen = self._first_new(near, state)
        for warp in near_warps(ranked, self.warp_margin):
            leader = [fit for fit in ranked if fit.warp == warp][:1]
            if all(fit.warp != warp for fit, _ in chosen):
                chosen += [(fit, turn) for fit, turn in self._first_new(leader, state) if not turn]
        return chosen

    def _is_to_change(self, near: Sequence[LocalFit], state: SearchState) -> bool:
        """Whether the best, or one about as good, had its first moves made, but not its changes."""
        best = near[0]
        as_good = [f for f in near if f.log_evidence() > best.log_evidence() - self.change_margin]
        return (
            best.warp in self.changes
            and (structure_of(best), CHANGES_TURN) not in state.expanded
            and any((structure_of(fit), 0) in state.expanded for fit in as_good)
        )

    def _first_new(
        self, ranked: Sequence[LocalFit], state: SearchState
    ) -> list[tuple[LocalFit, int]]:
        """The first expansion that was not made yet, later moves standing back by some ranks."""
        turns = sorted(
            (rank + self.later_moves_delay * turn, turn, rank)
            for rank in range(len(ranked))
            for turn in range(len(self.moves))
        )
        for _, turn, rank in turns:
            if (structure_of(ranked[rank]), turn) not in state.expanded:
                return [(ranked[rank], turn)]
        return []

    def _children(self, parent: LocalFit, turn: int) -> Iterator[Proposal]:
        form = canonical(parent.expression)
        if turn == CHANGES_TURN:
            found = self._changed(form, self.changes[parent.warp])
        else:
            found = iter(children(form, self.families, self.num_inputs, self.moves[turn]))
        for child in found:
            if num_leaves(child) <= self.max_leaves:
                yield Proposal(child, parent.warp, parent)

    def _changed(self, form: Expression, changes: Changes) -> Iterator[Expression]:
        """The whole kernel, with and without its noise, where the data show that it changes."""
        yield from changed_children(form, changes.for_good, (change_point, change_to_constant))
        yield from changed_children(form, changes.for_a_while, (change_window,))
