"""Where the inducing inputs of a fit lie: rows of the data, the same for all candidates.

With one input they are spread over the ranks of the data, shaken so that they do not fall in step
with a period, and some are consecutive rows, so that short periods can be seen. With several inputs
each is the row that the ones before say least about, Burt, Rasmussen and van der Wilk (2020); where
the bound is tight enough to compare candidates this leaves less variance than the choice of
k-means++.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Rows
from vbks.errors import DataError

LEAST_VARIANCE = 1e-8
"""Below this variance the chosen rows determine a row: the jitter of the bound hides the rest, so
that it is a numerical constant."""


@dataclass(frozen=True)
class InducingPolicy:
    """What trades time for quality in the choice of inducing inputs."""

    block_share: float = 1 / 16
    """This share of the points are consecutive rows. The VBKS authors took half of 800, but a point
    of the block is missing from the spread: with 50 to 200 points on 1,500 and 4,000 rows, and
    kernels with periods of 4 to 170 rows, bounds with a sixteenth were the best or close to it, and
    with a half up to hundreds of times further from the evidence."""

    block_start: float = 0.4
    """The block begins after this share of the rows, where the VBKS authors begin theirs."""

    shake: float = 0.5
    """A spread point falls at random into this share of its segment of rows. Evenly spaced points
    all see the same phase of a period that divides their spacing, such as a day; points drawn from
    the whole segment leave gaps that cost short lengthscales more."""

    lengthscale: float = 0.25
    """The greedy choice has this lengthscale on standardised inputs, times √D as distances grow
    with it: a shorter one chooses like chance, and one of a half runs out of variance at 300 points
    in 2-D."""

    pool: int = 5000
    """The greedy choice is among this many rows, drawn at random: 1,000 of them are chosen within
    two seconds, and a million rows would take minutes."""


DEFAULT = InducingPolicy()
"""The policy where none is given."""


def choose_inducing(
    X: Array, num: int, rng: np.random.Generator, policy: InducingPolicy = DEFAULT
) -> Array:
    """Inducing inputs Z [M, D] among the standardised rows X [n, D], no two of them the same.

    M is ``num``, or the number of distinct rows where that is less: then Z is all of them, and the
    bound exact. One input gives them in ascending order. The block has the spacing of X, so a
    sample of longer data should be a piece of it where short periods matter.
    """
    if num < 1:
        raise DataError(f"at least 1 inducing point is needed, {num} given.")
    distinct = np.unique(X, axis=0)
    if num >= len(distinct):
        return distinct
    if X.shape[1] == 1:
        return np.asarray(distinct[_ranks(len(distinct), num, rng, policy)])
    return _greedy_inducing(distinct, num, rng, policy)


def authors_inducing(
    X: Array, num: int, rng: np.random.Generator, policy: InducingPolicy = DEFAULT
) -> Array:
    """Inducing inputs Z [M, D] as the authors of VBKS choose them, no two of them the same.

    With one input, half are evenly spaced in rank and half are consecutive rows from 40 % of them
    on, so that short periods can be seen. With several, they are rows at random.
    """
    if num < 1:
        raise DataError(f"at least 1 inducing point is needed, {num} given.")
    distinct = np.unique(X, axis=0)
    if num >= len(distinct):
        return distinct
    if X.shape[1] > 1:
        return np.asarray(rng.permutation(distinct)[:num])
    start = int(policy.block_start * len(distinct))
    block = np.arange(start, min(start + num // 2, len(distinct)))
    outside = np.setdiff1d(np.arange(len(distinct)), block)
    even = np.linspace(0, len(outside) - 1, num - len(block)).round().astype(np.intp)
    return np.asarray(distinct[np.union1d(outside[even], block)])


def greedy_rows(X: Array, num: int, policy: InducingPolicy = DEFAULT) -> Rows:
    """The rows that leave least variance, one after the other: [m], m ≤ num.

    Each is the row of largest variance given those before, under an SE kernel: the next pivot of an
    incomplete Cholesky factor, O(n m²). A row equal to a chosen one has variance 0 and is never
    chosen; the choice ends early when the chosen rows determine all others.
    """
    variance = np.ones(len(X))
    factor = np.empty((num, len(X)))
    chosen: list[int] = []
    while len(chosen) < num:
        pivot = int(np.argmax(variance))
        if variance[pivot] < LEAST_VARIANCE:
            break
        known = factor[: len(chosen)]
        column = _covariance(X, X[pivot], policy.lengthscale) - known[:, pivot] @ known
        factor[len(chosen)] = column / math.sqrt(variance[pivot])
        variance -= factor[len(chosen)] ** 2
        chosen.append(pivot)
    return np.array(chosen, dtype=np.intp)


def _covariance(X: Array, x: Array, share: float) -> Array:
    """SE kernel of variance 1 between rows X [n, D] and one row x [D]: [n]."""
    lengthscale = share * math.sqrt(X.shape[1])
    return np.asarray(np.exp(-0.5 * np.sum(((X - x) / lengthscale) ** 2, axis=1)))


def _greedy_inducing(
    distinct: Array, num: int, rng: np.random.Generator, policy: InducingPolicy
) -> Array:
    """Greedy rows first, then rows at random where the chosen ones determine all others."""
    pool = rng.permutation(distinct)[: max(policy.pool, num)]
    chosen = greedy_rows(pool, num, policy)
    others = np.delete(pool, chosen, axis=0)
    return np.concatenate([pool[chosen], others[: num - len(chosen)]])


def _ranks(size: int, num: int, rng: np.random.Generator, policy: InducingPolicy) -> Rows:
    """Ranks of ``num`` of ``size`` sorted rows: a block of neighbours, and the others spread."""
    start = int(policy.block_start * size)
    block = np.arange(start, start + int(policy.block_share * num))
    outside = np.setdiff1d(np.arange(size), block)
    return np.union1d(outside[_spread(len(outside), num - len(block), rng, policy.shake)], block)


def _spread(size: int, num: int, rng: np.random.Generator, shake: float) -> Rows:
    """Places among ``size``: both ends and one place in each of num − 2 equal segments between."""
    if num == 1:
        return np.array([size // 2])
    edges = 1 + np.arange(num - 1) * (size - 2) // max(num - 2, 1)
    share = 0.5 + shake * rng.uniform(-0.5, 0.5, size=num - 2)
    inner = edges[:-1] + np.floor(share * np.diff(edges)).astype(np.intp)
    return np.concatenate([[0], inner, [size - 1]])
