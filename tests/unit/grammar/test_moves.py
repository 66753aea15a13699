from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from support.strategies import expressions

from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import (
    MAX_DEPTH,
    MAX_LEAVES,
    ChangePoint,
    Expression,
    Leaf,
    add,
    depth,
    num_leaves,
)
from vbks.grammar.families import BASE_FAMILIES
from vbks.grammar.moves import (
    ABCD_MOVES,
    CKS_MOVES,
    Choices,
    Move,
    add_leaf,
    change_point,
    change_to_constant,
    change_window,
    changed_children,
    children,
    collapse,
    multiply_leaf,
    multiply_leaf_or_constant,
    noisy_children,
    replace_leaf,
    shrink,
    without_noise,
)
from vbks.grammar.parser import parse
from vbks.grammar.space import K144

SE, PER, LIN = Leaf("SE"), Leaf("PER"), Leaf("LIN")


def texts(found: tuple[Expression, ...]) -> list[str]:
    return [str(expression) for expression in found]


@pytest.mark.parametrize(
    ("move", "node", "replacements"),
    [
        (add_leaf, "SE", ["SE + SE", "SE + LIN"]),
        (multiply_leaf, "SE", ["SE * SE", "SE * LIN"]),
        (replace_leaf, "SE", ["LIN"]),
        (replace_leaf, "PER", ["SE", "LIN"]),
        (replace_leaf, "SE + LIN", []),
        (multiply_leaf_or_constant, "PER", ["PER * (SE + C)", "PER * (LIN + C)"]),
        (change_point, "PER", ["CP[1](PER, PER)", "CP[3](PER, PER)"]),
        (
            change_to_constant,
            "PER",
            [f"CP[{d}]({sides})" for sides in ("PER, C", "C, PER") for d in (1, 3)],
        ),
        (
            change_window,
            "PER",
            [f"CW[{d}]({sides})" for sides in ("PER, C", "C, PER", "PER, PER") for d in (1, 3)],
        ),
        (shrink, "PER", []),
        (shrink, "PER * (SE + LIN)", ["PER", "SE + LIN", "SE", "LIN"]),
        (collapse, "PER", []),
        (collapse, "PER * RQ", ["SE", "LIN"]),
    ],
)
def test_move__replaces_a_node(move: Move, node: str, replacements: list[str]) -> None:
    choices = Choices(leaves=(SE, LIN), inputs=(1, 3))
    assert [str(made) for made in move(parse(node), choices)] == replacements


def test_children__of_a_leaf_under_cks() -> None:
    assert texts(children(SE)) == [
        *("SE + SE", "RQ + SE", "LIN + SE", "PER + SE"),
        *("RQ * SE", "LIN * SE", "PER * SE"),
        *("RQ", "LIN", "PER"),
    ]


def test_children__happen_at_every_node() -> None:
    found = texts(children(parse("SE * PER + LIN"), families=["RQ"]))
    assert found == [
        *("LIN + RQ + PER * SE", "LIN + PER * (RQ + SE)", "LIN + SE * (PER + RQ)"),
        *("RQ * (LIN + PER * SE)", "LIN + PER * RQ * SE", "LIN * RQ + PER * SE"),
        *("LIN + PER * RQ", "LIN + RQ * SE", "RQ + PER * SE"),
    ]


def test_children__write_leaves_on_every_input_but_constants_once() -> None:
    found = texts(children(Leaf("SE", 1), families=["SE", "C"], dims=2, moves=[replace_leaf]))
    assert found == ["SE[2]", "C"]


def test_children__replace_a_family_on_the_same_and_on_other_inputs() -> None:
    found = texts(children(Leaf("SE", 2), families=["SE", "PER"], dims=2, moves=[replace_leaf]))
    assert found == ["SE[1]", "PER[1]", "PER[2]"]


@pytest.mark.parametrize(("dims", "changes"), [(1, [1]), (2, [1, 2]), ((None, 1, 4), [1, 4])])
def test_children__change_along_every_input(dims: int, changes: list[int]) -> None:
    found = children(SE, dims=dims, moves=[change_point])
    assert found == tuple(ChangePoint(SE, SE, dim) for dim in changes)


