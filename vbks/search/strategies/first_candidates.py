"""What a search tries before anything else, by what the data show of cycles."""

from __future__ import annotations

from collections.abc import Sequence

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.periodogram import is_clear_cycle
from vbks.data.signals.policy import DEFAULT, SignalPolicy
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression, Leaf, add, leaves, multiply

MOST_INPUTS = 2
"""Of several inputs, the first ones with a cycle, up to this many, have candidates of their own."""

CYCLE, LINE, SMOOTH = "PER", "LIN", "SE"
"""Families of a cycle, a trend, and what varies smoothly."""


def clear_cycles(
    X: Array, y: Array, summaries: Sequence[InputSummary], policy: SignalPolicy = DEFAULT
) -> tuple[int, ...]:
    """Inputs, counted from 1, along which the strongest period of the target is clear."""
    return tuple(
        dim
        for dim, (x, own) in enumerate(zip(X.T, summaries, strict=True), 1)
        if own.periods and is_clear_cycle(x, y, own.periods[0], policy)
    )


def first_candidates(
    num_inputs: int, cycles: Sequence[int], families: Sequence[str]
) -> tuple[Expression, ...]:
    """A trend and a cycle together, if the data show one; else a trend with what varies smoothly.

    A small budget is spent on these, the most likely ones first. ``cycles`` are the inputs that
    have one.
    """
    known = set(families)
    if num_inputs > 1:
        found: list[Expression] = [
            add(Leaf(SMOOTH), Leaf(CYCLE, dim)) for dim in cycles[:MOST_INPUTS]
        ]
    elif cycles:
        cycle, line, smooth = Leaf(CYCLE), Leaf(LINE), Leaf(SMOOTH)
        found = [add(line, cycle), add(smooth, cycle), add(line, multiply(smooth, cycle))]
    else:
        found = [add(Leaf(LINE), Leaf(SMOOTH)), Leaf(SMOOTH)]
    return tuple(
        form for form in structures(found) if all(leaf.family in known for leaf in leaves(form))
    )


def has_cycle(expression: Expression) -> bool:
    """Whether a part of it repeats itself."""
    return any(leaf.family == CYCLE for leaf in leaves(expression))
