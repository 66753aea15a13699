import re
import sys
from itertools import groupby, product

import pytest

from vbks.errors import GrammarError
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression, Leaf, Product, Sum, num_leaves
from vbks.grammar.parser import parse
from vbks.grammar.space import K12, K144, space
from vbks.grammar.vocabulary import Dims

FAMILIES = ("SE", "RQ", "LIN", "PER")


def by_brute_force(level: int, leaves: list[Leaf]) -> set[Expression]:
    """Every binary tree in every order, flattened and arranged."""
    found: dict[int, set[Expression]] = {1: set(leaves)}
    for size in range(2, level + 1):
        sides = [
            pair for left in range(1, size) for pair in product(found[left], found[size - left])
        ]
        found[size] = {arrange(operator(pair)) for operator in (Sum, Product) for pair in sides}
    return set().union(*found.values())


def test_k144__is_every_expression_of_at_most_three_leaves() -> None:
    assert len(K144) == 144
    assert set(K144) == by_brute_force(3, [Leaf(family) for family in FAMILIES])


def test_k144__has_the_shapes_of_the_paper_in_order() -> None:
    shapes = groupby(re.sub("[A-Z]+", "A", str(member)) for member in K144)
    assert [(shape, len(list(members))) for shape, members in shapes] == [
        ("A", 4),
        ("A + A", 10),
        ("A * A", 10),
        ("A + A + A", 20),
        ("A * A * A", 20),
        ("A + A * A", 40),
        ("A * (A + A)", 40),
    ]


def test_k144__keeps_copies_of_a_structure() -> None:
    assert {parse("SE"), parse("SE * SE"), parse("SE * SE * SE")} <= set(K144)


def test_k12__is_table_1_and_part_of_k144() -> None:
    assert [str(k) for k in K12] == [
        "LIN + RQ",
        "LIN + LIN * RQ",
        "PER + LIN * RQ",
        "PER + RQ + SE",
        "LIN + PER + RQ",
        "PER + PER + SE",
        "SE + PER * SE",
        "SE + PER * RQ",
        "SE + LIN * PER",
        "LIN * PER * SE",
        "LIN * PER * RQ",
        "LIN * (PER + RQ)",
    ]
    assert set(K12) <= set(K144)


@pytest.mark.parametrize(
    ("level", "families", "dims", "leaves"),
    [
        (1, FAMILIES, 1, [Leaf(family) for family in FAMILIES]),
        (4, ("SE", "PER"), 1, [Leaf("SE"), Leaf("PER")]),
        (5, ("SE",), 1, [Leaf("SE")]),
        (3, ("SE", "C"), 2, [Leaf("SE", 1), Leaf("SE", 2), Leaf("C")]),
        (3, ("LIN",), (None, 2), [Leaf("LIN"), Leaf("LIN", 2)]),
    ],
)
def test_space__is_what_brute_force_finds(
    level: int, families: tuple[str, ...], dims: Dims, leaves: list[Leaf]
) -> None:
    members = space(level, families, dims)
    assert len(members) == len(set(members))
    assert set(members) == by_brute_force(level, leaves)
    assert all(arrange(member) == member for member in members)
    assert sorted(members, key=num_leaves) == list(members)


def test_space__does_not_depend_on_the_order_of_families() -> None:
    assert space(3, families=FAMILIES[::-1]) == K144


@pytest.mark.parametrize(
    ("level", "families", "dims"),
    [(7, FAMILIES, 1), (10**9, ("SE",), 1), (3, ("SE",), 1000), (2, ("SE",), 10_000)],
)
def test_space__absurd_sizes_are_refused_before_the_work(
    level: int, families: tuple[str, ...], dims: int
) -> None:
    with pytest.raises(GrammarError, match=r"has more than 200000 expressions\. Lower the level"):
        space(level, families, dims)


def test_space__counts_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[space.__module__]
    for limit, refused in ((1004, False), (1003, True)):
        monkeypatch.setattr(module, "MAX_SPACE", limit)
        if refused:
            with pytest.raises(GrammarError, match="has more than 1003 expressions"):
                space(4)
        else:
            assert len(space(4)) == limit


@pytest.mark.parametrize("level", [0, -1, True, 2.0, "3", None])
def test_space__level_is_a_number_of_leaves(level: int) -> None:
    with pytest.raises(GrammarError, match="the level is a number of leaves, at least 1, got "):
        space(level)


def test_space__has_matern_families_on_all_inputs_where_they_are_named() -> None:
    assert [str(e) for e in space(1, ("M32", "M52"), dims=(None, 2))] == [
        "M32",
        "M32[2]",
        "M52",
        "M52[2]",
    ]
    assert not any("M" in str(e) for e in K144)
