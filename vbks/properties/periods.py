"""Periods of the cycles of a kernel at samples of its θ, and which of them is the strongest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.units import Units
from vbks.grammar.expression import Leaf
from vbks.kernels.layout import Layout, Node
from vbks.kernels.registry import family_of
from vbks.parts.kernels import TermKernels
from vbks.parts.terms import Term, terms_of
from vbks.parts.values import Samples, period_of
from vbks.properties.members import leaf_dims

SHORTEST = 2.0
"""A period below this many spacings cannot be told from a longer one where rows are evenly
spaced."""

STRENGTH_ROWS = 25
"""At this many rows it is seen which of several cycles has most of the variance."""


def limits(summary: InputSummary) -> tuple[float, float]:
    """The shortest and the longest period of a cycle that data show: two spacings and the range.

    Something that takes longer than the data to come back is no cycle that they show.
    """
    return min(SHORTEST * summary.spacing, summary.range), summary.range


def periods_of(
    layout: Layout, samples: Samples, units: Units, dim: int, summary: InputSummary
) -> Array:
    """Periods of all periodic leaves on an input: [S, L], NaN where data do not show the cycle."""
    low, high = limits(summary)
    found = [period_of(layout, node, samples, units, dim) for node in _cycles(layout, dim)]
    told = [period for period in found if period is not None]
    periods = np.stack(told, axis=1) if told else np.zeros((len(samples.theta), 0))
    # Rounding of units must not decide about a period that is as long as the range.
    slack = 1e-9 * high
    return np.where((periods >= low - slack) & (periods <= high + slack), periods, np.nan)


def strongest(periods: Array, layout: Layout, samples: Samples, X: Array, dim: int) -> Array:
    """Of periods [S, L], those of the leaf whose swings have most variance at X [N, D]: [S].

    X is standardised; a sample without a cycle has NaN.
    """
    if not periods.shape[1]:
        return np.full(len(periods), np.nan)
    if periods.shape[1] == 1:
        return periods[:, 0]
    terms = terms_of(layout)
    groups = [swings_of(terms, [node]) for node in _cycles(layout, dim)]
    every = max(1, len(X) // STRENGTH_ROWS)
    sizes = TermKernels(layout, samples.theta, groups).diag(X[::every]).mean(axis=-1)
    sizes = np.where(np.isfinite(periods), sizes, -1.0)
    return np.asarray(periods[np.arange(len(periods)), np.argmax(sizes, axis=1)])


def swings_of(terms: Sequence[Term], nodes: Sequence[Node]) -> list[int]:
    """The terms in which one of these periodic leaves swings, rather than being a constant."""
    keys = {id(node) for node in nodes}
    return [
        number
        for number, term in enumerate(terms)
        if any(id(own.node) in keys and own.aspect != "level" for own in term.leaves)
    ]


def cyclic_terms(layout: Layout, terms: Sequence[Term], dim: int) -> list[int]:
    """The terms that have a cycle along an input."""
    return swings_of(terms, list(_cycles(layout, dim)))


def _cycles(layout: Layout, dim: int) -> Iterator[Node]:
    """The periodic leaves on an input, counted from 0."""

    def visit(node: Node) -> Iterator[Node]:
        own = node.expression
        is_periodic = isinstance(own, Leaf) and family_of(own.family).has("period")
        if is_periodic and dim in leaf_dims(node, layout.num_inputs):
            yield node
        for operand in node.operands:
            yield from visit(operand)

    return visit(layout.root)
