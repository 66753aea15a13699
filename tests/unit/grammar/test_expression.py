import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from support.strategies import expressions

from vbks.errors import GrammarError
from vbks.grammar.expression import (
    MAX_DEPTH,
    MAX_DIM,
    MAX_LEAVES,
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    LimitError,
    Product,
    Sum,
    add,
    depth,
    dims_used,
    leaves,
    multiply,
    num_leaves,
    operands,
    rebuild,
    subexpressions,
)
from vbks.grammar.parser import parse

SE, PER, LIN, C = Leaf("SE"), Leaf("PER"), Leaf("LIN"), Leaf("C")


def tower(levels: int) -> Expression:
    """An expression of exactly this many levels."""
    expression: Expression = SE
    for level in range(1, levels):
        expression = expression + SE if level % 2 else expression * SE
    return expression


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (SE, "SE"),
        (Leaf("SE", 2), "SE[2]"),
        (SE * PER + LIN, "SE * PER + LIN"),
        (SE * (PER + LIN), "SE * (PER + LIN)"),
        (ChangePoint(SE, LIN), "CP[1](SE, LIN)"),
        (ChangeWindow(SE, C, 2), "CW[2](SE, C)"),
        (ChangePoint(SE + LIN, C * SE) * PER, "CP[1](SE + LIN, C * SE) * PER"),
    ],
)
def test_text__has_brackets_only_where_needed(expression: Expression, text: str) -> None:
    assert str(expression) == text
    assert repr(expression) == f"parse({text!r})"


def test_sum_of_sums__is_one_sum() -> None:
    assert Sum((Sum((SE, PER)), Sum((LIN, C)))) == Sum((SE, PER, LIN, C))
    assert Sum((Sum((SE, PER)), LIN)).terms == (SE, PER, LIN)


def test_product_of_products__is_one_product() -> None:
    assert (SE * (PER * LIN)).factors == (SE, PER, LIN)


def test_product_of_sums__keeps_its_brackets() -> None:
    assert str((SE + PER) * (LIN + C)) == "(SE + PER) * (LIN + C)"


def test_order__is_kept_and_matters() -> None:
    assert SE + PER != PER + SE
    assert str(SE + PER) == "SE + PER"


def test_equality__tells_operators_and_dims_apart() -> None:
    different = [SE + PER, SE * PER, ChangePoint(SE, PER), ChangeWindow(SE, PER), SE]
    different += [Leaf("SE", 1), Leaf("SE", 2), ChangePoint(SE, PER, 2)]
    assert len(set(different)) == len(different)
    assert SE != "SE"


@given(expressions())
def test_equality__holds_for_copies_built_afresh(expression: Expression) -> None:
    for twin in (copy.deepcopy(expression), pickle.loads(pickle.dumps(expression))):
        assert twin == expression
        assert hash(twin) == hash(expression)
        assert str(twin) == str(expression)


def test_expressions__cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        (SE + PER).terms = (SE,)  # type: ignore[misc]


def test_operands__given_as_a_list_are_kept_as_a_tuple() -> None:
    assert Sum([SE, PER]).terms == (SE, PER)  # type: ignore[arg-type]


def test_operators__refuse_what_is_not_an_expression() -> None:
    with pytest.raises(TypeError):
        SE + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        SE * "PER"  # type: ignore[operator]


@pytest.mark.parametrize("operator", [Sum, Product])
@pytest.mark.parametrize("operands", [(), (SE,)])
def test_operators__need_two_operands(
    operator: type[Sum] | type[Product], operands: tuple[Expression, ...]
) -> None:
    name = operator.__name__.lower()
    with pytest.raises(GrammarError, match=f"a {name} needs at least two operands, got "):
        operator(operands)


@pytest.mark.parametrize(
    "build",
    [
        lambda wrong: Sum((SE, wrong)),
        lambda wrong: ChangePoint(SE, wrong),
        lambda wrong: ChangeWindow(wrong, SE),
        lambda wrong: add(wrong),
    ],
)
def test_operands__must_be_expressions(build: Callable[[str], Expression]) -> None:
    with pytest.raises(GrammarError, match="an operand must be an Expression, got 'PER'"):
        build("PER")


