"""Averages over θ beside the exact posterior over θ, at the real width of q(θ)."""

from dataclasses import replace
from functools import cache

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.likelihoods import ScalarLikelihood
from scipy.special import logsumexp

import vbks
from vbks.data.training import prepare
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.evaluator import fit_candidates
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.natural_parameters import NaturalParameters
from vbks.inference.objectives.svgp import FixedTheta
from vbks.inference.settings import FitSettings
from vbks.kernels.bank.bank import Bank
from vbks.kernels.priors import Priors
from vbks.predict.mixture import KernelMixture
from vbks.predict.models.gpflow_models import gpflow_model

NUM_ROWS = {"gaussian": 40, "poisson": 60, "bernoulli": 250, "student_t": 60}
XNEW = np.linspace(0.5, 9.5, 7)[:, None]
WIDER = 1.3
"""Of the proposal from which the exact posterior over θ is sampled."""


def drawn(likelihood):
    rng = np.random.default_rng(3)
    N = NUM_ROWS[likelihood]
    X = np.sort(rng.uniform(0, 10, N))[:, None]
    f = np.sin(X[:, 0])
    match likelihood:
        case "gaussian":
            return X, f + 0.3 * rng.normal(size=N)
        case "poisson":
            return X, rng.poisson(np.exp(2 + f)).astype(float)
        case "bernoulli":
            return X, (2 * f + rng.normal(size=N) > 0).astype(float)
    return X, f + 0.3 * rng.standard_t(3, N)


def rows_of(likelihood):
    """Rows with a level of the function, as `vbks.fit` makes them."""
    data = prepare(drawn(likelihood), standardise_targets=likelihood == "gaussian")
    return data.with_level(2.0) if likelihood == "poisson" else data


@cache
def fitted(likelihood, bound, posterior):
    """A fit and its rows, made once for all tests that ask for it."""
    data = rows_of(likelihood)
    Z = None if bound == "exact" else data.arrays()[0]
    (fit,) = fit_candidates(
        ["SE"], data, inference=bound, posterior=posterior, likelihood=likelihood, inducing=Z,
        num_inducing=None if Z is None else len(Z), restarts=3, seed=1,
    )  # fmt: skip
    assert fit.status == "fitted"
    return fit, data


def exact_moments(likelihood, start):
    """Mean and sd of f under the posterior of θ and f, by importance sampling of both."""
    data = rows_of(likelihood)
    comparison, _ = make_context(
        data,
        1,
        FitSettings(
            inference="stochastic",
            likelihood=make_likelihood(likelihood),
            inducing=data.arrays()[0],
            num_inducing=data.num_rows,
        ),
    )
    X, y = data.arrays()
    mode, rng = start.modes[0], np.random.default_rng(0)
    S, H = 300, len(mode.mean)
    eta = rng.normal(size=(S, H))
    theta = mode.mean + WIDER * eta @ mode.factor.T
    bank = Bank(["SE"] * S)
    here = FixedTheta(
        bank, theta[:, None], tf.constant(X), comparison.likelihood, len(y), start.jitter
    )
    prior = NaturalParameters.prior(S, len(y))
    q = here.optimum([(X, y)])[0] if likelihood == "gaussian" else None
    q = q or here.ascended(lambda: [(X, y)], prior, 60).q
    evidence, mean, second = _given_theta(here, bank, theta, q, data, rng)
    layout = make_candidate(vbks.parse("SE"), comparison).layout
    priors = Priors([comparison.final_priors(layout)], H)
    log_prior, _ = priors.log_density(np.zeros(S, int), theta)
    log_weight = evidence + log_prior + 0.5 * np.sum(eta**2, axis=1)
    weight = np.exp(log_weight - logsumexp(log_weight))
    assert 1 / np.sum(weight**2) > 0.2 * S
    mean, second = weight @ mean, weight @ second
    return mean, np.sqrt(second - mean**2)


