"""Residuals of counts given a function: uniform where it is the true one."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from scipy.stats import kstest, norm, poisson
from support.selections import make_fit

from vbks.criticism.drawn_functions import quantile_residuals
from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.result import InducingPosterior
from vbks.selection.selection import Selection

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


def make_counts():
    """Counts, and a fit whose q(u) is that of the function they were drawn at."""
    x = np.arange(60.0)
    f = 1.0 + np.sin(x / 8)
    y = np.random.default_rng(0).poisson(np.exp(f)).astype(float)
    data = prepare((x, y), standardise_targets=False).with_level(1.0)
    X, _ = data.arrays()
    Z = X[::3]
    K = np.exp(-0.5 * (Z - Z.T) ** 2) + 1e-6 * np.eye(len(Z))
    mean = np.linalg.solve(np.linalg.cholesky(K), f[::3] - 1.0)
    q_u = InducingPosterior(mean, 1e-4 * np.eye(len(Z)))
    fit = replace(
        make_fit("SE", 60), bound="stochastic", inducing=Z, q_u=q_u, jitter=1e-6
    )  # fmt: skip
    return Selection((fit,), {Identity(): data}, likelihood=make_likelihood("poisson"))


def test_criticism__of_counts_is_about_residuals_given_a_function():
    selection = make_counts()
    found = selection.criticism(num_replicates=99)
    assert "given one function drawn" in found.about
    names = {check.check for check in found.checks}
    assert not names & {"repeats", "coverage"} and "periodogram" in names
    assert found.coverage == () and found.p_value > 0.01
    again = selection.criticism(num_replicates=99)
    assert again.verdict == found.verdict
