"""How far apart kernels are: the Hellinger distance between the functions that they expect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from vbks.arrays import Array, Rows
from vbks.grammar.expression import Expression

Grams: TypeAlias = Callable[[Sequence[Expression]], Array]
"""Covariances [K, S, n, n] of noisy function values that K expressions have at the same inputs,
for S samples of θ; those of an expression do not depend on the others in the list."""

DECIMALS = 10
"""Distances are rounded to this many decimals, as later ones depend on what else was computed."""


def squared_hellinger(log_A: Array, log_B: Array, log_mean: Array) -> Array:
    """1 − |A|^¼ |B|^¼ / |(A + B)/2|^½, between N(0, A) and N(0, B), from logarithms of the three.

    It is from 0 to 1, and 1 where a matrix is no covariance.
    """
    affinity = np.exp(np.minimum(0.25 * (log_A + log_B) - 0.5 * log_mean, 0.0))
    return np.asarray(1.0 - np.nan_to_num(affinity, nan=0.0))


def log_determinants(matrices: Array) -> Array:
    """log|·|, not a number where a matrix is not positive definite for sure."""
    with np.errstate(invalid="ignore"):
        sign, log_det = np.linalg.slogdet(matrices)
    return np.where(sign > 0, log_det, np.nan)


class HellingerDistances:
    """Squared Hellinger distances between expressions in the mean over θ from their priors.

    Samples of θ are the same for all, so a distance is zero for equal kernels, and exp(−d²/2ℓ²) is
    a covariance: d² is the squared length of a difference, of the roots of all densities. Every
    distance is computed once, as long as both expressions are kept. Matrices of ``pairs_at_once``
    are worked on together: some tens of megabytes.
    """

    def __init__(self, grams: Grams, pairs_at_once: int = 256) -> None:
        self._make, self._pairs_at_once = grams, pairs_at_once
        self._places: dict[Expression, int] = {}
        self._grams: list[Array] = []
        self._log_dets: list[Array] = []
        self._known: Array = np.zeros((0, 0))

    def keep(self, expressions: Sequence[Expression]) -> None:
        """Have these at hand, and forget all others."""
        wanted = dict.fromkeys(expressions)
        old = [self._places[e] for e in wanted if e in self._places]
        new = [e for e in wanted if e not in self._places]
        fresh = list(self._make(new)) if new else []
        known = np.full((len(wanted), len(wanted)), np.nan)
        known[: len(old), : len(old)] = self._known[np.ix_(old, old)]
        np.fill_diagonal(known, 0.0)
        kept = [e for e in wanted if e in self._places]
        self._grams = [self._grams[place] for place in old] + fresh
        self._log_dets = [self._log_dets[place] for place in old]
        self._log_dets += [log_determinants(gram) for gram in fresh]
        self._known = known
        self._places = {e: place for place, e in enumerate([*kept, *new])}

    def __call__(self, rows: Sequence[Expression], columns: Sequence[Expression]) -> Array:
        """Distances [R, C] between expressions that are kept."""
        wanted = np.ix_([self._places[e] for e in rows], [self._places[e] for e in columns])
        places = np.stack(np.broadcast_arrays(*wanted), axis=-1)
        missing = np.sort(places[np.isnan(self._known[wanted])], axis=1)
        pairs = np.unique(missing, axis=0)
        for start in range(0, len(pairs), self._pairs_at_once):
            self._compute(pairs[start : start + self._pairs_at_once])
        return np.asarray(self._known[wanted])

    def _compute(self, pairs: Rows) -> None:
        """Fill in the distances of pairs of places [P, 2]."""
        first, second = pairs.T
        mean = np.stack([0.5 * (self._grams[i] + self._grams[j]) for i, j in pairs])
        log_dets = np.stack(self._log_dets)
        squared = squared_hellinger(log_dets[first], log_dets[second], log_determinants(mean))
        expected = np.round(squared.mean(axis=-1), DECIMALS)
        self._known[first, second] = self._known[second, first] = expected
