from itertools import pairwise

import numpy as np
import pytest

from vbks.errors import DataError
from vbks.inference.bounds.conjugate_gradients import conjugate_gradients
from vbks.inference.bounds.covariance import ExpressionCovariance
from vbks.inference.bounds.preconditioners import (
    clusters,
    factorise,
    inducing_part,
    preconditioner_of,
)
from vbks.kernels.layout import lay_out

JITTER = 1e-6
NUM_ROWS, NUM_INDUCING = 90, 9


@pytest.fixture
def part():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(NUM_ROWS, 1))
    theta = lay_out("SE * PER + LIN").prior_mean
    noise = 10.0 ** rng.uniform(-2, 0, size=NUM_ROWS)
    covariance = ExpressionCovariance("SE * PER + LIN", theta)
    return inducing_part(covariance, X, noise, X[:NUM_INDUCING], JITTER)


def dense(part):
    """K and Q by matrix inversion."""
    K = part.covariance.matrix(part.X, part.X).numpy()
    Kuf = K[:NUM_INDUCING]
    Kuu = K[:NUM_INDUCING, :NUM_INDUCING] + JITTER * np.eye(NUM_INDUCING)
    return K, Kuf.T @ np.linalg.inv(Kuu) @ Kuf


def dense_preconditioner(part, name):
    K, Q = dense(part)
    if name == "nystrom":
        kept = np.zeros_like(K, bool)
    elif name == "fic":
        kept = np.eye(len(K), dtype=bool)
    else:
        kept = np.zeros_like(K, bool)
        for rows in clusters(part.X, 32):
            kept[np.ix_(rows, rows)] = True
    return Q + np.where(kept, K - Q, 0.0) + np.diag(part.noise)


@pytest.mark.parametrize("name", ["nystrom", "fic", "pic"])
def test_preconditioner__equals_the_dense_inverse(part, name):
    P = dense_preconditioner(part, name)
    v = np.random.default_rng(1).normal(size=NUM_ROWS)
    low_rank = getattr(part, name)
    expected = np.linalg.solve(P, v)
    np.testing.assert_allclose(low_rank.solve(v), expected, atol=1e-8)
    np.testing.assert_allclose(preconditioner_of(part, name)(v), expected, atol=1e-8)
    np.testing.assert_allclose(low_rank.quadratic(v), v @ expected, rtol=1e-10)
    np.testing.assert_allclose(low_rank.log_det, np.linalg.slogdet(P)[1], rtol=1e-10)


def test_without_a_name__residuals_are_directions(part):
    v = np.ones(3)
    same = preconditioner_of(part, None)(v)
    np.testing.assert_array_equal(same, v)
    assert same is not v


def test_unexplained__is_the_diagonal_of_the_difference(part):
    K, Q = dense(part)
    np.testing.assert_allclose(part.unexplained, np.diag(K - Q), atol=1e-9)
    assert np.all(part.unexplained >= 0.0)


def test_preconditioners__lead_to_the_solution_and_nystrom_saves_steps(part):
    K, _ = dense(part)
    C, y = K + np.diag(part.noise), np.sin(3 * part.X[:, 0])
    steps = {}
    for name in ("nystrom", "fic", "pic", None):
        alpha, steps[name] = conjugate_gradients(
            lambda v: C @ v,
            y,
            preconditioner_of(part, name),
            lambda r: 0.5 * r @ np.linalg.solve(C, r),
            1e-8,
            500,
        )
        np.testing.assert_allclose(alpha, np.linalg.solve(C, y), atol=1e-2)
    assert max(steps.values()) < 100
    assert steps["nystrom"] < steps[None]


def test_conjugate_gradients__need_as_many_steps_as_there_are_eigenvalues():
    rng = np.random.default_rng(2)
    basis, _ = np.linalg.qr(rng.normal(size=(20, 20)))
    C = basis @ np.diag(np.repeat([1.0, 2.0, 5.0, 9.0], 5)) @ basis.T
    y = rng.normal(size=20)
    alpha, steps = conjugate_gradients(lambda v: C @ v, y, np.copy, np.linalg.norm, 1e-10, 50)
    assert steps == 4
    np.testing.assert_allclose(C @ alpha, y, atol=1e-9)


def test_conjugate_gradients__end_at_once_without_a_target_or_with_products_that_fail():
    zero, one = np.zeros(4), np.ones(4)
    for y, product in ((zero, np.copy), (one, lambda v: v * np.nan), (one, lambda v: 0.0 * v)):
        alpha, steps = conjugate_gradients(product, y, np.copy, np.linalg.norm, 0.0, 10)
        assert steps == 0
        np.testing.assert_array_equal(alpha, zero)


@pytest.mark.parametrize("num_inputs", [1, 3])
@pytest.mark.parametrize("size", [1, 10, 32, 1000])
def test_clusters__are_all_rows_once_in_groups_of_about_one_size(num_inputs, size):
    X = np.random.default_rng(3).normal(size=(100, num_inputs))
    groups = clusters(X, size)
    assert sorted(np.concatenate(groups)) == list(range(100))
    sizes = [len(rows) for rows in groups]
    assert max(sizes) - min(sizes) <= 1
    assert len(groups) == max(1, round(100 / size))


def test_clusters__lie_together():
    X = np.random.default_rng(4).normal(size=(60, 1))
    groups = sorted(clusters(X, 10), key=lambda rows: X[rows].min())
    for left, right in pairwise(groups):
        assert X[left].max() <= X[right].min()


def test_factorise__adds_jitter_until_there_is_a_factor():
    singular = np.ones((5, 5))
    L = factorise(singular, 0.0)
    np.testing.assert_allclose(L @ L.T, singular, atol=1e-6)
    np.testing.assert_allclose(np.diag(factorise(np.eye(3), 0.1)), np.sqrt(1.1))
    with pytest.raises(DataError, match=r"not positive definite even with 0\.01"):
        factorise(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.0)
    with pytest.raises(DataError, match="not finite"):
        factorise(np.array([[np.nan]]), 0.0)
