"""Residuals of counts given a function: uniform where it is the true one."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import kstest, norm, poisson

import vbks
from vbks.criticism.drawn_functions import quantile_residuals
from vbks.inference.likelihoods.registry import make_likelihood

N = 300


class SameUnits:
    """Functions as they are."""

    @staticmethod
    def restore_targets(f):
        return f


def part_of(parameter):
    return SimpleNamespace(
        units=SameUnits, kernels=SimpleNamespace(parameters=np.array([parameter]))
    )


def test_residuals_of_counts__lie_within_the_steps_of_the_distribution():
    f = np.log(np.linspace(0.5, 20.0, N))
    y = np.random.default_rng(0).poisson(np.exp(f)).astype(float)
    rng = np.random.default_rng(1)
    z = quantile_residuals(make_likelihood("poisson"), part_of(1.0), f, y, rng)
    u = norm.cdf(z)
    low, high = poisson.cdf(y - 1, np.exp(f)), poisson.cdf(y, np.exp(f))
    assert np.all((u > low - 0.06) & (u < high + 0.06))
    assert kstest(z, "norm").pvalue > 1e-3


def test_counts_that_are_not_the_models__have_other_residuals():
    f = np.full(N, np.log(5.0))
    y = np.random.default_rng(0).negative_binomial(1, 1 / 6, N).astype(float)
    rng = np.random.default_rng(1)
    z = quantile_residuals(make_likelihood("poisson"), part_of(1.0), f, y, rng)
    assert kstest(z, "norm").pvalue < 1e-6


@pytest.fixture(scope="module")
def selection():
    x = np.arange(60.0)
    y = np.random.default_rng(0).poisson(np.exp(1.0 + np.sin(x / 8)))
    return vbks.fit(
        x, y, space=["SE"], likelihood="poisson", restarts=1, progress=False, num_inducing=12,
        budget=vbks.Budget(candidates=1),
    )  # fmt: skip


def test_criticism__of_counts_is_about_residuals_given_a_function(selection):
    found = selection.criticism(num_replicates=99)
    assert "given one function drawn" in found.about
    names = {check.check for check in found.checks}
    assert not names & {"repeats", "coverage"} and "periodogram" in names
    assert found.coverage == () and found.p_value > 0.01
    again = selection.criticism(num_replicates=99)
    assert again.verdict == found.verdict