def test_children__of_a_leaf_under_abcd() -> None:
    found = texts(children(SE, families=["SE", "C"], moves=ABCD_MOVES))
    assert found == [
        *("SE + SE", "C + SE", "C", "SE * (C + SE)"),
        *("CP[1](SE, SE)", "CW[1](SE, C)", "CW[1](C, SE)", "CW[1](SE, SE)"),
    ]


@pytest.mark.parametrize("moves", [CKS_MOVES, ABCD_MOVES])
@given(expression=expressions(max_leaves=5, max_dim=2))
@settings(max_examples=30)
def test_children__are_canonical_unique_and_new(
    moves: tuple[Move, ...], expression: Expression
) -> None:
    found = children(expression, BASE_FAMILIES, (None, 2), moves)
    assert found
    assert len(set(found)) == len(found)
    assert all(canonical(child) == child for child in found)
    assert canonical(expression) not in found
    assert children(expression, BASE_FAMILIES, (None, 2), moves) == found


def test_children__cks_reaches_every_structure_of_k144() -> None:
    reached: set[Expression] = {SE}
    waiting: list[Expression] = [SE]
    while waiting:
        new = {child for child in children(waiting.pop()) if num_leaves(child) <= 3} - reached
        reached |= new
        waiting.extend(new)
    assert set(structures(K144)) <= reached


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH])
def test_children__beyond_the_limit_of_depth_are_left_out(levels: int) -> None:
    expression: Expression = PER
    for level in range(1, levels):
        expression = expression + PER if level % 2 else expression * PER
    found = children(expression, families=["RQ"], moves=[*CKS_MOVES, change_point])
    assert found
    assert max(map(depth, found)) == MAX_DEPTH


@pytest.mark.parametrize("collect", [iter, list])
def test_children__beyond_the_limit_of_leaves_are_left_out(
    collect: Callable[[Iterable[Expression]], Iterable[Expression]],
) -> None:
    def change_whole(node: Expression, choices: Choices) -> Iterable[Expression]:
        return () if isinstance(node, Leaf) else collect(change_point(node, choices))

    def replace_whole(node: Expression, choices: Choices) -> Iterable[Expression]:
        return () if isinstance(node, Leaf) else choices.leaves

    expression = add(*[PER] * (MAX_LEAVES // 2 + 1))
    found = children(expression, families=["SE"], moves=[change_whole, replace_whole])
    assert found == (SE,)


def test_noisy_children__take_the_noise_along() -> None:
    found = noisy_children("SE", ("SE", "LIN"), 1, ABCD_MOVES)
    assert {canonical(text) for text in ("CW(SE + WN, C)", "LIN * (SE + WN)", "SE + LIN")} <= {
        *found
    }
    assert len(found) == len(set(found))
    assert all(canonical(child) == child for child in found)


def test_noisy_children__have_no_noise_in_the_outermost_sum() -> None:
    for text in ("SE", "SE + PER", "SE * LIN"):
        for child in noisy_children(text, ("SE", "LIN", "WN"), 1, ABCD_MOVES):
            assert without_noise(child) == child != canonical(text)


def test_changed_children__are_of_the_whole_with_and_without_noise() -> None:
    found = changed_children("SE + PER", (2,), (change_to_constant,))
    assert texts(found) == [
        "CP[2](PER + SE, C)", "CP[2](C, PER + SE)",
        "CP[2](PER + SE + WN, C)", "CP[2](C, PER + SE + WN)",
    ]  # fmt: skip


def test_changed_children__there_are_none_without_inputs() -> None:
    assert changed_children("SE", (), (change_point, change_window)) == ()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("WN", None),
        ("SE + WN", "SE"),
        ("SE * (PER + WN)", "PER * SE"),
        ("SE * (PER + WN) + LIN", "LIN + PER * SE"),
        ("(SE + PER) * (LIN + WN)", "(SE + PER) * LIN"),
        ("LIN * (PER + WN)", "LIN * (PER + WN)"),
        ("SE * (PER + WN * LIN)", "SE * (PER + WN * LIN)"),
        ("CW(SE + WN, C)", "CW(SE + WN, C)"),
    ],
)
def test_without_noise__leaves_out_what_is_the_same_everywhere(text: str, left: str | None) -> None:
    found = without_noise(parse(text))
    assert (found is None) == (left is None)
    if found is not None and left is not None:
        assert canonical(found) == canonical(left)
