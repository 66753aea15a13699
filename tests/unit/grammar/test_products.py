import random

import pytest
from support.strategies import random_expression

from vbks.grammar import LimitError, additive_terms, multiply, parse, products_of, subexpressions


def places(text):
    """The nodes and operands of each product."""
    return [[(branch.node, branch.operand) for branch in own] for own in products_of(parse(text))]


def test_products_of__takes_a_leaf_of_each_factor():
    assert places("LIN") == [[(0, 0)]]
    assert places("LIN * PER") == [[(1, 0), (2, 0)]]
    nodes = [str(node) for node in subexpressions(parse("SE * (LIN + C)"))]
    assert nodes == ["SE * (LIN + C)", "SE", "LIN + C", "LIN", "C"]
    assert places("SE * (LIN + C)") == [[(1, 0), (2, 0), (3, 0)], [(1, 0), (2, 1), (4, 0)]]


def test_products_of__takes_both_sides_of_changes():
    assert places("CP(SE, CW(C, LIN))") == [
        [(0, 0), (1, 0)],
        [(0, 1), (2, 0), (3, 0)],
        [(0, 1), (2, 1), (4, 0)],
    ]


def test_products_of__are_as_many_as_the_additive_form_has_where_nothing_changes():
    rng = random.Random(0)
    for _ in range(100):
        expression = random_expression(rng, 7, change=False)
        assert len(products_of(expression)) == len(additive_terms(expression))


def test_products_of__refuses_more_than_anybody_reads():
    pair = parse("SE + LIN")
    with pytest.raises(LimitError, match="more than 10000 parts"):
        products_of(multiply(*[pair] * 14))
