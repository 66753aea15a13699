import random
from collections.abc import Callable

import pytest
from hypothesis import given
from support.strategies import expressions, random_expression

from vbks.grammar.canonical import arrange, canonical, is_stationary, structures
from vbks.grammar.expression import (
    ChangePoint,
    Expression,
    Leaf,
    Product,
    Sum,
    num_leaves,
    operands,
    rebuild,
)
from vbks.grammar.parser import parse
from vbks.grammar.space import K144


def shuffled(expression: Expression, rng: random.Random) -> Expression:
    parts = [shuffled(operand, rng) for operand in operands(expression)]
    if isinstance(expression, Sum | Product):
        rng.shuffle(parts)
    return rebuild(expression, parts)


@pytest.mark.parametrize(
    ("text", "arranged"),
    [
        ("SE * PER + LIN", "LIN + PER * SE"),
        ("(SE + PER) * SE * C", "C * SE * (PER + SE)"),
        ("SE[2] + SE + SE[1]", "SE + SE[1] + SE[2]"),
        ("CP(SE + LIN, C + C)", "CP[1](LIN + SE, C + C)"),
        ("CP(SE, LIN)", "CP[1](SE, LIN)"),
        ("SE * SE + LIN * C", "C * LIN + SE * SE"),
    ],
)
def test_arrange__sorts_and_changes_nothing_else(text: str, arranged: str) -> None:
    assert str(arrange(parse(text))) == arranged


@given(expressions())
def test_arrange__is_idempotent(expression: Expression) -> None:
    assert arrange(arrange(expression)) == arrange(expression)
    assert num_leaves(arrange(expression)) == num_leaves(expression)


@pytest.mark.parametrize("form", [arrange, canonical])
@pytest.mark.parametrize("seed", range(50))
def test_forms__do_not_depend_on_the_order_written(
    form: Callable[[Expression], Expression], seed: int
) -> None:
    rng = random.Random(seed)
    expression = random_expression(rng, max_leaves=9)
    assert form(shuffled(expression, rng)) == form(expression)


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        ("SE * SE", "SE"),
        ("SE[2] * SE[2] * SE[2]", "SE[2]"),
        ("SE[1] * SE[2]", "SE[1] * SE[2]"),
        ("SE * SE[1]", "SE * SE[1]"),
        ("SE + SE", "SE + SE"),
        ("OU * OU", "OU"),
        ("OU * SE", "OU * SE"),
        ("PER * PER", "PER * PER"),
        ("RQ * RQ", "RQ * RQ"),
        ("LIN * LIN", "LIN * LIN"),
        ("C * SE", "SE"),
        ("C * C", "C"),
        ("C * (SE + LIN)", "LIN + SE"),
        ("C * CP(SE, LIN)", "CP[1](SE, LIN)"),
        ("C + C", "C"),
        ("C[2]", "C"),
        ("C[1] + C[2]", "C"),
        ("C + SE", "C + SE"),
        ("WN[3]", "WN"),
        ("WN + WN[2]", "WN"),
        ("WN * WN", "WN"),
        ("WN * SE[2]", "WN"),
        ("WN * PER0 * RQ", "WN"),
        ("WN * (SE + PER * RQ)", "WN"),
        ("WN * SE * LIN", "LIN * WN"),
        ("WN * LIN * (SE + LIN)", "LIN * WN * (LIN + SE)"),
        ("WN * CP(SE, SE)", "WN * CP[1](SE, SE)"),
        ("WN + SE", "SE + WN"),
        ("LIN + LIN", "C + LIN"),
        ("LIN + LIN + LIN", "C + LIN"),
        ("LIN + LIN[2]", "LIN + LIN[2]"),
        ("LIN + LIN + LIN[2] + LIN[2] + C", "C + LIN + LIN[2]"),
        ("LIN + C + C", "C + LIN"),
        ("CP(SE, SE)", "CP[1](SE, SE)"),
        ("CP(SE * SE, C + C)", "CP[1](SE, C)"),
        ("CW[2](WN * SE, C * LIN)", "CW[2](WN, LIN)"),
    ],
)
def test_canonical__applies_each_rule(text: str, simplified: str) -> None:
    assert str(canonical(parse(text))) == simplified


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        ("(SE + SE) * SE", "SE + SE"),
        ("(SE[2] + SE[2] * LIN) * SE[2]", "SE[2] + LIN * SE[2]"),
        ("(SE + SE * (PER + LIN)) * SE", "SE + SE * (LIN + PER)"),
        ("CP(SE, SE * LIN) * SE", "CP[1](SE, LIN * SE)"),
        ("CW(SE, SE + SE) * SE", "CW[1](SE, SE + SE)"),
        ("(SE + WN) * SE", "SE + WN"),
        ("(SE + SE) * PER * SE", "PER * (SE + SE)"),
        ("(SE + PER) * SE", "SE * (PER + SE)"),
        ("(SE + C) * SE", "SE * (C + SE)"),
        ("(SE[1] + SE[1]) * SE[2]", "SE[2] * (SE[1] + SE[1])"),
        ("CP(SE, LIN) * SE", "SE * CP[1](SE, LIN)"),
        ("(PER + PER) * PER", "PER * (PER + PER)"),
        ("(SE + SE) * (SE + SE)", "(SE + SE) * (SE + SE)"),
    ],
)
def test_canonical__se_is_absorbed_where_all_terms_have_it(text: str, simplified: str) -> None:
    assert str(canonical(parse(text))) == simplified


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        ("C * (LIN + SE) + LIN", "C + LIN + SE"),
        ("(C + C) * (SE * SE + LIN)", "LIN + SE"),
        ("(WN * SE + WN) * LIN * SE", "LIN * WN"),
        ("(SE * SE + SE * C) * SE * (C + C)", "SE + SE"),
    ],
)
def test_canonical__rules_make_room_for_each_other(text: str, simplified: str) -> None:
    assert str(canonical(parse(text))) == simplified


