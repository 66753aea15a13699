"""Every expression as a sum of terms, each a product that the bank can compute in one sweep.

Distributing is only a way to compute: parameters stay shared as the expression says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product as cartesian

from vbks.errors import GrammarError
from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, Product
from vbks.kernels.family import Family
from vbks.kernels.layout import NOISE_SLOT, Layout, Node, lay_out
from vbks.kernels.registry import family_of

MAX_TERMS = 512
"""Terms of one candidate. Seven leaves make at most twelve; far beyond that, products of sums would
fill the memory, and a kernel is better evaluated as a GPflow object."""

MAX_LINES = 4
"""Inputs up to which a linear leaf on all of them is a sum of lines, one term for each."""

RANK_ONE_KINDS = ("line", "before", "after", "outside", "inside")
"""The functions that enter a kernel as a(x) a(x'), in the order of the bank's formulas."""


@dataclass(frozen=True)
class RankOne:
    """A function a(x) of one input that enters as a(x) a(x'): a line or a part of a change."""

    kind: str
    dim: int
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Term:
    """A product of leaves, rank-one functions, scales, and shares of sums of unit scale.

    A share is the slots of the sum's weights and the position among its terms. ``periodics`` and
    ``constants`` are slots of lengthscales: a centred leaf is the difference of two terms, one with
    the periodic leaf and one with a constant, which is taken off.
    """

    scales: tuple[int, ...] = ()
    shares: tuple[tuple[tuple[int, ...], int], ...] = ()
    rank_ones: tuple[RankOne, ...] = ()
    leaves: tuple[Node, ...] = ()
    periodics: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()

    @property
    def is_negative(self) -> bool:
        """Whether the term is taken off."""
        return len(self.constants) % 2 == 1

    def __mul__(self, other: Term) -> Term:
        return Term(
            self.scales + other.scales,
            self.shares + other.shares,
            self.rank_ones + other.rank_ones,
            self.leaves + other.leaves,
            self.periodics + other.periodics,
            self.constants + other.constants,
        )

    def by_path(self, path: str) -> tuple[Node, ...]:
        """The leaves that the bank computes in one way."""
        return tuple(leaf for leaf in self.leaves if family_at(leaf).evaluation_path == path)


def family_at(leaf: Node) -> Family:
    """The family of a laid-out leaf."""
    assert isinstance(leaf.expression, Leaf)
    return family_of(leaf.expression.family)


def is_batchable(expression: Expression | str, num_inputs: int = 1) -> bool:
    """Whether a bank can evaluate an expression; if not, its GPflow kernel can."""
    layout = lay_out(expression, num_inputs)
    opaque = any(family_at(leaf).evaluation_path == "opaque" for leaf in _leaves(layout.root))
    return not opaque and _num_terms(layout.root, layout.num_inputs) <= MAX_TERMS


def terms_of(layout: Layout) -> tuple[Term, ...]:
    """The terms of a candidate, without the noise that is the likelihood's own."""
    _check_batchable(layout)
    return tuple(
        term for term in _expand(layout.root, layout.num_inputs) if not _is_likelihood_noise(term)
    )


def _check_batchable(layout: Layout) -> None:
    for leaf in _leaves(layout.root):
        if family_at(leaf).evaluation_path == "opaque":
            raise GrammarError(
                f"'{leaf.expression}' in '{layout.expression}' is known only as a GPflow kernel "
                "and cannot be batched. Use its GPflow kernel."
            )
    count = _num_terms(layout.root, layout.num_inputs)
    if count > MAX_TERMS:
        raise GrammarError(
            f"'{layout.expression}' expands to {count} terms, more than the {MAX_TERMS} that are "
            "computed together. Use its GPflow kernel."
        )


def _leaves(node: Node) -> list[Node]:
    below = [leaf for operand in node.operands for leaf in _leaves(operand)]
    return below or [node]


def _num_terms(node: Node, num_inputs: int) -> int:
    counts = [_num_terms(operand, num_inputs) for operand in node.operands]
    if not counts:
        return len(_leaf_terms(node, num_inputs))
    return math.prod(counts) if isinstance(node.expression, Product) else sum(counts)


def _is_likelihood_noise(term: Term) -> bool:
    return term.scales == (NOISE_SLOT,) and len(term.leaves) == 1


def _expand(node: Node, num_inputs: int) -> list[Term]:
    if isinstance(node.expression, Leaf):
        return _leaf_terms(node, num_inputs)
    parts = [_expand(operand, num_inputs) for operand in node.operands]
    if isinstance(node.expression, Product):
        return [math.prod(choice, start=Term()) for choice in cartesian(*parts)]
    terms: list[Term] = []
    for i, part in enumerate(parts):
        share = () if node.weights is None else ((node.weights, i),)
        context = Term(shares=share, rank_ones=_gates(node, i))
        terms.extend(context * term for term in part)
    return terms


def _leaf_terms(leaf: Node, num_inputs: int) -> list[Term]:
    scales = () if leaf.scale is None else (leaf.scale,)
    lines = _lines(leaf, num_inputs)
    if lines:
        return [Term(scales, rank_ones=(line,)) for line in lines]
    if _is_centred(leaf, num_inputs):
        assert isinstance(leaf.expression, Leaf)
        whole = family_at(leaf).centred_of
        assert whole is not None
        periodic = replace(leaf, expression=Leaf(whole, leaf.expression.dim))
        slots = leaf.slots["lengthscales"]
        return [Term(scales, leaves=(periodic,), periodics=slots), Term(scales, constants=slots)]
    return [Term(scales, leaves=(leaf,))]


def _is_centred(leaf: Node, num_inputs: int) -> bool:
    """Whether a leaf is a periodic one less a constant; of several inputs it is a product."""
    assert isinstance(leaf.expression, Leaf)
    along_one = leaf.expression.dim is not None or num_inputs == 1
    return along_one and family_at(leaf).evaluation_path == "centred"


def _lines(leaf: Node, num_inputs: int) -> list[RankOne]:
    """The lines that a linear leaf is the sum of, if they are few."""
    assert isinstance(leaf.expression, Leaf)
    dim = leaf.expression.dim
    if family_at(leaf).evaluation_path != "rank one" or (dim is None and num_inputs > MAX_LINES):
        return []
    inputs = range(num_inputs) if dim is None else [dim - 1]
    slots = leaf.slots["location"]
    return [RankOne("line", i, (slot,)) for i, slot in zip(inputs, slots, strict=True)]


def _gates(node: Node, side: int) -> tuple[RankOne, ...]:
    """What multiplies one side of a change; nothing for a term of a sum."""
    slots = tuple(slot for own in node.slots.values() for slot in own)
    match node.expression:
        case ChangePoint(dim=dim):
            return (RankOne(("before", "after")[side], dim - 1, slots),)
        case ChangeWindow(dim=dim):
            return (RankOne(("outside", "inside")[side], dim - 1, slots),)
    return ()
