from dataclasses import replace

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from support.rungs import screened

from vbks.grammar.parser import parse
from vbks.inference.approximations.laplace import approximate
from vbks.inference.candidate import make_candidate, stacked
from vbks.inference.choices import make_context
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.evidence import CollapsedEvidence
from vbks.inference.objectives.natural_parameters import Moments, NaturalParameters
from vbks.inference.objectives.svgp import FixedTheta
from vbks.inference.rungs import optimise
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.finalise import finalise
from vbks.kernels.bank.bank import Bank
from vbks.kernels.priors import Priors
from vbks.predict.models.gpflow_models import gpflow_model

EXPRESSIONS = ("SE", "SE + LIN")


def compared(posterior, likelihood="gaussian"):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(300, 1))
    f = np.sin(3 * X[:, 0])
    y = f + 0.3 * rng.normal(size=300)
    if likelihood == "bernoulli":
        y = (f + 0.5 * rng.normal(size=300) > 0).astype(float)
    settings = {"posterior": posterior, "likelihood": make_likelihood(likelihood)}
    return make_context(
        (X, y), 2, FitSettings(inference="stochastic", num_inducing=15, restarts=3, **settings)
    )[0]


def climbed(comparison):
    """Candidates at the maxima of their collapsed posteriors."""
    chunk = [make_candidate(parse(text), comparison, None) for text in EXPRESSIONS]
    return optimise(screened(chunk, comparison), comparison)


@pytest.fixture(scope="module")
def tops():
    return climbed(compared("point"))


def test_point__has_the_best_q_and_the_collapsed_bound(tops):
    comparison = compared("point")
    X, y = comparison.data.arrays()
    for candidate, fit in zip(tops, finalise(tops, comparison), strict=True):
        bank, theta = Bank([candidate.expression]), candidate.thetas[:1, np.newaxis]
        here = FixedTheta(
            bank, theta, tf.constant(comparison.Z), comparison.likelihood, len(y), fit.jitter
        )
        q = here.optimum([(X, y)])[0].moments()
        np.testing.assert_allclose(fit.q_u.mean, q.mean[0], atol=1e-8)
        np.testing.assert_allclose(fit.q_u.covariance, q.covariance[0], atol=1e-8)
        expected = CollapsedEvidence(X, y, comparison.Z, fit.jitter)(bank, theta)
        np.testing.assert_allclose(fit.elbo, expected[0, 0], atol=1e-8)
        np.testing.assert_allclose(fit.modes[0].log_likelihood, expected[0, 0], atol=1e-8)
        assert fit.standard_error == 0.0
        assert (fit.modes[0].factor == 0).all()
        model = gpflow_model(fit, comparison.data)
        np.testing.assert_allclose(model.elbo((X, y[:, None])), fit.elbo, atol=1e-6)


@pytest.mark.parametrize("posterior", ["full", "diagonal"])
def test_bound_with_a_posterior_of_theta__is_near_the_evidence(tops, posterior):
    comparison = compared(posterior)
    log_posterior = comparison.log_posterior(
        [c.expression for c in tops], comparison.final_evidence(comparison.jitter)
    )
    theta = stacked([c.thetas[0] for c in tops], log_posterior.num_slots)
    evidence = approximate(log_posterior, theta).log_evidence
    for expected, fit in zip(evidence, finalise(tops, comparison), strict=True):
        # Laplace's evidence is no limit, and a diagonal q(θ) leaves out what θ have in common.
        assert expected - 1.0 < fit.elbo < expected + 3.0 * fit.standard_error + 0.5
        assert fit.elbo == fit.modes[0].elbo
        squares = fit.modes[0].factor @ fit.modes[0].factor.T
        assert np.linalg.eigvalsh(squares).min() > 0
        if posterior == "diagonal":
            np.testing.assert_allclose(squares, np.diag(np.diag(squares)), atol=1e-12)