@given(expressions(max_leaves=9, max_dim=2))
def test_canonical__is_idempotent_arranged_and_never_larger(expression: Expression) -> None:
    form = canonical(expression)
    assert canonical(form) == form
    assert arrange(form) == form
    assert canonical(arrange(expression)) == form
    assert num_leaves(form) <= num_leaves(expression)


@given(expressions(), expressions())
def test_canonical__parts_may_be_simplified_first(left: Expression, right: Expression) -> None:
    a, b = canonical(left), canonical(right)
    assert canonical(left + right) == canonical(a + b)
    assert canonical(left * right) == canonical(a * b)
    assert canonical(ChangePoint(left, right, 2)) == ChangePoint(a, b, 2)


@given(expressions())
def test_canonical__constants_do_not_matter_in_products(expression: Expression) -> None:
    assert canonical(expression * Leaf("C", 3)) == canonical(expression)
    assert canonical(expression + Leaf("C") + Leaf("C")) == canonical(expression + Leaf("C"))


@given(expressions(max_leaves=4))
def test_canonical__stationary_factors_of_noise_vanish(expression: Expression) -> None:
    simplified = canonical(expression * Leaf("WN")) == Leaf("WN")
    assert simplified or not is_stationary(expression)


@pytest.mark.parametrize(
    ("text", "stationary"),
    [("SE * (PER + C)", True), ("SE + LIN", False), ("CP(SE, SE)", False), ("WN", True)],
)
def test_is_stationary__needs_all_parts_and_no_change(text: str, stationary: bool) -> None:
    assert is_stationary(parse(text)) is stationary


def test_structures__list_copies_in_order_of_appearance() -> None:
    found = structures(map(parse, ["SE * SE", "PER", "SE", "LIN + LIN", "SE * C", "LIN + C"]))
    assert [(str(form), copies) for form, copies in found.items()] == [
        ("SE", (0, 2, 4)),
        ("PER", (1,)),
        ("C + LIN", (3, 5)),
    ]


def test_structures__of_k144_are_133() -> None:
    found = structures(K144)
    copies = {str(form): len(members) for form, members in found.items() if len(members) > 1}
    assert len(found) == 133
    assert copies == {
        "SE": 3,  # SE × SE, SE × SE × SE
        "C + LIN": 2,  # LIN + LIN, LIN + LIN + LIN
        "LIN * SE": 2,  # beside another SE, as the next two
        "PER * SE": 2,
        "RQ * SE": 2,
        "LIN + SE": 2,  # SE × SE for SE, as the next two
        "PER + SE": 2,
        "RQ + SE": 2,
        "SE + SE": 3,  # SE × SE + SE, (SE + SE) × SE
    }
