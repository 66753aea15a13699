from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product
from math import exp, fsum, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import expressions

from vbks.errors import GrammarError
from vbks.grammar.canonical import arrange, structures
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    Sum,
    num_leaves,
)
from vbks.grammar.parser import parse
from vbks.grammar.prior import GROWTH, WIDTH, grammar_prior, uniform_prior
from vbks.grammar.space import K144, space

Prior = Callable[[Sequence[Expression]], Sequence[float]]


def probabilities(prior: Prior, texts: Sequence[str]) -> list[float]:
    return [exp(value) for value in prior([parse(text) for text in texts])]


def convolve(a: list[float], b: list[float]) -> list[float]:
    return [fsum(a[i] * b[n - i] for i in range(n + 1)) for n in range(len(a))]


def many(each: list[float]) -> list[float]:
    """Distribution of the leaves below a sum or product, from that below one operand."""
    total, power = [0.0] * len(each), convolve(each, each)
    for extra in range(len(each)):
        total = [t + (1 - WIDTH) * WIDTH**extra * p for t, p in zip(total, power, strict=True)]
        power = convolve(power, each)
    return total


def leaves_of_ordered_trees(max_leaves: int, num_changes: int) -> list[float]:
    """P(n leaves) for n = 0, 1, ..., by following the process on ordered trees."""
    leaf = [0.0, 1 - GROWTH] + [0.0] * (max_leaves - 1)
    free, below = leaf, leaf  # at the root or below a change; below a sum or product
    for _ in range(max_leaves):
        merged, changed = many(below), convolve(free, free)
        share = [(2, 2 + num_changes), (1, 1 + num_changes)]
        free, below = (
            [
                start + GROWTH * (num_merged * m + num_changes * c) / num_operators
                for start, m, c in zip(leaf, merged, changed, strict=True)
            ]
            for num_merged, num_operators in share
        )
    return free


def all_trees(max_leaves: int, change: bool) -> list[Expression]:
    words = [Leaf("PER", 1), Leaf("RQ", 2)]
    found: dict[int, set[Expression]] = {1: set(words)}
    for size in range(2, max_leaves + 1):
        found[size] = set()
        for left in range(1, size):
            for a, b in product(found[left], found[size - left]):
                found[size] |= {arrange(Sum((a, b))), arrange(Product((a, b)))}
                if change:
                    found[size] |= {ChangePoint(a, b, dim) for dim in (1, 2)}
                    found[size] |= {ChangeWindow(a, b, dim) for dim in (1, 2)}
    return [tree for size in found for tree in found[size]]


@pytest.mark.parametrize("prior", [uniform_prior, grammar_prior])
@given(members=st.lists(expressions(), min_size=1, max_size=20))
def test_priors__sum_to_one_and_are_shared_by_copies(
    prior: Prior, members: list[Expression]
) -> None:
    values = prior(members)
    assert len(values) == len(members)
    assert fsum(map(exp, values)) == pytest.approx(1, abs=1e-10)
    for copies in structures(members).values():
        assert len({values[position] for position in copies}) == 1


@pytest.mark.parametrize("prior", [uniform_prior, grammar_prior])
def test_priors__copies_of_a_structure_take_nothing_from_others(prior: Prior) -> None:
    once = probabilities(prior, ["SE", "PER"])
    thrice = probabilities(prior, ["SE", "PER", "SE * SE", "SE * SE * SE"])
    assert thrice[1] == pytest.approx(once[1], abs=1e-10)
    assert [thrice[i] for i in (0, 2, 3)] == pytest.approx([once[0] / 3] * 3, abs=1e-10)


def test_uniform_prior__is_uniform_over_the_133_structures_of_k144() -> None:
    values = uniform_prior(K144)
    for copies in structures(K144).values():
        assert fsum(exp(values[i]) for i in copies) == pytest.approx(1 / 133, abs=1e-10)


def test_grammar_prior__smaller_structures_are_likelier() -> None:
    values = grammar_prior(K144)
    by_size: dict[int, list[float]] = defaultdict(list)
    for form, copies in structures(K144).items():
        by_size[num_leaves(form)].append(values[copies[0]] + log(len(copies)))
    assert min(by_size[1]) > max(by_size[2])
    assert min(by_size[2]) > max(by_size[3])


@pytest.mark.parametrize(("max_leaves", "change"), [(4, False), (3, True)])
def test_grammar_prior__agrees_with_the_process_on_ordered_trees(
    max_leaves: int, change: bool
) -> None:
    trees = all_trees(max_leaves, change)
    assert len(structures(trees)) == len(trees)
    expected = leaves_of_ordered_trees(max_leaves, num_changes=2 if change else 0)
    found = [0.0] * (max_leaves + 1)
    for tree, value in zip(trees, grammar_prior(trees), strict=True):
        found[num_leaves(tree)] += exp(value)
    total = fsum(expected)
    assert found == pytest.approx([value / total for value in expected], abs=1e-10)


def test_grammar_prior__counts_the_orders_of_different_operands() -> None:
    different, alike = probabilities(grammar_prior, ["PER + RQ", "PER + PER"])
    assert different == pytest.approx(2 * alike, abs=1e-10)
    ordered = probabilities(grammar_prior, ["CP(PER, RQ)", "CP(PER, PER)"])
    assert ordered == pytest.approx([0.5, 0.5], abs=1e-10)


def test_grammar_prior__larger_vocabulary_makes_leaves_dearer() -> None:
    members = [parse("PER"), parse("PER + PER")]
    few = grammar_prior(members)
    more = grammar_prior(members, vocabulary=space(1, ("SE", "RQ", "LIN", "PER")))  # type: ignore[arg-type]
    assert (more[0] - more[1]) - (few[0] - few[1]) == pytest.approx(log(4), abs=1e-10)


def test_grammar_prior__more_growth_favours_larger_ones() -> None:
    members = [parse("PER"), parse("PER + PER")]
    low, high = grammar_prior(members, growth=0.1), grammar_prior(members, growth=0.4)
    assert low[1] < high[1]


@pytest.mark.parametrize("growth", [0.0, -1.0, 0.45, 1.0, float("nan")])
def test_grammar_prior__growth_without_end_is_refused(growth: float) -> None:
    with pytest.raises(GrammarError, match=r"growth must be above 0 and at most 0\.444, got "):
        grammar_prior(K144, growth)


@pytest.mark.parametrize("prior", [uniform_prior, grammar_prior])
def test_priors__of_nothing_are_refused(prior: Prior) -> None:
    with pytest.raises(GrammarError, match="a prior needs at least one expression, got none"):
        prior([])
