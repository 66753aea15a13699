"""One form for all expressions that describe the same set of kernels.

Rules, on the same input:

    SE × SE → SE        C × k → k           C + C → C           LIN + LIN → LIN + C
    OU × OU → OU        WN + WN → WN        WN × stationary → WN
    LIN + C + C → LIN + C

C and WN do not look at their input, so it is dropped. A rule that follows from SE × SE → SE and
WN × SE → WN is also applied: SE beside a factor each of whose additive terms has SE, or WN, as a
factor is absorbed by it, and so is OU beside terms with OU. In (SE + SE) × SE the last factor
shortens both lengthscales, to values that SE + SE reaches by itself; so the two are the same set
{s₁ exp(−a d²) + s₂ exp(−b d²)}.

Nothing is ever distributed: (SE + PER) × SE shares a lengthscale that SE + PER × SE does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vbks.grammar.expression import Expression, Leaf, Product, Sum, add, multiply, operands, rebuild
from vbks.grammar.families import rules_of
from vbks.grammar.parser import parse

_CONSTANT = Leaf("C")
_NOISE = Leaf("WN")
_CLOSED = ("SE", "OU")
"""Families of which a product of two is one again."""


def leaves_first(operand: Expression) -> tuple[bool, str]:
    """The order of arranged operands: leaves, then compound ones, each by their text."""
    return not isinstance(operand, Leaf), str(operand)


def arrange(expression: Expression | str) -> Expression:
    """The expression with the operands of sums and products sorted, and nothing else changed."""
    expression = parse(expression)
    arranged = [arrange(operand) for operand in operands(expression)]
    if isinstance(expression, Sum | Product):
        arranged.sort(key=leaves_first)
    return rebuild(expression, arranged)


def canonical(expression: Expression | str) -> Expression:
    """The arranged expression that stands for all of the same structure."""
    expression = parse(expression)
    parts = [canonical(operand) for operand in operands(expression)]
    match rebuild(expression, parts):
        case Leaf(family, dim) if dim is not None and not rules_of(family).uses_input:
            return Leaf(family)
        case Sum(terms):
            return add(*sorted(_merged_terms(terms), key=leaves_first))
        case Product(factors):
            return multiply(*sorted(_merged_factors(factors), key=leaves_first))
        case other:
            return other


def structures(expressions: Iterable[Expression | str]) -> dict[Expression, tuple[int, ...]]:
    """Each canonical form with the positions of its copies, in order of first appearance."""
    positions: dict[Expression, list[int]] = {}
    for position, expression in enumerate(expressions):
        positions.setdefault(canonical(expression), []).append(position)
    return {form: tuple(copies) for form, copies in positions.items()}


def is_stationary(expression: Expression | str) -> bool:
    """Whether the kernel depends on the difference of its inputs only; changes never do."""
    expression = parse(expression)
    match expression:
        case Leaf(family):
            return rules_of(family).stationary
        case Sum() | Product():
            return all(map(is_stationary, operands(expression)))
    return False


def _merged_terms(terms: Sequence[Expression]) -> Iterable[Expression]:
    merged = dict.fromkeys(term for term in terms if _is_leaf_of(term, "C", "LIN", "WN"))
    others = [term for term in terms if term not in merged]
    if any(_is_leaf_of(term, "LIN") and terms.count(term) > 1 for term in merged):
        merged[_CONSTANT] = None
    return [*merged, *others]


def _merged_factors(factors: Sequence[Expression]) -> Iterable[Expression]:
    kept = [factor for factor in factors if factor != _CONSTANT] or [_CONSTANT]
    if _NOISE in kept:
        kept = [_NOISE, *(factor for factor in kept if not is_stationary(factor))]
    closed = dict.fromkeys(factor for factor in kept if _is_leaf_of(factor, *_CLOSED))
    others = [factor for factor in kept if factor not in closed]
    return [*(leaf for leaf in closed if not any(_absorbs(o, leaf) for o in others)), *others]


def _is_leaf_of(expression: Expression, *families: str) -> bool:
    return isinstance(expression, Leaf) and expression.family in families


def _absorbs(expression: Expression, closed: Expression) -> bool:
    match expression:
        case Leaf():
            return expression in (closed, _NOISE)
        case Product(factors):
            return any(_absorbs(factor, closed) for factor in factors)
    return all(_absorbs(operand, closed) for operand in operands(expression))
