"""The additive terms of a kernel: sums, changes, constants of periodic leaves and waves, apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np

from vbks.arrays import Array
from vbks.grammar.expression import ChangePoint, ChangeWindow, Leaf
from vbks.grammar.products import Branch, products_of
from vbks.kernels.family import Family
from vbks.kernels.layout import Layout, Node
from vbks.kernels.registry import family_of
from vbks.words import Factor, Gate, Known, Part, Side, Values, factor_of, sides_of

Aspect = Literal["whole", "wave", "level", "long", "short"]
"""What of a leaf a term has: all of it; of PER on one input the wave around its mean over a period,
or the constant that this mean is; of RQ and OU on one input waves that are long, or short."""

Limits = Mapping[int, float]
"""For leaves that are told as long waves and short ones, by their places: the length that parts
the two, on the standardised input."""

CURVES = ("SE", "RQ", "OU", "M32", "M52", "C")
"""Families of terms in which long and short waves are told apart."""

Share = tuple[tuple[int, ...], int]
"""The slots of the weights of a sum of unit scale, and the place among its operands."""


@dataclass(frozen=True, eq=False)
class TermLeaf:
    """A leaf of a term, or an aspect of it; ``number`` is its place among leaves and changes."""

    number: int
    node: Node
    aspect: Aspect = "whole"
    limit: float = math.nan

    @property
    def leaf(self) -> Leaf:
        """The expression of the leaf."""
        assert isinstance(self.node.expression, Leaf)
        return self.node.expression

    def values(self, theta: Array) -> dict[str, Array]:
        """Values [S] of its positive parameters on one input, at θ [S, H]."""
        return {name: np.exp(theta[:, slots[0]]) for name, slots in self.node.slots.items()}

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

    def part(self, known: Known, num_inputs: int, waves: Waves | None = None) -> Part:
        """The term in words, with what is known of leaves and changes from left to right.

        A wave is what PER0 is, and a level is a constant. ``waves`` has what is known of the long
        waves of leaves and of the short ones, by their places.
        """
        factors = tuple(
            _waves(own, waves[own.number], num_inputs)
            if waves and own.aspect in ("long", "short")
            else _factor(own, known[own.number], num_inputs)
            for own in self.leaves
        )
        return Part(factors, tuple(_gate(own, known[own.number]) for own in self.gates))


Waves = Mapping[int, tuple[Values, Values]]


def terms_of(layout: Layout, limits: Limits | None = None) -> tuple[Term, ...]:
    """The terms of a kernel without white noise, whose variance is not one of the function.

    PER on one input is a wave with a mean of zero over a period, and a constant: the two are
    functions that a person tells apart, so that each is in terms of its own. So are long and short
    waves of those leaves that ``limits`` has, in terms of nothing but curves.
    """
    nodes = list(_nodes(layout.root))
    is_counted = [isinstance(n.expression, Leaf | ChangePoint | ChangeWindow) for n in nodes]
    numbers = [sum(is_counted[:place]) for place in range(len(nodes))]
    terms = [
        term
        for branches in products_of(layout.expression)
        for whole in _terms(branches, nodes, numbers, layout.num_inputs)
        for term in _by_waves(whole, limits or {})
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


def _by_waves(term: Term, limits: Limits) -> Iterator[Term]:
    """A term of curves with long and short waves apart: its terms with any short one are last."""
    told = [own for own in term.leaves if own.aspect != "level"]
    are_curves = all(own.leaf.family in CURVES for own in told)
    if term.gates or not are_curves or not any(own.number in limits for own in told):
        yield term
        return
    choices: list[list[TermLeaf]] = [
        [replace(own, aspect=aspect, limit=limits[own.number]) for aspect in ("long", "short")]
        if own.number in limits and own.aspect == "whole"
        else [own]
        for own in term.leaves
    ]
    for leaves in product(*choices):
        yield replace(term, leaves=leaves)


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


def _waves(own: TermLeaf, known: tuple[Values, Values], num_inputs: int) -> Factor:
    """Long waves are as smooth as SE is; short ones are as rough as their leaf."""
    is_rough = own.aspect == "short" and own.leaf.family == "OU"
    factor = factor_of(own.leaf, num_inputs, known[own.aspect == "short"])
    return replace(factor, family="OU" if is_rough else "SE")


def _gate(own: TermGate, known: Values | Sequence[Values] | None) -> Gate:
    values = known if isinstance(known, Values) else Values()
    return Gate(own.side, own.dim + 1, values)