def _given_theta(here, bank, theta, q, data, rng):
    """log p(y|θ) and first two moments of f at new inputs, for each θ: [S], [S, n], [S, n]."""
    X, y = data.arrays()
    Xs = data.units.standardise_inputs(XNEW)
    L = here.L.numpy()[:, 0]
    cross = bank(theta[:, None], tf.constant(X), tf.constant(Xs)).numpy()[:, 0]
    diagonal = bank.diag(theta[:, None], tf.constant(Xs)).numpy()[:, 0]
    rows = bank(theta[:, None], tf.constant(X)).numpy()[:, 0]
    m, V, _ = (part.numpy() for part in q.moments())
    likelihood, found = here.likelihood, []
    for s in range(len(theta)):
        root = np.linalg.cholesky(V[s])
        eps = rng.normal(size=(2000, len(y)))
        v = m[s] + eps @ root.T
        f = v @ np.linalg.solve(L[s], rows[s])
        noise = np.full(f.shape, np.exp(theta[s, 0]))
        tiny = np.full(f.shape, 1e-12)
        log_lik = (
            likelihood.expectations(
                tf.constant(y), tf.constant(f), tf.constant(tiny), tf.constant(noise)
            )
            .value.numpy()
            .sum(axis=1)
        )
        log_q = -0.5 * np.sum(eps**2, axis=1) - np.log(np.diag(root)).sum()
        log_w = log_lik - 0.5 * np.sum(v**2, axis=1) - log_q
        w = np.exp(log_w - logsumexp(log_w))
        A = np.linalg.solve(L[s], cross[s])
        fs = data.units.y_mean * (not likelihood.is_gaussian) + v @ A
        rest = np.maximum(diagonal[s] - np.sum(A**2, axis=0), 0.0)
        found.append((logsumexp(log_w) - np.log(len(v)), w @ fs, w @ fs**2 + rest))
    evidence, mean, second = (np.array(part) for part in zip(*found, strict=True))
    if likelihood.is_gaussian:
        scale, shift = data.units.y_scale, data.units.y_mean
        second = scale**2 * second + 2 * scale * shift * mean + shift**2
        mean = scale * mean + shift
    return evidence, mean, second


@pytest.fixture(scope="module")
def exact():
    return {
        name: exact_moments(name, fitted(name, "stochastic", "laplace")[0]) for name in NUM_ROWS
    }


CASES = [
    *(("gaussian", bound) for bound in ("exact", "collapsed", "stochastic")),
    *((name, "stochastic") for name in ("poisson", "bernoulli", "student_t")),
]


@pytest.mark.slow
@pytest.mark.parametrize("posterior", ["full", "diagonal", "laplace"])
@pytest.mark.parametrize(("likelihood", "bound"), CASES)
def test_average__has_the_moments_of_the_exact_posterior(exact, likelihood, bound, posterior):
    fit, data = fitted(likelihood, bound, posterior)
    mixture = KernelMixture([fit], [1.0], data, likelihood=make_likelihood(likelihood))
    mean, variance = (part.numpy()[:, 0] for part in mixture.predict_f(XNEW))
    expected, sd = exact[likelihood]
    assert np.all(np.abs(mean - expected) < 0.2 * sd)
    np.testing.assert_allclose(np.sqrt(variance), sd, rtol=0.2)


@pytest.mark.parametrize(
    ("likelihood", "bound", "posterior"),
    [
        (*case, posterior)
        for case in CASES
        for posterior in ("full", "laplace")
        if (case[0], posterior) != ("bernoulli", "full")  # has most rows, and takes longest
    ],
)
def test_average_of_vanishing_width__equals_the_model(likelihood, bound, posterior):
    fit, data = fitted(likelihood, bound, posterior)
    mode = replace(fit.modes[0], factor=1e-12 * fit.modes[0].factor, weight=1.0)
    q_u = None if fit.q_u is None else replace(fit.q_u, samples=None)
    fit = replace(fit, modes=(mode,), q_u=q_u)
    model = gpflow_model(fit, data, make_likelihood(likelihood))
    units = data.units if likelihood == "gaussian" else data.units.with_targets_as_they_are()
    moments = (part.numpy()[:, 0] for part in model.predict_f(units.standardise_inputs(XNEW)))
    expected, variance = units.restore_moments(*moments)
    mixture = KernelMixture([fit], [1.0], data, likelihood=make_likelihood(likelihood))
    found = [part.numpy()[:, 0] for part in mixture.predict_f(XNEW)]
    assert np.all(np.abs(found[0] - expected) < 1e-8 * np.sqrt(variance))
    np.testing.assert_allclose(found[1], variance, rtol=1e-8)


@pytest.mark.slow
def test_average__predicts_held_out_rows_as_well_as_the_model():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0, 10, 500)
        y = 0.5 * X + np.sin(2 * np.pi * X / rng.uniform(2, 4)) + 0.2 * rng.normal(size=500)
        selection = vbks.fit(
            X[:400], y[:400], space=["LIN + PER"], inference="stochastic", num_inducing=20,
            warps=("identity",), restarts=4, progress=False,
        )  # fmt: skip
        units, Y = selection.units, y[400:, None]
        rows = units.standardise_inputs(X[400:, None]), units.standardise_targets(Y)
        alone = selection.model().predict_log_density(rows).numpy() - np.log(units.y_scale)
        mixed = selection.predict_log_density((X[400:], y[400:]))
        assert mixed.mean() > alone.mean() - 0.02


class Logistic(ScalarLikelihood):
    """Noise with linear tails."""

    def __init__(self):
        super().__init__()
        self.scale = gpflow.Parameter(0.2, transform=gpflow.utilities.positive())

    def _scalar_log_prob(self, X, F, Y):
        z = (Y - F) / self.scale
        return -z - tf.math.log(self.scale) - 2 * tf.math.softplus(-z)

    def _conditional_mean(self, X, F):
        return tf.identity(F)

    def _conditional_variance(self, X, F):
        return tf.ones_like(F) * tf.square(self.scale) * np.pi**2 / 3


