from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from support.fits import BOUNDS, at_theta, covariances, make_data, make_fit, make_logs, with_modes

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.data.warps import Identity, Log
from vbks.errors import DataError
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.result import InducingPosterior, LocalFit
from vbks.predict.leave_one_out import leave_one_out
from vbks.predict.posteriors.samples import draw_components

DATA = {Identity(): make_data(), Log(): make_logs()}


def refitted(fit: LocalFit, data: TrainingData) -> Array:
    """Log densities [N] at θ, from a covariance without the row each time."""
    X, z = data.arrays()
    K, noise = covariances(fit, X)
    C = K + np.diag(noise)
    found = []
    for i in range(len(z)):
        rest = np.arange(len(z)) != i
        gain = np.linalg.solve(C[np.ix_(rest, rest)], C[rest, i])
        found.append(norm.logpdf(z[i], gain @ z[rest], np.sqrt(C[i, i] - gain @ C[rest, i])))
    return np.array(found) + data.units.log_slope(data.units.restore_targets(z))


@pytest.mark.parametrize("text", ["SE", "SE * PER + LIN", "SE + WN", "(SE + WN) * LIN"])
def test_exact_fit__has_the_densities_of_refits(text: str) -> None:
    fit = make_fit(text, jitter=1e-4)
    found = leave_one_out([fit], make_data())
    assert found.shape == (30, 1)
    np.testing.assert_allclose(found[:, 0], refitted(fit, make_data()), atol=1e-8)


def test_fits__are_averaged_over_theta_and_kept_apart() -> None:
    fits = [make_fit("SE", spread=0.2), with_modes(make_fit("LIN"), 0.7, 0.3), make_fit("PER")]
    found = leave_one_out(fits, make_data(), num_samples=6)
    for k, fit in enumerate(fits):
        terms = [
            np.log(c.weight) + refitted(at_theta(c), make_data())
            for c in draw_components([(fit, 1.0)], 6)
        ]
        assert len(terms) == [6, 2, 1][k]
        np.testing.assert_allclose(found[:, k], logsumexp(terms, axis=0), atol=1e-8)


def test_densities__are_in_the_units_of_the_user_whatever_the_warp() -> None:
    fits = [make_fit("SE"), make_fit("SE", warp=Log())]
    found = leave_one_out(fits, DATA)
    for k, fit in enumerate(fits):
        np.testing.assert_allclose(found[:, k], refitted(fit, DATA[fit.warp]), atol=1e-8)
    alone = leave_one_out(fits[1:], make_logs())
    np.testing.assert_allclose(alone[:, 0], found[:, 1], rtol=1e-12)


def dense(fit: LocalFit, bound: str, jitter: float) -> LocalFit:
    """A sparse fit that has every row as an inducing input, and the best q(v)."""
    X, y = make_data().arrays()
    K, noise = covariances(fit, X)
    L = np.linalg.cholesky(K + jitter * np.eye(len(X)))
    A = np.linalg.solve(L, K)
    S = np.linalg.inv(np.eye(len(X)) + (A / noise) @ A.T)
    q_u = InducingPosterior(S @ A @ (y / noise), S)
    return replace(fit, bound=bound, inducing=X, jitter=jitter, q_u=q_u)


@pytest.mark.parametrize("bound", BOUNDS[1:])
@pytest.mark.parametrize("text", ["SE", "SE + WN", "SE * PER + LIN"])
def test_sparse_fit_with_all_rows__has_the_densities_of_the_exact_one(
    bound: str, text: str
) -> None:
    fit = make_fit(text)
    exact = leave_one_out([fit], make_data())
    gaps = [
        np.abs(leave_one_out([dense(fit, bound, jitter)], make_data()) - exact).max()
        for jitter in (1e-3, 1e-6, 1e-9)
    ]
    assert gaps[2] < 1e-6 < gaps[0]
    assert gaps[1] < 1e-3


def test_sparse_fit__has_the_densities_of_its_low_rank_covariance() -> None:
    """Without a row, of the projected function and what it leaves unexplained."""
    fit = make_fit("SE", "collapsed", inducing=make_data().arrays()[0][::6])
    X, y = make_data().arrays()
    both = np.vstack([fit.inducing, X])
    K, _ = covariances(fit, both)
    M = len(fit.inducing)
    L = np.linalg.cholesky(K[:M, :M] + fit.jitter * np.eye(M))
    A = np.linalg.solve(L, K[:M, M:])
    noise = np.exp(fit.theta[0])
    expected = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        S = np.linalg.inv(np.eye(M) + A[:, rest] @ A[:, rest].T / noise)
        mean = A[:, i] @ S @ A[:, rest] @ y[rest] / noise
        variance = A[:, i] @ S @ A[:, i] + noise + K[M + i, M + i] - A[:, i] @ A[:, i]
        expected.append(norm.logpdf(y[i], mean, np.sqrt(variance)))
    slope = make_data().units.log_slope(make_data().units.restore_targets(y))
    found = leave_one_out([fit], make_data())[:, 0]
    np.testing.assert_allclose(found, expected + slope, atol=1e-8)


def test_posterior_that_has_learned_nothing__foretells_as_the_prior() -> None:
    fit = make_fit("SE", "stochastic", q_u=InducingPosterior(np.zeros(8), np.eye(8)))
    _, y = make_data().arrays()
    sd = np.sqrt(np.exp(fit.theta[1]) + np.exp(fit.theta[0]))
    slope = make_data().units.log_slope(make_data().units.restore_targets(y))
    found = leave_one_out([fit], make_data())[:, 0]
    np.testing.assert_allclose(found, norm.logpdf(y, 0.0, sd) + slope, atol=1e-8)


def test_blocks_and_batches__make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = [make_fit(text, "collapsed", spread=0.1) for text in ("SE", "LIN", "SE + LIN")]
    expected = leave_one_out(fits, make_data())
    monkeypatch.setitem(leave_one_out.__globals__, "BLOCK", 7)
    monkeypatch.setitem(leave_one_out.__globals__, "CACHE_BYTES", 1)
    np.testing.assert_allclose(leave_one_out(fits, make_data()), expected, atol=1e-9)


def test_fits_without_a_posterior__have_no_density() -> None:
    lost = make_fit("SE + LIN")
    lost = replace(lost, modes=(replace(lost.modes[0], mean=np.full(5, 1e3)),))
    fits = [
        make_fit("SE", status="failed", modes=(), reason="out of memory"),
        make_fit("LIN"),
        make_fit("SE", status="dropped"),
        lost,
    ]
    found = leave_one_out(fits, make_data())
    assert np.all(found[:, [0, 2, 3]] == -np.inf)
    assert np.all(np.isfinite(found[:, 1]))
    assert np.all(leave_one_out(fits[:1], make_data()) == -np.inf)


def test_other_likelihoods__are_refused() -> None:
    with pytest.raises(DataError, match=r"stacking needs Gaussian noise: .* with Poisson"):
        leave_one_out([make_fit("SE")], make_data(), likelihood=make_likelihood("poisson"))
