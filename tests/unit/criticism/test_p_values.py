"""Ranks among replicates, and the correction for several checks."""

import numpy as np
import pytest
from scipy.stats import kstest

from vbks.criticism.p_values import adjusted, extended, ranked


def test_ranks__are_shares_of_rows_that_are_as_large():
    statistics = np.array([[3.0], [1.0], [4.0], [2.0]])
    found = ranked(statistics, np.random.default_rng(0))
    np.testing.assert_allclose(found[:, 0], [0.5, 1.0, 0.25, 0.75])


def test_ties__are_broken_at_random():
    firsts = ranked(np.zeros((20, 300)), np.random.default_rng(0))[0]
    assert kstest(firsts - 1 / 40, "uniform").pvalue > 1e-3


def test_adjusted__counts_smallest_p_values_of_rows():
    p_values = np.array([[0.25, 0.75], [0.5, 0.25], [0.75, 0.5], [1.0, 1.0]])
    np.testing.assert_allclose(adjusted(p_values), [2 / 4, 3 / 4])


def test_adjusted__of_one_column_is_the_p_value():
    found = ranked(np.random.default_rng(0).normal(size=(50, 1)), np.random.default_rng(0))
    np.testing.assert_allclose(adjusted(found), found[0])


def test_extended__are_those_of_an_exponential_distribution_far_out():
    values = np.random.default_rng(0).exponential(size=(2000, 1))
    values[0] = 30.0
    found = extended(values, ranked(values, np.random.default_rng(0)))[:, 0]
    assert np.log10(found[0]) == pytest.approx(np.log10(np.exp(-30.0)), abs=3.0)
    inner = values[:, 0] < np.quantile(values, 0.9)
    np.testing.assert_allclose(found[inner], np.exp(-values[inner, 0]), atol=0.03)
    assert np.all(np.diff(found[np.argsort(values[:, 0])]) <= 0.0)


def test_extended__leaves_counts_with_ties_alone():
    values = np.array([[1.0]] * 30 + [[0.0]] * 70)
    ranks = ranked(values, np.random.default_rng(0))
    np.testing.assert_array_equal(extended(values, ranks), ranks)
