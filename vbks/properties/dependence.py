"""Which inputs matter, and which of them act together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vbks.arrays import Array, Rows
from vbks.parts.posteriors import part_means
from vbks.properties.members import Beliefs
from vbks.properties.results import Dependence
from vbks.properties.telling import told_input, told_pair

LEAST_SHARE = 0.01
"""An input, or a pair, matters if it makes up at least this share of the variance of the target."""

ROWS = 100
"""Shares are those of this many rows, each beside one in which inputs are those of another row."""

PAIR_ROWS = 60
"""Shares of pairs are those of this many rows."""

MOST_PAIRED = 8
"""Pairs are looked at among this many inputs, those with the largest shares."""

LEAST_PROBABILITY = 0.02
"""Pairs that act together with a smaller probability are not told."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the variance [R, Q] of Q inputs or pairs at R components of weights [R]."""

    values: Array
    weights: Array

    @property
    def probabilities(self) -> Array:
        """The belief in functions that depend on each: [Q]."""
        return np.asarray(np.minimum(self.weights @ (self.values >= LEAST_SHARE), 1.0))

    @property
    def means(self) -> Array:
        """The mean share of each: [Q]."""
        return np.asarray(np.minimum(self.weights @ self.values / self.weights.sum(), 1.0))


def inputs_of(beliefs: Beliefs, spread: float) -> tuple[Dependence, ...]:
    """How the target depends on each input, ``spread`` being the standardised targets' deviation.

    The share of an input is Sobol's total index: half the mean squared difference that it makes to
    take the input from another row.
    """
    found = _input_shares(beliefs, spread)
    probabilities, means = found.probabilities, found.means
    return tuple(
        Dependence(
            name=f"dependence on {beliefs.axes.name(dim + 1)}",
            probability=float(probabilities[dim]),
            sentence=told_input(
                float(probabilities[dim]), float(means[dim]), beliefs.axes, dim + 1
            ),
            inputs=(beliefs.axes.name(dim + 1),),
            share=float(means[dim]),
        )
        for dim in range(beliefs.num_inputs)
    )


def pairs_of(
    beliefs: Beliefs, spread: float, inputs: Sequence[Dependence]
) -> tuple[Dependence, ...]:
    """Which two inputs act together: what both do is not the sum of what each does.

    The share is the total index of their interaction, a quarter of the mean squared second
    difference that it makes to take one, the other and both from another row.
    """
    order = sorted(range(len(inputs)), key=lambda dim: -inputs[dim].share)
    kept = sorted(dim for dim in order[:MOST_PAIRED] if inputs[dim].probability > 0.0)
    pairs = list(combinations(kept, 2))
    if not pairs:
        return ()
    found = _pair_shares(beliefs, spread, pairs)
    told = [
        Dependence(
            name=f"{beliefs.axes.name(i + 1)} and {beliefs.axes.name(j + 1)} together",
            probability=float(probability),
            sentence=told_pair(float(probability), float(mean), beliefs.axes, (i + 1, j + 1)),
            inputs=(beliefs.axes.name(i + 1), beliefs.axes.name(j + 1)),
            share=float(mean),
        )
        for (i, j), probability, mean in zip(pairs, found.probabilities, found.means, strict=True)
        if probability >= LEAST_PROBABILITY
    ]
    return tuple(sorted(told, key=lambda own: -own.probability))


def _input_shares(beliefs: Beliefs, spread: float) -> Shares:
    X, other = _rows(beliefs, ROWS)
    changed = [_with(X, other, (dim,)) for dim in range(beliefs.num_inputs)]
    values = []
    for f, weights in _functions(beliefs, np.concatenate([X, *changed])):
        own, *others = np.split(f, 1 + len(changed), axis=1)
        squares = [np.mean((own - theirs) ** 2, axis=1) for theirs in others]
        values.append((0.5 * np.stack(squares, axis=1) / spread**2, weights))
    return _together(values)


def _pair_shares(beliefs: Beliefs, spread: float, pairs: Sequence[tuple[int, int]]) -> Shares:
    X, other = _rows(beliefs, PAIR_ROWS)
    singles = sorted({dim for pair in pairs for dim in pair})
    blocks = [_with(X, other, (dim,)) for dim in singles]
    blocks += [_with(X, other, pair) for pair in pairs]
    values = []
    for f, weights in _functions(beliefs, np.concatenate([X, *blocks])):
        own, *parts = np.split(f, 1 + len(blocks), axis=1)
        alone = dict(zip(singles, parts, strict=False))
        both = parts[len(singles) :]
        seconds = [
            own - alone[i] - alone[j] + joint for (i, j), joint in zip(pairs, both, strict=True)
        ]
        squares = [np.mean(second**2, axis=1) for second in seconds]
        values.append((0.25 * np.stack(squares, axis=1) / spread**2, weights))
    return _together(values)


def _rows(beliefs: Beliefs, num: int) -> tuple[Array, Array]:
    """Rows of the data, and for each another one: [n, D] both, in the user's units."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(beliefs.X))[:num]
    return beliefs.X[order], beliefs.X[_shifted(order, rng)]


def _shifted(order: Rows, rng: np.random.Generator) -> Rows:
    """Another row for each: the next one in random order."""
    places = rng.permutation(len(order))
    found = np.empty_like(order)
    found[places] = order[np.roll(places, 1)]
    return found


def _with(X: Array, other: Array, dims: Sequence[int]) -> Array:
    """Rows with some inputs of others."""
    found = X.copy()
    found[:, list(dims)] = other[:, list(dims)]
    return found


def _functions(beliefs: Beliefs, X: Array) -> Iterator[tuple[Array, Array]]:
    """Posterior means of whole functions [S, N] in standardised units, with weights [S]."""
    for member in beliefs:
        every = [list(range(len(member.terms)))]
        standardised = member.units.standardise_inputs(X)
        for source in member.sources:
            if member.terms:
                yield part_means(source, every, standardised)[:, 0], source.weights
            else:
                yield np.zeros((len(source.weights), len(X))), source.weights


def _together(values: Sequence[tuple[Array, Array]]) -> Shares:
    return Shares(
        np.concatenate([own for own, _ in values]), np.concatenate([own for _, own in values])
    )
