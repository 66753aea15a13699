import math

import pytest
from hypothesis import given
from support.strategies import expressions

from vbks.grammar.additive import MAX_TERMS, additive_form, additive_terms
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    LimitError,
    Product,
    Sum,
    add,
    multiply,
    operands,
)
from vbks.grammar.parser import parse


def value(expression: Expression) -> int:
    """A number for every expression that only depends on sums and products of its atoms."""
    parts = [value(operand) for operand in operands(expression)]
    match expression:
        case Sum():
            return sum(parts)
        case Product():
            return math.prod(parts)
        case Leaf(family, dim):
            return sum(family.encode()) + 1000 * (dim or 0)
        case ChangePoint(dim=dim):
            return 7 * parts[0] + 11 * parts[1] + dim
        case ChangeWindow(dim=dim):
            return 13 * parts[0] + 17 * parts[1] + dim
    raise AssertionError


@pytest.mark.parametrize(
    ("text", "additive"),
    [
        ("SE * (RQ + LIN)", "LIN * SE + RQ * SE"),
        ("SE", "SE"),
        ("PER * SE", "PER * SE"),
        ("SE + PER * LIN", "SE + LIN * PER"),
        ("(SE + PER) * (LIN + C)", "C * PER + C * SE + LIN * PER + LIN * SE"),
        ("(SE + PER) * (SE + PER)", "PER * PER + PER * SE + PER * SE + SE * SE"),
        ("SE * (PER + RQ * (LIN + C))", "C * RQ * SE + LIN * RQ * SE + PER * SE"),
        (
            "CP(SE * (RQ + LIN), C) * (SE + C)",
            "C * CP[1](SE * (LIN + RQ), C) + SE * CP[1](SE * (LIN + RQ), C)",
        ),
    ],
)
def test_additive_form__distributes_and_keeps_changes_whole(text: str, additive: str) -> None:
    assert str(additive_form(parse(text))) == additive


@given(expressions())
def test_additive_form__is_an_idempotent_sum_of_products(expression: Expression) -> None:
    form = additive_form(expression)
    assert additive_form(form) == form
    assert arrange(form) == form
    for term in additive_terms(expression):
        factors = operands(term) if isinstance(term, Product) else (term,)
        assert not any(isinstance(factor, Sum | Product) for factor in factors)


@given(expressions())
def test_additive_form__has_the_same_value(expression: Expression) -> None:
    assert value(additive_form(expression)) == value(expression)


@given(expressions())
def test_additive_terms__add_up_to_the_form(expression: Expression) -> None:
    assert add(*additive_terms(expression)) == additive_form(expression)


def test_additive_form__as_many_terms_as_allowed() -> None:
    ten = add(*[Leaf("SE")] * 10)
    assert len(additive_terms(multiply(*[ten] * 4))) == MAX_TERMS


@pytest.mark.parametrize("num_sums", [14, 100, 40_000])
def test_additive_form__too_many_terms_are_refused_before_the_work(num_sums: int) -> None:
    expression = multiply(*[parse("SE + LIN")] * num_sums)
    with pytest.raises(LimitError, match="has more than 10000 terms or 100000 leaves"):
        additive_form(expression)


def test_additive_form__too_many_leaves_are_refused_before_the_work() -> None:
    expression = multiply(add(*[Leaf("SE")] * 5_000), *[Leaf("LIN")] * 5_000)
    with pytest.raises(LimitError, match="has more than 10000 terms or 100000 leaves"):
        additive_terms(expression)
