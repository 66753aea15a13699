"""Candidates to choose from: neighbours, random walks, and the fits that candidates begin from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

import numpy as np

from vbks.data.warps import Warp
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression, Leaf, Product, Sum, num_leaves, operands, rebuild
from vbks.grammar.families import BASE_FAMILIES
from vbks.grammar.moves import CKS_MOVES, Choices, Move, children
from vbks.grammar.vocabulary import vocabulary
from vbks.inference.proposal import Proposal, Structure, pairs_of, structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.grow import Growing


@dataclass(frozen=True)
class Neighbourhood:
    """Expressions up to a number of leaves, and the moves that lead from one to another."""

    num_inputs: int = 1
    families: tuple[str, ...] = BASE_FAMILIES
    max_leaves: int = Growing.max_leaves
    moves: tuple[Move, ...] = CKS_MOVES
    stopping: float = 1 / 3
    """End a random walk before its next move with this probability: as in BOMS, two moves in the
    mean."""

    def leaves(self) -> tuple[Expression, ...]:
        """Every family on every input."""
        return tuple(structures(vocabulary(self.families, self.num_inputs)))

    def of(self, expression: Expression) -> tuple[Expression, ...]:
        """Expressions one move away, canonical."""
        return _neighbours(self, expression)

    def walk(self, seed: int, number: int) -> Expression:
        """Where the random walk of this number ends: some moves away from a leaf."""
        rng = np.random.default_rng([seed, number])
        expression, num_moves = _one_of(self.leaves(), rng), rng.geometric(self.stopping) - 1
        for _ in range(num_moves):
            options = self.of(expression)
            expression = _one_of(options, rng) if options else expression
        return expression


def _one_of(options: Sequence[Expression], rng: np.random.Generator) -> Expression:
    return options[rng.integers(len(options))]


# Listing the neighbours of a large expression takes a tenth of a second.
@lru_cache(maxsize=512)
def _neighbours(space: Neighbourhood, expression: Expression) -> tuple[Expression, ...]:
    found = children(expression, space.families, space.num_inputs, space.moves)
    return tuple(child for child in found if num_leaves(child) <= space.max_leaves)


def walks(space: Neighbourhood, warps: Sequence[Warp], seed: int) -> Iterator[Proposal]:
    """Where random walks end, one after the other without end, under each warp in turn."""
    for number in count():
        yield Proposal(space.walk(seed, number), warps[number % len(warps)])


def shuffled(pool: Sequence[Expression], warps: Sequence[Warp], seed: int) -> tuple[Proposal, ...]:
    """The first member of each structure, under every warp, in a random order."""
    members = [pool[places[0]] for places in structures(pool).values()]
    pairs = pairs_of(members, warps)
    order = np.random.default_rng(seed).permutation(len(pairs))
    return tuple(pairs[place] for place in order)


def untried(proposals: Iterable[Proposal], state: SearchState) -> Iterator[Proposal]:
    """Those of structures that have no fit yet, each structure once."""
    seen = {structure_of(fit) for fit in state.fits}
    for proposal in proposals:
        structure = proposal.structure
        if structure not in seen:
            seen.add(structure)
            yield proposal


def fitted_parent(structure: Structure, fits: Mapping[Structure, LocalFit]) -> LocalFit | None:
    """The best of the fits that lack one leaf of a structure and have its warp, if there is one."""
    expression, warp = structure
    smaller = ((parent, warp) for parent in children(expression, moves=(_leave_out,)))
    parents = [fits[parent] for parent in smaller if parent in fits]
    return max(parents, key=lambda fit: fit.log_evidence(), default=None)


def _leave_out(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S + B → S and S × B → S."""
    parts = operands(node)
    for place, part in enumerate(parts):
        if isinstance(node, Sum | Product) and isinstance(part, Leaf):
            yield rebuild(node, (*parts[:place], *parts[place + 1 :]))