def test_bound_with_a_posterior_of_theta__is_that_over_new_samples(tops):
    """With the best q(u|θ) and q(θ) as it is, by plain sampling."""
    comparison = compared("full")
    X, y = comparison.data.arrays()
    for candidate, fit in zip(tops, finalise(tops, comparison), strict=True):
        mode = fit.modes[0]
        eta = np.random.default_rng(1).normal(size=(300, len(mode.mean)))
        theta = mode.mean + eta @ mode.factor.T
        bank = Bank([candidate.expression] * len(theta))
        here = FixedTheta(
            bank, theta[:, np.newaxis], tf.constant(comparison.Z), comparison.likelihood, len(y),
            fit.jitter,
        )  # fmt: skip
        priors = Priors([comparison.prior_of(candidate.layout)], len(candidate.layout))
        log_prior, _ = priors.log_density(np.zeros(len(theta), int), theta)
        joint = here.optimum([(X, y)])[1].numpy()[:, 0] + log_prior
        own = mode.factor @ mode.factor.T
        expected = joint.mean() + 0.5 * np.linalg.slogdet(2 * np.pi * np.e * own)[1]
        error = np.hypot(joint.std() / np.sqrt(len(joint)), fit.standard_error)
        assert abs(fit.elbo - expected) < 3 * error


@pytest.mark.parametrize("posterior", ["full", "laplace"])
def test_samples_of_theta__have_the_best_q_of_classes_too(posterior):
    comparison = compared(posterior, "bernoulli")
    chunk = screened([make_candidate(parse("SE"), comparison, None)], comparison)
    (fit,) = finalise(chunk, comparison)
    theta, mean, covariance = (
        fit.q_u.samples.theta,
        fit.q_u.samples.mean,
        fit.q_u.samples.covariance,
    )
    here = FixedTheta(
        Bank(["SE"] * len(theta)), theta[:, np.newaxis], tf.constant(comparison.Z),
        comparison.likelihood, comparison.num_rows, fit.jitter,
    )  # fmt: skip
    q, rows = NaturalParameters.prior(len(theta), len(comparison.Z)), comparison.data.arrays()
    best = here.ascended(lambda: [rows], q, 100)
    own = Moments.of_root(tf.constant(mean), tf.linalg.cholesky(covariance))
    np.testing.assert_allclose(here.value([rows], own)[0][:, 0], best.value, atol=2e-3)


@pytest.mark.parametrize("posterior", ["full", "diagonal"])
def test_candidate_beside_a_longer_one__has_the_posterior_that_it_has_alone(tops, posterior):
    comparison = compared(posterior)
    (alone,) = finalise(tops[:1], comparison)
    beside, _ = finalise(tops, comparison)
    one, two = (fit.modes[0].factor @ fit.modes[0].factor.T for fit in (alone, beside))
    np.testing.assert_allclose(two, one, rtol=1e-6)


def test_factor_that_the_climb_has_found__is_kept(tops):
    comparison = compared("full")
    own = [0.02 * np.eye(len(c.layout)) for c in tops]
    fits = finalise([replace(c, factor=f) for c, f in zip(tops, own, strict=True)], comparison)
    for fit, factor in zip(fits, own, strict=True):
        np.testing.assert_array_equal(fit.modes[0].factor, factor)


@pytest.mark.parametrize("posterior", ["point", "full"])
def test_bernoulli__is_finished_too(posterior):
    comparison = compared(posterior, "bernoulli")
    chunk = [make_candidate(parse(text), comparison, None) for text in EXPRESSIONS]
    fits = finalise(screened(chunk, comparison), comparison)
    X, y = comparison.data.arrays()
    nothing = len(y) * np.log(0.5)
    for fit in fits:
        assert fit.status == "fitted"
        assert nothing + 50 < fit.elbo < 0
        if posterior == "point":
            model = gpflow_model(fit, comparison.data, comparison.likelihood)
            assert isinstance(model, gpflow.models.SVGP)
            np.testing.assert_allclose(model.elbo((X, y[:, None])), fit.elbo, atol=1e-6)


def test_candidate_without_a_finite_bound__fails_and_disturbs_no_other(tops):
    comparison = compared("point")
    good = finalise(tops, comparison)
    bad = finalise([tops[0], replace(tops[1], jitter=-10.0)], comparison)
    assert bad[1].status == "failed"
    assert "no finite bound" in bad[1].reason
    assert bad[0].elbo == good[0].elbo
