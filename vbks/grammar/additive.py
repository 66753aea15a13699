"""Expressions as sums of products, the form whose terms are separate additive components."""

from __future__ import annotations

from itertools import chain, product

from vbks.grammar.canonical import arrange
from vbks.grammar.expression import (
    MAX_LEAVES,
    Expression,
    LimitError,
    Product,
    Sum,
    add,
    multiply,
    num_leaves,
    operands,
)
from vbks.grammar.parser import parse

MAX_TERMS = 10_000
"""Terms of an additive form. They multiply with every bracket, and nobody reads this many."""


def additive_form(expression: Expression | str) -> Expression:
    """The arranged sum of products: SE × (RQ + LIN) becomes LIN × SE + RQ × SE.

    A change is kept whole, as a factor like a leaf.
    """
    expression = parse(expression)
    terms, leaves = _distributed_size(expression)
    if terms > MAX_TERMS or leaves > MAX_LEAVES:
        raise LimitError(
            f"the additive form has more than {MAX_TERMS} terms or {MAX_LEAVES} leaves. "
            "Multiply fewer sums with each other."
        )
    return arrange(add(*(multiply(*factors) for factors in _distributed(expression))))


def additive_terms(expression: Expression | str) -> tuple[Expression, ...]:
    """The terms of the additive form, each a product, a leaf or a change."""
    expression = parse(expression)
    form = additive_form(expression)
    return operands(form) if isinstance(form, Sum) else (form,)


def _distributed(expression: Expression) -> list[tuple[Expression, ...]]:
    match expression:
        case Sum(terms):
            return [factors for term in terms for factors in _distributed(term)]
        case Product(factors):
            choices = product(*(_distributed(factor) for factor in factors))
            return [tuple(chain.from_iterable(choice)) for choice in choices]
    return [(expression,)]


def _distributed_size(expression: Expression) -> tuple[int, int]:
    match expression:
        case Sum(terms):
            sizes = [_distributed_size(term) for term in terms]
            return sum(size[0] for size in sizes), sum(size[1] for size in sizes)
        case Product(factors):
            num_terms, total_leaves = 1, 0
            for factor_terms, factor_leaves in map(_distributed_size, factors):
                total_leaves = total_leaves * factor_terms + factor_leaves * num_terms
                num_terms *= factor_terms
            return num_terms, total_leaves
    return 1, num_leaves(expression)
