import gpflow
import numpy as np
import pytest

from vbks.inference.likelihoods.levels import level_of, scale_of
from vbks.inference.likelihoods.registry import make_likelihood

RNG = np.random.default_rng(0)
Y = RNG.standard_t(3, 500)


@pytest.mark.parametrize(("stretch", "shift"), [(1e3, 5e3), (1e-3, -2.0)])
def test_level_and_scale__are_in_the_units_of_the_targets(stretch, shift):
    likelihood = make_likelihood("student_t")
    scale, moved = scale_of(likelihood, Y), scale_of(likelihood, shift + stretch * Y)
    np.testing.assert_allclose(moved, stretch * scale, rtol=1e-10)
    level = level_of(likelihood, Y, scale)
    found = level_of(likelihood, shift + stretch * Y, moved)
    np.testing.assert_allclose((found - shift) / stretch, level, atol=1e-4 * scale)
    assert abs(level - np.median(Y)) < 0.1 * scale


def test_scale__does_not_count_how_far_outliers_are():
    likelihood, far = make_likelihood("student_t"), Y.copy()
    far[:10] = 1e6
    np.testing.assert_allclose(scale_of(likelihood, far), scale_of(likelihood, Y), rtol=0.1)


@pytest.mark.parametrize("name", ["poisson", "gamma", "gaussian"])
def test_scale__of_a_function_with_a_link_is_one(name):
    assert scale_of(make_likelihood(name), 1000 + np.arange(9.0)) == 1.0


def test_scale__of_equal_targets_is_one():
    assert scale_of(make_likelihood("student_t"), np.full(9, 3.0)) == 1.0


def test_level__of_counts_is_the_logarithm_of_their_mean():
    y = RNG.poisson(7.0, 200).astype(float)
    level = level_of(make_likelihood(gpflow.likelihoods.Poisson()), y)
    np.testing.assert_allclose(np.exp(level), y.mean(), rtol=1e-3)
