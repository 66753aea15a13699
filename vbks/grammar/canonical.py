"""One form for all expressions that describe the same set of kernels.

Rules, on the same input:

    SE × SE → SE        C × k → k           C + C → C           LIN + LIN → LIN + C
    OU × OU → OU        WN + WN → WN        WN × stationary → WN
    LIN + C + C → LIN + C

What the sum or the product of two leaves is, families declare; that a product needs no factor C,
and what WN does as a factor, is the grammar's own. C and WN do not look at their input, so it is
dropped. A rule that follows from SE × SE → SE and WN × SE → WN is also applied: SE beside a factor
each of whose additive terms has SE, or WN, as a factor is absorbed by it, and so is OU beside terms
with OU. In (SE + SE) × SE the last factor shortens both lengthscales, to values that SE + SE
reaches by itself; so the two are the same set {s₁ exp(−a d²) + s₂ exp(−b d²)}.

Nothing is ever distributed: (SE + PER) × SE shares a lengthscale that SE + PER × SE does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vbks.grammar.expression import Expression, Leaf, Product, Sum, add, multiply, operands, rebuild
from vbks.grammar.families import rules_of
from vbks.grammar.parser import parse

_CONSTANT = Leaf("C")
_NOISE = Leaf("WN")


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
    merged = dict.fromkeys(term for term in terms if _sum_of_two(term))
    others = [term for term in terms if term not in merged]
    for term in [term for term in merged if terms.count(term) > 1]:
        merged |= dict.fromkeys(_sum_of_two(term))
    return [*merged, *others]


def _sum_of_two(term: Expression) -> tuple[Expression, ...]:
    """What the sum of a leaf with another of its kind is made of, nothing if it is no less."""
    if not isinstance(term, Leaf):
        return ()
    return tuple(_leaf_on(family, term.dim) for family in rules_of(term.family).sum_of_two)


def _leaf_on(family: str, dim: int | None) -> Leaf:
    return Leaf(family, dim if rules_of(family).uses_input else None)


def _merged_factors(factors: Sequence[Expression]) -> Iterable[Expression]:
    kept = [factor for factor in factors if factor != _CONSTANT] or [_CONSTANT]
    if _NOISE in kept:
        kept = [_NOISE, *(factor for factor in kept if not is_stationary(factor))]
    closed = dict.fromkeys(factor for factor in kept if _is_closed(factor))
    others = [factor for factor in kept if factor not in closed]
    return [*(leaf for leaf in closed if not any(_absorbs(o, leaf) for o in others)), *others]


def _is_closed(factor: Expression) -> bool:
    return isinstance(factor, Leaf) and rules_of(factor.family).closed_under_products


def _absorbs(expression: Expression, closed: Expression) -> bool:
    match expression:
        case Leaf():
            return expression in (closed, _NOISE)
        case Product(factors):
            return any(_absorbs(factor, closed) for factor in factors)
    return all(_absorbs(operand, closed) for operand in operands(expression))
