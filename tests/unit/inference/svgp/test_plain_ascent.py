from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from vbks.grammar.parser import parse
from vbks.inference.approximations.variational import entropy
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.natural_parameters import Moments
from vbks.inference.settings import FitSettings
from vbks.inference.svgp import plain_ascent as ascent
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.svgp.stage import StochasticStage

EXPRESSIONS = ("SE", "SE * PER")
STEPS = 60


def compared(posterior, likelihood="gaussian"):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(120, 1))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=120)
    if likelihood == "bernoulli":
        y = (y > 0).astype(float)
    settings = {
        "posterior": posterior,
        "likelihood": make_likelihood(likelihood),
        "ascent": "plain",
    }
    given = {"inference": "stochastic", "num_inducing": 8, "batch_size": 40, **settings}
    made, _ = make_context((X, y), 2, FitSettings(**given))
    return replace(made, svgp=SvgpPolicy(plain_steps=STEPS))


def started(comparison):
    """Candidates as a screening would leave them, at their prior means."""
    made = [make_candidate(parse(text), comparison, None) for text in EXPRESSIONS]
    return [replace(c, thetas=c.layout.prior_mean[np.newaxis]) for c in made]


def bound(state, num_samples=16):
    """E_q(θ)[...] − KLs on all rows for every candidate, with the same base samples each time."""
    stage, factor = state.stage, state.factor()
    K, H = state.theta.shape
    theta = np.repeat(state.theta.numpy()[:, np.newaxis], num_samples, axis=1)
    extra = np.zeros(K)
    if factor is not None:
        eta = np.random.default_rng(1).normal(size=(num_samples, H))
        theta = theta + np.einsum("khj,sj->ksh", factor, eta)
        extra = entropy(factor, stage.priors.used)
    q = Moments.of_root(tf.convert_to_tensor(state.mean), tf.linalg.band_part(state.root, -1, 0))
    value = stage.at(theta).slopes([stage.context.data.arrays()], q).value.numpy()
    rows = np.repeat(np.arange(K), num_samples)
    log_prior, _ = stage.priors.log_density(rows, theta.reshape(-1, H))
    return value.mean(axis=1) + log_prior.reshape(K, -1).mean(axis=1) + extra


@pytest.fixture
def states(monkeypatch):
    """States that climbs make, with the bounds that they begin with."""
    made = []

    class Kept(ascent._State):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append((self, bound(self)))

    monkeypatch.setattr(ascent, "_State", Kept)
    return made


@pytest.mark.parametrize(
    ("posterior", "likelihood"),
    [("point", "gaussian"), ("diagonal", "gaussian"), ("full", "gaussian"), ("full", "bernoulli")],
)
def test_ascent__raises_the_bound(states, posterior, likelihood):
    comparison = compared(posterior, likelihood)
    chunk = started(comparison)
    found = ascent.ascend(chunk, comparison)
    ((state, before),) = states
    after = bound(state)
    assert (after > before + 10.0).all()
    for k, (candidate, start) in enumerate(zip(found, chunk, strict=True)):
        H = len(candidate.layout)
        assert candidate.converged
        assert candidate.thetas.shape == (1, H)
        np.testing.assert_array_equal(candidate.thetas[0], state.theta.numpy()[k, :H])
        assert np.abs(candidate.thetas - start.thetas).max() > 0.1
        if posterior == "point":
            assert candidate.factor.size == 0
        else:
            factor = candidate.factor
            np.testing.assert_array_equal(factor, state.factor()[k, :H, :H])
            below = np.abs(np.tril(factor, -1)).max()
            assert (np.diag(factor) > 0).all()
            assert (below > 0) == (posterior == "full")
            assert (np.triu(factor, 1) == 0).all()
    np.testing.assert_array_equal(state.theta.numpy()[0, len(found[0].layout) :], 0.0)


def test_ascent__of_the_same_seed_is_the_same():
    one, two = (ascent.ascend(started(c), c) for c in (compared("full"), compared("full")))
    np.testing.assert_array_equal(one[1].thetas, two[1].thetas)
    np.testing.assert_array_equal(one[1].factor, two[1].factor)


def test_gradient_for_q__is_zero_at_the_optimum():
    comparison = compared("point")
    stage = StochasticStage.of(started(comparison), comparison)
    theta = 0.2 * np.random.default_rng(2).normal(size=(2, stage.bank.num_slots))
    rows = comparison.data.arrays()
    here, state = stage.at(theta[:, np.newaxis]), ascent._State(stage, theta)
    moments = here.optimum([rows])[0].moments()
    state.mean.assign(moments.mean)
    state.root.assign(tf.linalg.cholesky(moments.covariance))
    slopes = here.slopes([rows], moments)
    for gradient, _ in state._q_changes(slopes, moments, None):
        np.testing.assert_allclose(gradient, 0.0, atol=1e-8)


def test_step_along_gradients_that_are_not_finite__moves_nothing():
    comparison = compared("full")
    chunk = started(comparison)
    stage = StochasticStage.of([chunk[0], replace(chunk[0], jitter=-10.0)], comparison)
    state = ascent._State(stage, np.zeros((2, stage.bank.num_slots)))
    before = [v.numpy() for v in (state.theta, state.mean, state.root, state.log_sd, state.below)]
    state.step(comparison.data.arrays(), np.ones(state.theta.shape), rate=0.1)
    after = (state.theta, state.mean, state.root, state.log_sd, state.below)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(new.numpy()[1], old[1])
        assert not np.array_equal(new.numpy()[0], old[0])
