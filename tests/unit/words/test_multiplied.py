import random

import pytest
from support.strategies import random_expression

from vbks.errors import GrammarError
from vbks.grammar import LimitError, additive_terms, leaves, subexpressions
from vbks.words.estimate import Estimate
from vbks.words.multiplied import parts_of
from vbks.words.part import Values


def families(part):
    return [factor.family for factor in part.factors]


def test_parts_of__multiplies_sums_out():
    parts = parts_of("(SE + PER) * (LIN + C) + WN")
    assert [families(part) for part in parts] == [
        ["SE", "LIN"],
        ["SE", "C"],
        ["PER", "LIN"],
        ["PER", "C"],
        ["WN"],
    ]


def test_parts_of__has_as_many_as_the_additive_form_where_nothing_changes():
    rng = random.Random(0)
    for _ in range(200):
        expression = random_expression(rng, 7, change=False)
        assert len(parts_of(expression, 4)) == len(additive_terms(expression))


def test_parts_of__has_a_gate_for_each_change_that_a_part_is_in():
    parts = parts_of("PER * CP[2](SE + C, CW(LIN, WN))")
    sides = [[(gate.side, gate.input) for gate in part.gates] for part in parts]
    assert [families(part) for part in parts] == [
        ["PER", "SE"],
        ["PER", "C"],
        ["PER", "LIN"],
        ["PER", "WN"],
    ]
    assert sides == [
        [("before", 2)],
        [("before", 2)],
        [("after", 2), ("outside", 1)],
        [("after", 2), ("inside", 1)],
    ]


def test_parts_of__gives_values_to_leaves_and_changes_from_left_to_right():
    known = [Values(lengthscale=Estimate(float(n))) for n in range(4)]
    first, second = parts_of("LIN * CP(SE, OU)", 1, known)
    assert [factor.values[0] for factor in first.factors] == [known[0], known[2]]
    assert [factor.values[0] for factor in second.factors] == [known[0], known[3]]
    assert first.gates[0].values == second.gates[0].values == known[1]


def test_parts_of__reads_every_value_once_whatever_the_expression():
    rng = random.Random(1)
    for _ in range(100):
        expression = random_expression(rng, 7)
        nodes = [n for n in subexpressions(expression) if type(n).__name__.startswith("Change")]
        count = len(leaves(expression)) + len(nodes)
        known = [Values(period=Estimate(float(n))) for n in range(count)]
        parts = parts_of(expression, 4, known)
        told = {v.period.value for part in parts for f in part.factors for v in f.values}
        told |= {gate.values.period.value for part in parts for gate in part.gates}
        assert told == set(range(count))


def test_parts_of__a_leaf_on_all_inputs_has_values_on_each():
    values = (Values(direction="up"), Values(direction="down"))
    (part,) = parts_of("SE", 2, [values])
    assert part.factors[0].inputs == (1, 2) and part.factors[0].values == values
    (part,) = parts_of("SE[2]", 2)
    assert part.factors[0].inputs == (2,)


def test_parts_of__refuses_more_parts_than_anybody_reads():
    text = " * ".join(["(SE + PER + LIN + C)"] * 7)
    with pytest.raises(LimitError, match=r"more than 10000 parts. Multiply fewer sums"):
        parts_of(text)


def test_parts_of__refuses_what_is_no_expression():
    with pytest.raises(GrammarError, match="unknown family"):
        parts_of("SINE")
