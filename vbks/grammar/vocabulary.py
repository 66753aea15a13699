"""The leaves that a space or a search is made of: families on inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vbks.errors import GrammarError
from vbks.grammar.expression import MAX_DIM, Leaf
from vbks.grammar.families import rules_of
from vbks.grammar.quoting import quote

Dims = int | Sequence[int | None]
"""Inputs: a list of them, None being all at once, or their number D for each of 1 to D."""

MAX_VOCABULARY = 200_000
"""Up to this many leaves are in a vocabulary: each is a candidate by itself, and no search tries as
many."""


def vocabulary(families: Sequence[str], dims: Dims) -> tuple[Leaf, ...]:
    """Every family on every input; one that does not look at its input comes once."""
    if isinstance(families, str):
        raise GrammarError(f"families are a list of names, such as ('SE',), got {quote(families)}.")
    rules = [rules_of(family) for family in dict.fromkeys(families)]
    inputs = list_dims(dims)
    if not rules or not inputs:
        raise GrammarError("at least one family and one input are needed, got none.")
    if len(rules) * len(inputs) > MAX_VOCABULARY:
        raise GrammarError(
            f"{len(rules)} families on {len(inputs)} inputs are more than {MAX_VOCABULARY} leaves. "
            "Name fewer families or inputs."
        )
    return tuple(
        Leaf(rule.name, dim) for rule in rules for dim in (inputs if rule.uses_input else (None,))
    )


def list_dims(dims: Dims) -> tuple[int | None, ...]:
    """The inputs one by one; of a single input, a leaf need not say which it is on."""
    if isinstance(dims, Iterable):
        return tuple(dict.fromkeys(dims))
    if not isinstance(dims, int):
        raise GrammarError(f"dims is a number of inputs or a list of them, got {quote(dims)}.")
    if not 1 <= dims <= MAX_DIM:
        raise GrammarError(f"the number of inputs is from 1 to {MAX_DIM}, got {quote(dims)}.")
    return (None,) if dims == 1 else tuple(range(1, dims + 1))