@pytest.mark.parametrize("family", ["RBF", "CP", "", 3, None, ("SE",)])
def test_leaf__refuses_unknown_families(family: str) -> None:
    with pytest.raises(
        GrammarError, match=r"unknown family .*\. Known: C, LIN, M32, M52, OU, PER, PER0, RQ"
    ):
        Leaf(family)


@pytest.mark.parametrize("power", [0, 1, 6, 20, 5000])
def test_dims__outside_the_range_are_refused(power: int) -> None:
    message = f"inputs are counted from 1 to {MAX_DIM}, got "
    for dim in (0, 1 - 10**power, MAX_DIM + 10**power):
        with pytest.raises(GrammarError, match=message):
            Leaf("SE", dim)
        with pytest.raises(GrammarError, match=message):
            ChangePoint(SE, PER, dim)


@pytest.mark.parametrize("dim", [True, 1.0, "1"])
def test_dims__must_be_integers(dim: int) -> None:
    with pytest.raises(GrammarError, match="the number of an input must be an int, got "):
        Leaf("SE", dim)


def test_dims__any_integer_type_will_do() -> None:
    class Two:
        def __index__(self) -> int:
            return 2

    assert Leaf("SE", Two()).dim == 2  # type: ignore[arg-type]


def test_depth__is_limited() -> None:
    deepest = tower(MAX_DEPTH)
    assert depth(deepest) == MAX_DEPTH
    assert parse(str(deepest)) == deepest
    message = f"at most {MAX_DEPTH} levels, this one {MAX_DEPTH + 1}"
    with pytest.raises(LimitError, match=message):
        tower(MAX_DEPTH + 1)
    with pytest.raises(LimitError, match=message):
        ChangePoint(deepest, SE)


def test_leaves__are_limited_even_when_shared() -> None:
    expression: Expression = SE
    with pytest.raises(LimitError, match=f"at most {MAX_LEAVES} leaves"):
        for _ in range(MAX_DEPTH - 1):
            expression = ChangePoint(expression, expression)
    assert num_leaves(expression) == 2**16


def test_add_and_multiply__of_one_operand_are_that_operand() -> None:
    assert add(SE) is SE
    assert multiply(SE) is SE
    assert add(SE, PER, LIN) == SE + PER + LIN
    assert multiply(SE, PER, LIN) == SE * PER * LIN


@given(expressions())
def test_rebuild__on_its_own_operands_changes_nothing(expression: Expression) -> None:
    assert rebuild(expression, operands(expression)) == expression


def test_rebuild__keeps_operator_and_dim() -> None:
    assert rebuild(ChangeWindow(SE, PER, 3), (C, LIN)) == ChangeWindow(C, LIN, 3)
    assert rebuild(SE + PER, (C, LIN, SE)) == C + LIN + SE


def test_rebuild__refuses_the_wrong_number_of_operands() -> None:
    with pytest.raises(GrammarError, match="a change is between two operands, got 1"):
        rebuild(ChangePoint(SE, PER), (SE,))
    with pytest.raises(GrammarError, match="the leaf 'SE' has no operands, got 2"):
        rebuild(SE, (SE, PER))


def test_subexpressions__come_before_their_operands() -> None:
    nodes = subexpressions(parse("SE * (PER + LIN) + CP(C, WN)"))
    assert [str(node) for node in nodes] == [
        "SE * (PER + LIN) + CP[1](C, WN)",
        "SE * (PER + LIN)",
        "SE",
        "PER + LIN",
        "PER",
        "LIN",
        "CP[1](C, WN)",
        "C",
        "WN",
    ]


@given(expressions())
def test_leaves__are_the_subexpressions_without_operands(expression: Expression) -> None:
    found = [node for node in subexpressions(expression) if not operands(node)]
    assert list(leaves(expression)) == found
    assert num_leaves(expression) == len(found)


def test_dims_used__counts_leaves_and_changes() -> None:
    assert dims_used(parse("SE[3] * PER + CP[2](LIN[5], C)")) == {2, 3, 5}
    assert dims_used(parse("SE + PER")) == frozenset()
