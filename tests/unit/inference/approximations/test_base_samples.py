"""Tests of points that stand for a standard normal distribution."""

import numpy as np
import pytest

from vbks.inference.approximations.base_samples import base_samples


@pytest.mark.parametrize("count", [2, 5, 8])
def test_samples__are_pairs_with_mean_squares_of_one(count: int) -> None:
    eta = base_samples(count, 6, seed=1)
    half = len(eta) // 2
    assert len(eta) == 2 * -(-count // 2)
    np.testing.assert_array_equal(eta[half:], -eta[:half])
    np.testing.assert_allclose(np.mean(eta**2, axis=0), 1.0, rtol=1e-12)


def test_samples__have_the_mean_of_functions_that_are_quadratic_in_each_number() -> None:
    eta = base_samples(8, 4, seed=3)
    a, b = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.3, 1.0, -0.7, 2.0])
    assert np.mean(2.0 + eta @ a + eta**2 @ b) == pytest.approx(2.0 + b.sum(), rel=1e-12)


def test_samples__follow_from_the_seed_and_a_single_one_is_the_mean() -> None:
    np.testing.assert_array_equal(base_samples(4, 3, 7), base_samples(4, 3, 7))
    assert not np.array_equal(base_samples(4, 3, 7), base_samples(4, 3, 8))
    np.testing.assert_array_equal(base_samples(1, 3, 7), np.zeros((1, 3)))
