import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from vbks.grammar.parser import parse
from vbks.inference.choices import make_context
from vbks.inference.evidences import with_evidences
from vbks.inference.result import LocalFit, Mode
from vbks.inference.settings import FitSettings
from vbks.kernels.layout import lay_out

N = 14
LAYOUT = lay_out("C")
"""θ is the logarithms of the noise's and the constant's variance, over which a grid is small."""


@pytest.fixture(scope="module")
def context():
    y = 0.4 + np.random.default_rng(0).normal(size=N)
    fits = FitSettings(inference="exact", posterior="laplace", importance=True)
    return make_context((np.arange(float(N)), y), 1, fits)[0]


@pytest.fixture(scope="module")
def grid(context):
    """Log posteriors, not normalised, at θ on a grid; and the logarithm of a cell."""
    axes = [np.linspace(prior.mean - 7 * prior.sd, prior.mean + 7 * prior.sd, 801)
            for prior in context.prior_of(LAYOUT)]  # fmt: skip
    theta = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    _, y = context.data.arrays()
    noise, variance = np.exp(theta.T)
    noise = noise + context.jitter
    # The covariance s I + v 11ᵀ has the eigenvalue s + N v along 1 and s else.
    along = y.sum() ** 2 / N
    squares = along / (noise + N * variance) + (y @ y - along) / noise
    log_det = np.log(noise + N * variance) + (N - 1) * np.log(noise)
    log_likelihood = -0.5 * (squares + log_det + N * np.log(2 * np.pi))
    priors = zip(theta.T, context.prior_of(LAYOUT), strict=True)
    log_prior = sum(norm.logpdf(own, prior.mean, prior.sd) for own, prior in priors)
    cell = sum(np.log(axis[1] - axis[0]) for axis in axes)
    return theta, log_likelihood + log_prior, cell


def fit_at(grid, status="fitted"):
    """A fit whose q(θ) has the moments of the grid."""
    theta, log_posterior, _ = grid
    weights = np.exp(log_posterior - logsumexp(log_posterior))
    mean = weights @ theta
    covariance = (weights * (theta - mean).T) @ (theta - mean)
    factor = np.linalg.cholesky(covariance)
    mode = Mode(mean, factor, 1.0, float(log_posterior.max()), 0.0, 0.0)
    return LocalFit(parse("C"), 1, N, "exact", "laplace", 2, status, modes=(mode,))


def test_evidence__is_the_integral_over_a_grid(context, grid):
    _, log_posterior, cell = grid
    (found,) = with_evidences([fit_at(grid)], context, context.final_evidence(context.jitter))
    expected = logsumexp(log_posterior) + cell
    assert 0 < found.evidence_error < 0.05
    assert abs(found.evidence - expected) < max(4 * found.evidence_error, 1e-3)


def test_evidence__is_the_same_for_the_same_seed_in_any_company(context, grid):
    evidence = context.final_evidence(context.jitter)
    (alone,) = with_evidences([fit_at(grid)], context, evidence)
    failed, beside = with_evidences([fit_at(grid, "failed"), fit_at(grid)], context, evidence)
    assert beside.evidence == pytest.approx(alone.evidence, abs=1e-9)
    assert np.isnan(failed.evidence)


def test_no_evidence__is_estimated_where_none_is_asked_for(grid):
    y = np.random.default_rng(0).normal(size=N)
    fits = FitSettings(inference="exact", posterior="laplace")
    context, _ = make_context((np.arange(float(N)), y), 1, fits)
    given = [fit_at(grid)]
    assert with_evidences(given, context, context.final_evidence(0.0)) == given
