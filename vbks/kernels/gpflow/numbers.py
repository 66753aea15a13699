"""Expressions with the numbers of a GPflow kernel, before a layout says how they are scaled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import gpflow
import numpy as np
from scipy.special import logsumexp

from vbks.errors import GrammarError
from vbks.grammar.expression import Expression, Leaf, Product, Sum, add, multiply
from vbks.kernels.layout import Node
from vbks.kernels.registry import family_of


@dataclass(frozen=True)
class Number:
    """A number of θ and whether it is fixed; scales are logarithms, whose product is a sum."""

    value: float
    is_fixed: bool

    def __mul__(self, other: Number) -> Number:
        return Number(self.value + other.value, self.is_fixed and other.is_fixed)


ONE = Number(0.0, True)
"""The scale that changes nothing."""


@dataclass(frozen=True)
class Part:
    """An expression with the numbers of a GPflow kernel: of its own, of its scale if a leaf's."""

    expression: Expression
    operands: tuple[Part, ...] = ()
    own: dict[str, list[Number]] = field(default_factory=dict)
    scale: Number = ONE

    def __mul__(self, scale: Number) -> Part:
        if isinstance(self.expression, Leaf):
            return replace(self, scale=self.scale * scale)
        if isinstance(self.expression, Product):
            return replace(self, operands=(self.operands[0] * scale, *self.operands[1:]))
        return replace(self, operands=tuple(operand * scale for operand in self.operands))

    @property
    def total(self) -> Number:
        """The scale of the whole: of a sum the sum, of a product the product."""
        if isinstance(self.expression, Leaf):
            return self.scale
        totals = [operand.total for operand in self.operands]
        if isinstance(self.expression, Product):
            return math.prod(totals, start=ONE)
        value = float(logsumexp([total.value for total in totals]))
        return Number(value, all(total.is_fixed for total in totals))


def _joined(
    operator: type[Sum] | type[Product],
    join: Callable[..., Expression],
    parts: Sequence[Part],
) -> Part:
    """A sum or product of parts, those of the same operator merged into it as expressions are."""
    if not parts:
        raise GrammarError("a combination of no kernels has no expression.")
    if len(parts) == 1:
        return parts[0]
    merged: list[Part] = []
    for part in parts:
        merged.extend(part.operands if isinstance(part.expression, operator) else (part,))
    return Part(join(*(part.expression for part in merged)), tuple(merged))


sum_of = partial(_joined, Sum, add)
product_of = partial(_joined, Product, multiply)


def slot_numbers(node: Node, part: Part, scale: Number) -> Iterator[tuple[int, Number]]:
    """The number for every slot of a node, whose part is to be multiplied by the scale."""
    for name, slots in node.slots.items():
        numbers = part.own[name]
        yield from zip(slots, numbers * len(slots) if len(numbers) == 1 else numbers, strict=True)
    if node.scale is not None:
        yield node.scale, part.scale * scale
    totals = [operand.total for operand in part.operands]
    if node.weights is not None:
        last = totals[-1]
        for slot, total in zip(node.weights, totals, strict=False):
            yield slot, Number(total.value - last.value, total.is_fixed and last.is_fixed)
    for i, (operand, own) in enumerate(zip(node.operands, part.operands, strict=True)):
        others = totals[:i] + totals[i + 1 :] if isinstance(node.expression, Product) else []
        yield from slot_numbers(operand, own, math.prod(others, start=scale))


def input_sizes(part: Part) -> set[int]:
    """How many lengthscales or periods leaves on all inputs have."""
    return {
        len(part.own[parameter.name])
        for part in _leaves(part)
        if isinstance(part.expression, Leaf) and part.expression.dim is None
        for parameter in family_of(part.expression.family).parameters
        if parameter.per_input and parameter.positive
    }


def _leaves(part: Part) -> list[Part]:
    below = [leaf for operand in part.operands for leaf in _leaves(operand)]
    return below or [part]


def numbers_of(
    parameter: gpflow.Parameter, positive: bool = True, offset: float = 0.0
) -> list[Number]:
    """The numbers of a GPflow parameter as ours: logarithms of what is positive."""
    values = parameter.numpy().ravel()
    unconstrained = np.log(values) if positive else values
    return [Number(float(value) + offset, not parameter.trainable) for value in unconstrained]
