"""What kernels expect before any data: covariances of targets, for θ drawn from the priors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.grammar.expression import Expression, Leaf
from vbks.inference.context import FitContext
from vbks.inference.seeds import Seed
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.bank import bank_of
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parameters import FlatPrior

NUM_SAMPLES = 20
"""Distances are averaged over this many samples of θ where nobody says how many, as in BOMS; with
twice as many, they tell evidences hardly better."""

NUM_ROWS = 24
"""Targets are compared at the inputs of this many rows where nobody says how many. Determinants of
all pairs of K144 then take three seconds, and from 64 rows of the airline passengers evidences are
predicted no better."""

JITTER = 1e-6
"""This share of its mean is added to a diagonal: a numerical constant."""


def prior_grams(
    expressions: Sequence[Expression],
    context: FitContext,
    num_samples: int = NUM_SAMPLES,
    num_rows: int = NUM_ROWS,
) -> Array:
    """Covariances [K, S, n, n] of standardised targets at n rows, for S samples of θ.

    Noise is part of them. Leaves that expressions have in common have the same θ in each sample.
    """
    X, _ = context.data.sample(num_rows, context.rng(Seed.GRAMS))
    grams = np.empty((len(expressions), num_samples, len(X), len(X)))
    for places in _groups(expressions, context.num_inputs):
        own = [expressions[place] for place in places]
        grams[places] = _grams(own, context, num_samples, X)
    return grams


def _groups(expressions: Sequence[Expression], num_inputs: int) -> list[list[int]]:
    """Places of the expressions that go into a bank together, and of each that goes alone."""
    batchable = [is_batchable(expression, num_inputs) for expression in expressions]
    together = [place for place, can in enumerate(batchable) if can]
    alone = [[place] for place, can in enumerate(batchable) if not can]
    return [together, *alone] if together else alone


def _grams(
    expressions: Sequence[Expression], context: FitContext, num_samples: int, X: Array
) -> Array:
    bank = bank_of(expressions, context.num_inputs, ard=context.ard)
    draws = [prior_draws(layout, context, num_samples) for layout in bank.layouts]
    theta = np.zeros((len(bank), num_samples, bank.num_slots))
    for row, draw in enumerate(draws):
        theta[row, :, : draw.shape[1]] = draw
    grams = np.array(bank(theta, X), float)
    variances = np.diagonal(grams, axis1=-2, axis2=-1) + np.asarray(bank.noise(theta, X), float)
    variances = variances + JITTER * variances.mean(axis=-1, keepdims=True)
    diagonal = np.arange(len(X))
    grams[..., diagonal, diagonal] = variances
    return grams


def prior_draws(layout: Layout, context: FitContext, num_samples: int) -> Array:
    """Samples of θ [S, H] from the priors, evenly spread over each of them.

    They follow from the names of slots, not from their places, so that what expressions have in
    common is the same in all of them. A prior that is flat cannot be drawn from: that of the family
    stands in for it.
    """
    columns = []
    parts = zip(context.prior_of(layout), layout.slots, _slot_names(layout), strict=True)
    for prior, slot, name in parts:
        order = context.rng(Seed.GRAMS, f" {name}").permutation(num_samples)
        proper = slot.parameter.prior if isinstance(prior, FlatPrior) else prior
        columns.append(proper.draw((order + 0.5) / num_samples))
    return np.stack(columns, axis=1)


def _slot_names(layout: Layout) -> list[str]:
    """A name for each slot that tells whose it is: which leaf of its kind, and which number."""
    names = {NOISE_SLOT: "noise"}
    seen: Counter[str] = Counter()
    for node in _nodes(layout.root):
        is_leaf = isinstance(node.expression, Leaf)
        kind = str(node.expression) if is_leaf else type(node.expression).__name__
        seen[kind] += 1
        scale = () if node.scale is None else (node.scale,)
        for name, slots in {"scale": scale, **node.slots, "weight": node.weights or ()}.items():
            for index, slot in enumerate(slots):
                names.setdefault(slot, f"{kind} {seen[kind]} {name} {index}")
    return [names[slot] for slot in range(len(layout))]


def _nodes(node: Node) -> Iterator[Node]:
    """The node and all below it, from left to right."""
    yield node
    for operand in node.operands:
        yield from _nodes(operand)
