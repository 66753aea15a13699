"""Tests of the samples that ascents on the bound of the VBKS layer take."""

import numpy as np
import pytest

from vbks.weights.layer_ascent import samples
from vbks.weights.layer_objective import Objective
from vbks.weights.policy import LayerPolicy

POLICY = LayerPolicy()


def prior_of(size, sd=1.0):
    return Objective(np.zeros(size), np.zeros(size), np.full(size, sd))


@pytest.mark.parametrize(("size", "sd"), [(1, 1.0), (5, 1.0), (5, 1e3), (200, 1.0), (1030, 3.0)])
def test_samples__have_mean_zero_and_unit_covariance(size, sd):
    eta = samples(prior_of(size, sd), 0, "ascent")
    np.testing.assert_allclose(eta.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(eta.T @ eta / len(eta), np.eye(size), atol=1e-10)


def test_samples__are_more_for_wider_priors_of_few_candidates():
    def num(size, sd):
        return len(samples(prior_of(size, sd), 0, "ascent"))

    assert num(3, 0.1) == num(3, POLICY.resolved_sd) == num(300, 1e3) == 2 * POLICY.pairs
    assert num(3, 2 * POLICY.resolved_sd) == 8 * POLICY.pairs
    assert num(3, POLICY.widest_sd) == num(3, 1e6) == 32 * POLICY.pairs


def test_samples__differ_by_seed_and_purpose():
    first, same = (samples(prior_of(3), 0, "ascent") for _ in range(2))
    np.testing.assert_array_equal(first, same)
    assert np.abs(first - samples(prior_of(3), 1, "ascent")).max() > 0.1
    assert np.abs(first - samples(prior_of(3), 0, "report")).max() > 0.1
