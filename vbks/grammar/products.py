"""Expressions as sums of products of leaves and of sides of changes, by their places in the tree.

Unlike `additive_form` this multiplies changes out, too, CP(a, b) being a (1−s)(1−s′) + b s s′.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count, product

from vbks.grammar.additive import MAX_TERMS
from vbks.grammar.expression import Expression, Leaf, LimitError, Product, operands


@dataclass(frozen=True)
class Branch:
    """A node on the way to a leaf of a product, and which of its operands the way takes.

    ``node`` is its place among `subexpressions`. Products are left out, since all of their operands
    are taken; a leaf is the end of a way, with the operand 0.
    """

    node: int
    operand: int = 0


def products_of(expression: Expression) -> tuple[tuple[Branch, ...], ...]:
    """The products that an expression is a sum of, in the order written."""
    if _num_products(expression) > MAX_TERMS:
        raise LimitError(
            f"the expression has more than {MAX_TERMS} parts. Multiply fewer sums with each other."
        )
    return tuple(_products(expression, count()))


def _products(expression: Expression, places: count[int]) -> list[tuple[Branch, ...]]:
    own = next(places)
    if isinstance(expression, Leaf):
        return [(Branch(own),)]
    below = [_products(operand, places) for operand in operands(expression)]
    if isinstance(expression, Product):
        return [sum(choice, start=()) for choice in product(*below)]
    return [(Branch(own, n), *rest) for n, found in enumerate(below) for rest in found]


def _num_products(expression: Expression) -> int:
    counts = [_num_products(operand) for operand in operands(expression)]
    return math.prod(counts) if isinstance(expression, Product) else sum(counts) or 1