def test_likelihood_with_linear_tails__is_fitted_as_well_as_by_gpflow():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 10, 80))
    y = 4 + np.sin(X) + 0.1 * rng.logistic(size=80)
    selection = vbks.fit(X, y, space=["SE", "LIN"], likelihood=Logistic(), progress=False)
    assert selection.belief["converged"].all()
    model, units = selection.model("SE"), selection.units
    rows = units.standardise_inputs(X[:, None]), y[:, None]
    z = units.standardise_targets(y)[:, None]
    other = gpflow.models.SVGP(
        gpflow.kernels.SquaredExponential(), Logistic(), model.inducing_variable.Z.numpy(),
        mean_function=gpflow.functions.Constant(y.mean()),
    )  # fmt: skip
    gpflow.set_trainable(other.inducing_variable, False)
    gpflow.set_trainable(other.mean_function, False)
    closure = other.training_loss_closure(rows)
    gpflow.optimizers.Scipy().minimize(closure, other.trainable_variables, options={"maxiter": 500})
    in_own_units = model.elbo((rows[0], z)) - len(y) * np.log(units.y_scale)
    assert in_own_units > other.elbo(rows) - 1.0


@pytest.mark.parametrize(
    "likelihood",
    [pytest.param("student_t", marks=pytest.mark.slow), pytest.param(Logistic(), id="logistic")],
)
def test_targets_in_other_units__have_the_same_predictions_in_these(likelihood):
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 10, 60))
    y = 0.8 * np.sin(X) + 0.1 * rng.standard_t(3, 60)
    found = []
    for shift, stretch in ((0.0, 1.0), (5000.0, 1000.0)):
        selection = vbks.fit(
            X, shift + stretch * y, space=["SE"], likelihood=likelihood, restarts=2, progress=False
        )
        density = selection.predict_log_density((X, shift + stretch * y)) + np.log(stretch)
        (mean, of_f), (_, of_y) = selection.predict_f(XNEW), selection.predict_y(XNEW)
        found.append(((mean - shift) / stretch, np.sqrt(of_f) / stretch, of_y, density))
    (mean, sd, of_y, density), (other, *rest) = found
    assert np.all(np.abs(other - mean) < 1e-3 * sd)
    np.testing.assert_allclose(rest[0], sd, rtol=1e-3)
    np.testing.assert_allclose(rest[1], 1e6 * of_y, rtol=1e-3)
    np.testing.assert_allclose(rest[2], density, atol=1e-3)
    assert np.all(np.abs(mean - 0.8 * np.sin(XNEW[:, 0])) < 4 * sd)


def test_samples_of_targets__are_around_the_level():
    fit, data = fitted("poisson", "stochastic", "laplace")
    mixture = KernelMixture([fit], [1.0], data, likelihood=make_likelihood("poisson"))
    mean, variance = (part.numpy()[:, 0] for part in mixture.predict_y(XNEW))
    drawn_mean = mixture.predict_y_samples(XNEW, 2000).numpy()[..., 0].mean(axis=0)
    assert np.all(np.abs(drawn_mean - mean) < 4 * np.sqrt(variance / 2000))


def test_function_with_a_scale__is_saved_exported_and_updated(tmp_path):
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 10, 60))
    y = 5000 + 800 * np.sin(X) + 100 * rng.standard_t(3, 60)
    selection = vbks.fit(
        X[::2], y[::2], space=["SE"], likelihood="student_t", restarts=2, progress=False
    )
    selection.save(tmp_path / "saved")
    selection.export(tmp_path / "exported")
    again, served = vbks.load(tmp_path / "saved"), tf.saved_model.load(tmp_path / "exported")
    answer = served.predict_y(XNEW)
    for name, found, own in zip(
        ("mean", "variance"), again.predict_y(XNEW), selection.predict_y(XNEW), strict=True
    ):
        np.testing.assert_allclose(found, own, rtol=1e-10)
        np.testing.assert_allclose(answer[name][:, 0], own, rtol=1e-8)
    density = served.predict_log_density(X[:, None], y[:, None])["log_density"]
    np.testing.assert_allclose(density, again.predict_log_density((X, y)), rtol=1e-7)
    updated = again.update(X[1::2], y[1::2])
    assert updated.units.y_scale == selection.units.y_scale
    before, after = (s.predict_f(XNEW)[1].mean() for s in (selection, updated))
    assert after < before
    truth = 5000 + 800 * np.sin(XNEW[:, 0])
    mean, variance = updated.predict_f(XNEW)
    assert np.all(np.abs(mean - truth) < 4 * np.sqrt(variance))
