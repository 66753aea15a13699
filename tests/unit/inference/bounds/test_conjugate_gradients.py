"""Tests of conjugate gradients, beside a direct solution."""

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.inference.bounds.conjugate_gradients import conjugate_gradients

N = 12


@pytest.fixture
def system() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(N, N))
    return root @ root.T + 0.5 * np.eye(N), rng.normal(size=N)


def size(residual: Array) -> float:
    return float(np.linalg.norm(residual))


def test_solution__is_the_direct_one_after_as_many_steps_as_rows(
    system: tuple[Array, Array],
) -> None:
    C, y = system
    alpha, steps = conjugate_gradients(lambda a: C @ a, y, np.copy, size, 1e-10, 4 * N)
    np.testing.assert_allclose(alpha, np.linalg.solve(C, y), rtol=1e-8)
    assert steps <= N + 3


def test_steps__are_few_with_a_good_preconditioner(system: tuple[Array, Array]) -> None:
    C, y = system
    exact = np.linalg.inv(C)
    alpha, steps = conjugate_gradients(lambda a: C @ a, y, lambda r: exact @ r, size, 1e-9, N)
    assert steps == 1
    np.testing.assert_allclose(alpha, exact @ y, rtol=1e-8)


def test_steps__end_where_little_is_left_to_gain(system: tuple[Array, Array]) -> None:
    C, y = system
    counts = [
        conjugate_gradients(lambda a: C @ a, y, np.copy, size, tolerance, 4 * N)[1]
        for tolerance in (np.inf, 1.0, 1e-3, 1e-8)
    ]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]
    assert conjugate_gradients(lambda a: C @ a, y, np.copy, size, 0.0, 2)[1] == 2


def test_steps__end_where_a_product_is_not_finite(system: tuple[Array, Array]) -> None:
    _, y = system
    alpha, steps = conjugate_gradients(lambda a: a * np.nan, y, np.copy, size, 1e-9, N)
    assert steps == 0
    np.testing.assert_array_equal(alpha, 0.0)
