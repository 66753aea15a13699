"""The additive terms of a kernel: sums, changes and the constants of periodic leaves, apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from vbks.grammar.expression import ChangePoint, ChangeWindow, Leaf
from vbks.grammar.products import Branch, products_of
from vbks.kernels.family import Family
from vbks.kernels.layout import Layout, Node
from vbks.kernels.registry import family_of
from vbks.words import Factor, Gate, Known, Part, Side, Values, factor_of, sides_of

Aspect = Literal["whole", "wave", "level"]
"""What of a leaf a term has: all of it, or of PER on one input the wave around its mean over a
period, or the constant that this mean is."""

Share = tuple[tuple[int, ...], int]
"""The slots of the weights of a sum of unit scale, and the place among its operands."""


@dataclass(frozen=True, eq=False)
class TermLeaf:
    """A leaf of a term, or an aspect of it; ``number`` is its place among leaves and changes."""

    number: int
    node: Node
    aspect: Aspect = "whole"

    @property
    def leaf(self) -> Leaf:
        """The expression of the leaf."""
        assert isinstance(self.node.expression, Leaf)
        return self.node.expression

    @property
    def family(self) -> Family:
        """The family of the leaf."""
        return family_of(self.leaf.family)


@dataclass(frozen=True)
class TermGate:
    """A side of a change: a(x) a(x') along one input, counted from 0.

    ``slots`` are those of the location, the steepness and, of a window, the width.
    """

    number: int
    side: Side
    dim: int
    slots: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Term:
    """A product of leaves, of gates and of scales, which adds to others to make a kernel."""

    scales: tuple[int, ...] = ()
    shares: tuple[Share, ...] = ()
    leaves: tuple[TermLeaf, ...] = ()
    gates: tuple[TermGate, ...] = ()

    def part(self, known: Known, num_inputs: int) -> Part:
        """The term in words, with what is known of leaves and changes from left to right.

        A wave is what PER0 is, and a level is a constant.
        """
        factors = tuple(_factor(own, known[own.number], num_inputs) for own in self.leaves)
        return Part(factors, tuple(_gate(own, known[own.number]) for own in self.gates))


def terms_of(layout: Layout) -> tuple[Term, ...]:
    """The terms of a kernel without white noise, whose variance is not one of the function.

    PER on one input is a wave with a mean of zero over a period, and a constant: the two are
    functions that a person tells apart, so that each is in terms of its own.
    """
    nodes = list(_nodes(layout.root))
    is_counted = [isinstance(n.expression, Leaf | ChangePoint | ChangeWindow) for n in nodes]
    numbers = [sum(is_counted[:place]) for place in range(len(nodes))]
    terms = [
        term
        for branches in products_of(layout.expression)
        for term in _terms(branches, nodes, numbers, layout.num_inputs)
    ]
    return tuple(term for term in terms if not _is_noise(term))


def _nodes(node: Node) -> Iterator[Node]:
    """Every node from left to right, each before its operands, as `subexpressions` has them."""
    yield node
    for operand in node.operands:
        yield from _nodes(operand)


def _terms(
    branches: Sequence[Branch], nodes: Sequence[Node], numbers: Sequence[int], num_inputs: int
) -> Iterator[Term]:
    """A product as a term for each choice between waves and levels of its periodic leaves."""
    term, leaves = Term(), []
    for branch in branches:
        node, number = nodes[branch.node], numbers[branch.node]
        if isinstance(node.expression, Leaf):
            leaves.append([TermLeaf(number, node, aspect) for aspect in _aspects(node, num_inputs)])
            term = replace(term, scales=(*term.scales, *_slot(node)))
        else:
            term = replace(
                term,
                shares=(*term.shares, *_share(node, branch.operand)),
                gates=(*term.gates, *_gates(number, node, branch.operand)),
            )
    for choice in product(*leaves):
        yield replace(term, leaves=choice)


def _aspects(node: Node, num_inputs: int) -> tuple[Aspect, ...]:
    assert isinstance(node.expression, Leaf)
    is_along_one = node.expression.dim is not None or num_inputs == 1
    is_periodic = family_of(node.expression.family).evaluation_path == "periodic"
    return ("wave", "level") if is_periodic and is_along_one else ("whole",)


def _slot(node: Node) -> tuple[int, ...]:
    return () if node.scale is None else (node.scale,)


def _share(node: Node, place: int) -> tuple[Share, ...]:
    return () if node.weights is None else ((node.weights, place),)


def _gates(number: int, node: Node, place: int) -> tuple[TermGate, ...]:
    match node.expression:
        case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
            slots = tuple(slot for own in node.slots.values() for slot in own)
            return (TermGate(number, sides_of(node.expression)[place], dim - 1, slots),)
    return ()


def _is_noise(term: Term) -> bool:
    return any(leaf.family.evaluation_path == "noise" for leaf in term.leaves)


def _factor(own: TermLeaf, known: Values | Sequence[Values] | None, num_inputs: int) -> Factor:
    if own.aspect == "level":
        return Factor("C", ())
    factor = factor_of(own.leaf, num_inputs, known)
    return replace(factor, family="PER0") if own.aspect == "wave" else factor


def _gate(own: TermGate, known: Values | Sequence[Values] | None) -> Gate:
    values = known if isinstance(known, Values) else Values()
    return Gate(own.side, own.dim + 1, values)
