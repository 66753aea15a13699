"""Tests of distances between kernels, with integrals and double loops."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from vbks.arrays import Array
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.search.strategies.hellinger import (
    HellingerDistances,
    log_determinants,
    squared_hellinger,
)

NAMES = ("SE", "PER", "LIN", "RQ", "SE + PER", "SE * LIN")
EXPRESSIONS = [parse(name) for name in NAMES]


def covariances(*shape: int, n: int = 4, seed: int = 0) -> Array:
    roots = np.random.default_rng(seed).normal(size=(*shape, n, n))
    return np.asarray(roots @ np.swapaxes(roots, -1, -2) + 0.1 * np.eye(n))


def make_grams(expressions: Sequence[Expression]) -> Array:
    """Of each expression its own, whatever else is in the list."""
    seeds = [[*str(expression).encode()] for expression in expressions]
    return np.stack([covariances(3, seed=seed) for seed in seeds])  # type: ignore[arg-type]


def between(A: Array, B: Array) -> Array:
    """Squared distances between pairs of covariances [..., n, n]."""
    return squared_hellinger(*map(log_determinants, (A, B, 0.5 * (A + B))))


def twin(A: Array, B: Array) -> float:
    """The formula as it is written."""
    root = (np.linalg.det(A) * np.linalg.det(B)) ** 0.25
    return float(1.0 - root / np.sqrt(np.linalg.det((A + B) / 2)))


class Counted:
    """Grams that remember what they were asked for."""

    def __init__(self) -> None:
        self.asked: list[Expression] = []

    def __call__(self, expressions: Sequence[Expression]) -> Array:
        self.asked += expressions
        return make_grams(expressions)


@pytest.mark.parametrize("a, b", [(1.0, 1.0), (1.0, 2.5), (0.03, 7.0)])
def test_squared_hellinger__is_the_integral_in_one_dimension(a: float, b: float) -> None:
    def integrand(x: float) -> float:
        root = np.sqrt(norm.pdf(x, scale=a**0.5)) - np.sqrt(norm.pdf(x, scale=b**0.5))
        return float(0.5 * root**2)

    expected, _ = quad(integrand, -30, 30, points=[0.0], limit=200)
    (found,) = between(np.array([[[a]]]), np.array([[[b]]]))
    assert found == pytest.approx(expected, abs=1e-8)


def test_squared_hellinger__is_that_of_its_twin() -> None:
    A, B = covariances(2, 5), covariances(2, 5, seed=1)
    expected = [[twin(A[i, j], B[i, j]) for j in range(5)] for i in range(2)]
    np.testing.assert_allclose(between(A, B), expected, atol=1e-10)


def test_squared_hellinger__is_a_distance_from_zero_to_one() -> None:
    A, B = covariances(20), 10.0 ** np.arange(-10, 10)[:, None, None] * covariances(20, seed=1)
    np.testing.assert_allclose(between(A, A), 0.0, atol=1e-12)
    np.testing.assert_allclose(between(A, B), between(B, A), atol=1e-12)
    assert np.all((between(A, B) >= 0.0) & (between(A, B) <= 1.0))
    assert between(A, B).max() > 0.99


def test_squared_hellinger__is_one_where_there_is_no_covariance() -> None:
    A, B = covariances(3), covariances(3)
    B[0] = np.nan
    B[1, 0, 0] = -1.0
    np.testing.assert_array_equal(between(A, B)[:2], 1.0)
    assert between(A, B)[2] == pytest.approx(0.0, abs=1e-12)


def test_distances__are_means_over_samples() -> None:
    distances = HellingerDistances(make_grams)
    distances.keep(EXPRESSIONS)
    found = distances(EXPRESSIONS[:2], EXPRESSIONS)
    grams = make_grams(EXPRESSIONS)
    for i in range(2):
        for j in range(len(EXPRESSIONS)):
            expected = np.mean([twin(grams[i, s], grams[j, s]) for s in range(3)])
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_distances__make_a_covariance() -> None:
    distances = HellingerDistances(make_grams)
    distances.keep(EXPRESSIONS)
    squared = distances(EXPRESSIONS, EXPRESSIONS)
    np.testing.assert_array_equal(squared, squared.T)
    np.testing.assert_array_equal(np.diag(squared), 0.0)
    for lengthscale in (0.1, 0.5, 3.0):
        assert np.linalg.eigvalsh(np.exp(-0.5 * squared / lengthscale**2)).min() > -1e-9


def test_distances__do_not_depend_on_the_way_they_were_computed() -> None:
    at_once, later = HellingerDistances(make_grams), HellingerDistances(make_grams)
    at_once.keep(EXPRESSIONS)
    later.keep(EXPRESSIONS[3:])
    later(EXPRESSIONS[3:], EXPRESSIONS[3:])
    later.keep(EXPRESSIONS[::-1])
    np.testing.assert_array_equal(
        at_once(EXPRESSIONS, EXPRESSIONS), later(EXPRESSIONS, EXPRESSIONS)
    )


def test_distances__ask_for_matrices_once_while_they_are_kept() -> None:
    grams = Counted()
    distances = HellingerDistances(grams)
    for _ in range(2):
        distances.keep([*EXPRESSIONS, *EXPRESSIONS])
    assert grams.asked == EXPRESSIONS
    distances.keep(EXPRESSIONS[:1])
    distances.keep(EXPRESSIONS[:2])
    assert grams.asked == [*EXPRESSIONS, EXPRESSIONS[1]]


def test_distances__of_many_pairs_are_computed_piece_by_piece() -> None:
    many = [parse(" + ".join(["SE"] * n)) for n in range(1, 26)]
    at_once, piece_by_piece = HellingerDistances(make_grams), HellingerDistances(make_grams, 7)
    for distances in (at_once, piece_by_piece):
        distances.keep(many)
    np.testing.assert_array_equal(piece_by_piece(many, many), at_once(many, many))
