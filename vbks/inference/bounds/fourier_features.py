"""Random Fourier features of an expression: Φ with E[ΦΦᵀ] = K (SKC, appendices M to P).

An expression is a sum of terms, each a product of stationary leaves and of functions that enter as
a(x) a(x'): lines, and parts of changes. A stationary leaf is the mean of cos v(x−x') over its
frequencies v, and frequencies of a product add up; functions multiply features as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as cartesian
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from vbks.arrays import Array, Rows
from vbks.errors import DataError, GrammarError
from vbks.grammar.expression import Expression, Leaf, leaves
from vbks.grammar.parser import parse
from vbks.inference.bounds.covariance import ExpressionCovariance, as_array, as_inputs
from vbks.kernels.bank.terms import RankOne, Term, family_at, terms_of
from vbks.kernels.family import Family
from vbks.kernels.layout import Node, lay_out
from vbks.kernels.registry import family_of, registered_families

NUM_DRAWS = 20
"""Draws of the stochastic bound: its standard error is then a fifth of what draws differ by."""

EXACT = ("constant", "rank one", "noise")
"""Evaluation paths of the families whose features are known, white noise having none."""


class Estimate(NamedTuple):
    """A mean over random draws and its standard error."""

    mean: float
    standard_error: float


def fourier_features(
    expression: Expression | str,
    theta: Array,
    X: Array,
    num_features: int,
    seed: int | np.random.Generator = 0,
    *,
    ard: bool = True,
) -> Array:
    """A draw of random Fourier features of an expression at θ [H] for rows X [N, D]: [N, m].

    m is ``num_features``, or the number of terms where all of them are lines and constants, whose
    features are exact. Noise is left out, as it is from the kernel of a bank.
    """
    return FeatureSampler(expression, theta, X, ard=ard).draw(
        num_features, np.random.default_rng(seed)
    )


def stochastic_log_det(
    expression: Expression | str,
    theta: Array,
    X: Array,
    num_features: int,
    seed: int | np.random.Generator = 0,
    *,
    num_draws: int = NUM_DRAWS,
    ard: bool = True,
) -> Estimate:
    """The mean of −½ log det(ΦΦᵀ + noise) over draws, in O(N m²) each.

    Its expectation is at least −½ log det(K + noise), as −log det is convex (SKC, appendix P).
    """
    if num_draws < 2:
        raise DataError(f"a standard error needs at least 2 draws, {num_draws} given.")
    rng = np.random.default_rng(seed)
    sampler = FeatureSampler(expression, theta, X, ard=ard)
    covariance = ExpressionCovariance(expression, theta, X.shape[1], ard=ard)
    noise = as_array(covariance.noise(as_inputs(X)))
    values = [-0.5 * _log_det(sampler.draw(num_features, rng), noise) for _ in range(num_draws)]
    return Estimate(float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(num_draws)))


class FeatureSampler:
    """Draws of features of one expression at θ [H] for the same rows X [N, D]."""

    def __init__(
        self, expression: Expression | str, theta: Array, X: Array, *, ard: bool = True
    ) -> None:
        self.expression = parse(expression)
        self._num_rows = len(X)
        _check_has_features(self.expression)
        layout = lay_out(self.expression, X.shape[1], ard)
        theta = np.asarray(theta, np.float64)
        if theta.shape != (len(layout),):
            raise DataError(
                f"θ of '{expression}' on {X.shape[1]} inputs has shape ({len(layout)},), got "
                f"{theta.shape}."
            )
        self._terms = tuple(
            _FeatureTerm(X, theta, _envelope(term, theta, X), _stationary(term))
            for whole in terms_of(layout)
            if not whole.by_path("noise")
            for term in _with_lines(whole)
        )
        self._weights = np.array([t.variance if t.is_random else 0.0 for t in self._terms])

    def draw(self, num_features: int, rng: np.random.Generator) -> Array:
        """Features of all terms beside each other: [N, m]."""
        counts = self._counts(num_features)
        parts = [term.draw(count, rng) for term, count in zip(self._terms, counts, strict=True)]
        return np.concatenate([np.empty((self._num_rows, 0)), *parts], axis=1)

    def _counts(self, num_features: int) -> Rows:
        """Features for each term: one, and more for random ones, in proportion to variances."""
        num_terms = len(self._terms)
        if num_features < num_terms:
            raise DataError(
                f"'{self.expression}' has {num_terms} terms and needs a feature for each, "
                f"{num_features} given. Give more features."
            )
        counts = np.ones(num_terms, np.intp)
        if self._weights.any():
            shares = np.cumsum(self._weights) / self._weights.sum()
            ends = np.rint((num_features - num_terms) * shares)
            counts += np.diff(ends, prepend=0.0).astype(np.intp)
        return counts


@dataclass(frozen=True, eq=False)
class _FeatureTerm:
    """A term at rows X: a function of its own at the rows [N] times stationary leaves."""

    X: Array
    theta: Array
    envelope: Array
    leaves: tuple[Node, ...]

    @property
    def is_random(self) -> bool:
        return bool(self.leaves)

    @property
    def variance(self) -> float:
        """The mean of the term's kernel over rows."""
        return float(np.mean(np.square(self.envelope)))

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Features √(2/m) a(x) cos(vᵀx + b), or a(x) itself where there are no leaves: [N, m]."""
        if not self.is_random:
            return self.envelope[:, np.newaxis]
        frequencies = np.zeros((count, self.X.shape[1]))
        for leaf in self.leaves:
            inputs = _inputs_of(leaf, self.X.shape[1])
            frequencies[:, inputs] += _frequencies(leaf, self.theta, len(inputs), count, rng)
        phases = rng.uniform(0.0, 2.0 * math.pi, size=count)
        waves = np.cos(self.X @ frequencies.T + phases)
        return np.asarray(math.sqrt(2.0 / count) * self.envelope[:, np.newaxis] * waves)


def _frequencies(
    leaf: Node, theta: Array, num_inputs: int, count: int, rng: np.random.Generator
) -> Array:
    """Frequencies of a stationary leaf on its own inputs: [m, d]."""
    family = family_at(leaf)
    assert family.draw_frequencies is not None
    values = {}
    for parameter in family.parameters:
        own = theta[list(leaf.slots[parameter.name])]
        values[parameter.name] = np.exp(own) if parameter.positive else own
    return family.draw_frequencies(rng, (count, num_inputs), **values)


def _inputs_of(leaf: Node, num_inputs: int) -> list[int]:
    assert isinstance(leaf.expression, Leaf)
    dim = leaf.expression.dim
    return list(range(num_inputs)) if dim is None else [dim - 1]


def _stationary(term: Term) -> tuple[Node, ...]:
    """The leaves of a term whose frequencies are drawn."""
    return tuple(leaf for leaf in term.leaves if family_at(leaf).draw_frequencies)


def _with_lines(term: Term) -> Iterator[Term]:
    """The terms that a term becomes when linear leaves on many inputs are written as lines."""
    sums = [
        [RankOne("line", dim, (slot,)) for dim, slot in enumerate(leaf.slots["location"])]
        for leaf in term.by_path("rank one")
    ]
    for lines in cartesian(*sums):
        yield term * Term(rank_ones=lines)


def _envelope(term: Term, theta: Array, X: Array) -> Array:
    """√scale times the functions of a term at rows X: [N]."""
    log_scale = sum(theta[slot] for slot in term.scales)
    share = math.prod(_share(theta, slots, place) for slots, place in term.shares)
    functions = [_rank_one(rank_one, theta, X[:, rank_one.dim]) for rank_one in term.rank_ones]
    scale = np.full(len(X), math.sqrt(math.exp(log_scale) * share))
    return np.asarray(math.prod(functions, start=scale))


def _share(theta: Array, slots: tuple[int, ...], place: int) -> float:
    return float(softmax([*theta[list(slots)], 0.0])[place])


def _rank_one(rank_one: RankOne, theta: Array, x: Array) -> Array:
    """A function of one input that enters a kernel as a(x) a(x'): [N]."""
    distance = x - theta[rank_one.slots[0]]
    if rank_one.kind == "line":
        return np.asarray(distance)
    steepness = math.exp(theta[rank_one.slots[1]])
    if rank_one.kind in ("before", "after"):
        sign = 1.0 if rank_one.kind == "after" else -1.0
        return np.asarray(expit(sign * steepness * distance))
    half = 0.5 * math.exp(theta[rank_one.slots[2]])
    inside = expit(steepness * (half + distance)) * expit(steepness * (half - distance))
    return np.asarray(inside if rank_one.kind == "inside" else 1.0 - inside)


def _has_features(family: Family) -> bool:
    return family.draw_frequencies is not None or family.evaluation_path in EXACT


def _check_has_features(expression: Expression) -> None:
    for leaf in leaves(expression):
        if not _has_features(family_of(leaf.family)):
            known = [name for name in registered_families() if _has_features(family_of(name))]
            raise GrammarError(
                f"'{leaf}' in '{expression}' has no random Fourier features. Families that have: "
                f"{', '.join(known)}."
            )


def _log_det(features: Array, noise: Array) -> float:
    """log det(ΦΦᵀ + noise), by the smaller of ΦᵀΦ and ΦΦᵀ."""
    scaled = features / np.sqrt(noise)[:, np.newaxis]
    N, m = scaled.shape
    gram = scaled.T @ scaled if m <= N else scaled @ scaled.T
    _, log_det = np.linalg.slogdet(np.eye(len(gram)) + gram)
    return float(log_det + np.sum(np.log(noise)))
