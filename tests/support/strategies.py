"""Random expressions: a hypothesis strategy, and a generator that a seed repeats."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, Product, Sum
from vbks.grammar.families import known_families

BUILT_IN = ("C", "LIN", "M32", "M52", "OU", "PER", "PER0", "RQ", "SE", "WN")
assert set(BUILT_IN) <= set(known_families())

# A deadline would measure how busy the machine is.
settings.register_profile("vbks", deadline=None)
settings.load_profile("vbks")

Choose = Callable[[Sequence[Any]], Any]


def expressions(
    max_leaves: int = 7,
    families: Sequence[str] = BUILT_IN,
    max_dim: int = 4,
    change: bool = True,
) -> st.SearchStrategy[Expression]:
    """Expressions of at most `max_leaves` leaves, on inputs up to `max_dim` or on all (None)."""

    @st.composite
    def build(draw: st.DrawFn) -> Expression:
        def choose(options: Sequence[Any]) -> Any:
            return draw(st.sampled_from(options))

        return _grow(choose, choose(range(1, max_leaves + 1)), families, max_dim, change)

    return build()


def random_expression(
    rng: random.Random,
    max_leaves: int = 7,
    families: Sequence[str] = BUILT_IN,
    max_dim: int = 4,
    change: bool = True,
) -> Expression:
    """The same expressions from a seeded generator."""
    return _grow(rng.choice, rng.randint(1, max_leaves), families, max_dim, change)


def _grow(
    choose: Choose, num_leaves: int, families: Sequence[str], max_dim: int, change: bool
) -> Expression:
    if num_leaves == 1:
        return Leaf(choose(families), choose([None, *range(1, max_dim + 1)]))
    split = choose(range(1, num_leaves))
    left = _grow(choose, split, families, max_dim, change)
    right = _grow(choose, num_leaves - split, families, max_dim, change)
    operator = choose([Sum, Product, ChangePoint, ChangeWindow] if change else [Sum, Product])
    if operator is Sum:
        return left + right
    if operator is Product:
        return left * right
    changed: Expression = operator(left, right, dim=choose(range(1, max(max_dim, 1) + 1)))
    return changed
