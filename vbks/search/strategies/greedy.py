"""Greedy searches: from the best of one round to the best of its children, as CKS and ABCD go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import Expression, LimitError, num_leaves
from vbks.grammar.families import BASE_FAMILIES
from vbks.grammar.moves import CKS_MOVES, Move, children, without_noise
from vbks.grammar.space import space
from vbks.inference.proposal import Proposal, pairs_of, structure_of
from vbks.inference.result import Correction, LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.constraints import Constraints, accept_all, accepted_or_dropped

Form = Callable[[Expression], Expression]
"""Another expression of the same kernels, but for parameters that it may have more or fewer of."""


@dataclass(frozen=True)
class Greedy:
    """Expands the best candidate so far, until none of its children scores higher.

    Only fits that ``constraints`` accept can be the best. Children are tried in one of the
    ``forms`` after the other, in the next when none scores higher in those before: in sums of
    products, terms can be described one by one.
    """

    num_inputs: int = 1
    families: tuple[str, ...] = BASE_FAMILIES
    moves: tuple[Move, ...] = CKS_MOVES
    criterion: Correction = "bic"
    max_depth: int = 10
    warps: tuple[Warp, ...] = (Identity(),)
    forms: tuple[Form, ...] = (canonical,)
    constraints: Constraints = accept_all
    expand: Callable[..., tuple[Expression, ...]] = children
    """Makes the children of an expression by moves: those of noise, too, or not."""
    max_leaves: int = 12
    """Leave out children with more leaves: ABCD's largest kernels on its series have about 12."""
    expected_children: int = 40
    """Children of a parent on one input, roughly, by which a bound is chosen that is affordable."""

    is_finite = True

    @property
    def num_expected(self) -> int:
        """Children of as many parents as there may be."""
        return self.expected_children * self.num_inputs * self.max_depth

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Single leaves at first, then the children of the best."""
        if not state.rounds:
            return state, pairs_of(self._leaves(), self.warps)
        parent = self.best(state)
        if parent is None:
            return replace(state, ending="no candidate could be fitted"), ()
        tried = {structure_of(fit) for fit in state.fits}
        for turn, form in enumerate(self.forms):
            key = (structure_of(parent), turn)
            if key in state.expanded:
                continue
            if turn == 0 and sum(not t for _, t in state.expanded) >= self.max_depth:
                return replace(state, ending=f"{self.max_depth} kernels were expanded"), ()
            state = replace(state, expanded=state.expanded | {key})
            made = {p.structure: p for p in self._children(parent, form)}
            proposals = [p for structure, p in made.items() if structure not in tried]
            if proposals:
                return state, tuple(proposals)
        ending = f"no child of '{parent.expression}' scored higher"
        return replace(state, ending=ending), ()

    def absorb(self, state: SearchState, fits: Sequence[LocalFit]) -> SearchState:
        """Fits are gathered; those that are not accepted are dropped with the reason."""
        return state.with_fits([accepted_or_dropped(fit, self.constraints) for fit in fits])

    def best(self, state: SearchState) -> LocalFit | None:
        """The candidate with the highest score so far."""
        return state.best(self.criterion)

    def _leaves(self) -> tuple[Expression, ...]:
        return tuple(structures(space(level=1, families=self.families, dims=self.num_inputs)))

    def _children(self, parent: LocalFit, form: Form) -> Iterator[Proposal]:
        own = canonical(parent.expression)
        for child in self.expand(own, self.families, self.num_inputs, self.moves):
            written = _written(child, form)
            if written is not None and num_leaves(written) <= self.max_leaves:
                yield Proposal(written, parent.warp, parent)


def _written(child: Expression, form: Form) -> Expression | None:
    """The child in a form, if it is not too large in it."""
    try:
        return without_noise(canonical(form(child)))
    except LimitError:
        return None
