"""The bound after an earlier fit, beside closed forms of all rows at once."""

from __future__ import annotations

from dataclasses import replace

import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.grammar.parser import parse
from vbks.inference.choices import make_context
from vbks.inference.inducing import authors_inducing
from vbks.inference.paper.group import Group, prior_factors
from vbks.inference.paper.objective import Earlier, GivenTheta, Variables, gaussian_kl, interaction
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.state import EarlierFit, Learned, begun
from vbks.inference.settings import FitSettings
from vbks.kernels.bank.bank import Bank
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.layout import lay_out

EXPRESSION = parse("SE * LIN")
THETA = np.array([np.log(0.1), np.log(1.2), np.log(0.6), -2.0])
Z = np.linspace(-1.7, 1.7, 6)[:, np.newaxis]


def make_rows(num=60):
    rng = np.random.default_rng(0)
    x = rng.normal(size=num)
    return x, np.sin(2.0 * x) + 0.3 * rng.normal(size=num)


def sgpr(X, y):
    kernel = to_gpflow(EXPRESSION, 1, theta=THETA)
    return gpflow.models.SGPR((X, y[:, np.newaxis]), kernel, Z, noise_variance=np.exp(THETA[0]))


def best_q(model):
    """The best q(u) of rows, its mean and root."""
    mean, covariance = model.compute_qu()
    return mean.numpy()[:, 0], np.linalg.cholesky(covariance.numpy())


def make_group(new, state, posterior="point"):
    comparison, _ = make_context(
        new,
        1,
        FitSettings(
            inference="stochastic", posterior=posterior, batch_size=new.num_rows, inducing=Z
        ),
    )
    settings = PaperSettings(
        optimiser="sga", learning_rate=1e-8, sample_inducing=False, value_batches=1
    )
    return Group([state], comparison, settings)


def test_update__has_the_bound_and_the_optimum_of_all_rows():
    X, y = make_rows()
    everything, _ = make_context((X, y), 1, FitSettings(inference="stochastic", inducing=Z))
    data = everything.data
    X, y = data.arrays()
    before, together = sgpr(X[:40], y[:40]), sgpr(X, y)
    earlier = EarlierFit(*best_q(before), THETA, np.zeros((4, 4)), float(before.elbo()), 0.0)
    mean, root = best_q(together)
    learned = Learned(mean, root, THETA, np.zeros((4, 4)))
    layout = lay_out(EXPRESSION, 1)
    state = begun(EXPRESSION, layout, (), gpflow.config.default_jitter(), learned, earlier)
    new = data.part(np.arange(40, 60))
    group = make_group(new, state)
    (end,) = group.evaluated()
    np.testing.assert_allclose(end.elbo, together.elbo(), rtol=1e-6)
    other = replace(state, learned=replace(learned, mean=earlier.mean, root=earlier.root))
    steps = []
    for own in (state, other):
        group = make_group(new, own)
        group.take(1, new.minibatches(20, 0))
        (moved,) = group.evaluated()
        steps.append(np.abs(moved.learned.mean - own.learned.mean).max())
        np.testing.assert_array_equal(moved.learned.theta, THETA)
    assert steps[0] < 1e-6 * steps[1]


def test_update__without_news_stays_where_it_was():
    rng = np.random.default_rng(2)
    layout = lay_out(EXPRESSION, 1)
    (L,) = prior_factors(Bank([EXPRESSION]), THETA[np.newaxis], Z, [1e-6])
    factor = 0.2 * np.eye(4) + 0.05 * np.tril(np.ones((4, 4)), -1)
    earlier = EarlierFit(0.3 * L @ rng.normal(size=6), 0.5 * L, THETA, factor, -10.0, -9.0)
    learned = Learned(earlier.mean, earlier.root, THETA, factor)
    state = begun(EXPRESSION, layout, (), 1e-6, learned, earlier)
    x, y = make_rows()
    data = make_context((x, y), 1, FitSettings(inference="stochastic", inducing=Z))[0].data
    group = make_group(data, state, "full")
    assert group.earlier.precision.shape == (1, 6, 6)
    variables, eta = group.progress.variables, rng.normal(size=(5, 4))
    theta = variables.theta[:, tf.newaxis] + tf.einsum("khj,sj->ksh", group.earlier.factor, eta)
    here = GivenTheta(group.bank, theta, variables, group.fixed)
    np.testing.assert_allclose(interaction(here, group.earlier), 0.0, atol=1e-9)
    np.testing.assert_allclose(
        gaussian_kl(variables.mean, variables.root, group.earlier.mean, group.earlier.root),
        0.0,
        atol=1e-9,
    )


def test_interaction__is_what_is_said():
    rng = np.random.default_rng(4)
    bank = Bank([EXPRESSION])
    (L,) = prior_factors(bank, THETA[np.newaxis], Z, [1e-6])
    data = make_context(make_rows(), 1, FitSettings(inference="stochastic", inducing=Z))[0].data
    state = begun(EXPRESSION, lay_out(EXPRESSION, 1), (), 1e-6, Learned(L[0], L, THETA, np.eye(4)))
    fixed = make_group(data, state, "full").fixed
    now, then = (THETA + s * rng.normal(size=(3, 4)) for s in (0.1, 0.2))
    means, roots = 0.5 * rng.normal(size=(2, 6)), [0.7 * L, 0.9 * L]
    inverses = [
        np.mean([np.linalg.inv(own @ own.T) for own in prior_factors(
            Bank([EXPRESSION] * 3), some, Z, [1e-6] * 3
        )], axis=0)
        for some in (now, then)
    ]  # fmt: skip
    expected = sum(
        sign * 0.5 * (m @ P @ m + np.trace(P @ C @ C.T))
        for m, C, signs in zip(means, roots, ((1, -1), (-1, 1)), strict=True)
        for P, sign in zip(inverses, signs, strict=True)
    )
    variables = Variables(*map(tf.constant, (means[:1], roots[0][None], THETA[None], 0.0)))
    earlier = Earlier(
        *map(tf.constant, (means[1:], roots[1][None], THETA[None], 0.0, inverses[1][None]))
    )
    here = GivenTheta(bank, tf.constant(now[np.newaxis]), variables, fixed)
    np.testing.assert_allclose(np.mean(interaction(here, earlier)), expected, rtol=1e-6)


@pytest.mark.parametrize("num", [7, 16])
def test_authors_inducing__one_input(num):
    X = np.random.default_rng(0).permutation(np.arange(50.0))[:, np.newaxis]
    found = authors_inducing(X, num, np.random.default_rng(0))[:, 0]
    block = np.arange(20.0, 20.0 + num // 2)
    assert len(found) == num and set(block) <= set(found)
    assert {0.0, 49.0} <= set(found)
    gaps = np.diff(sorted(set(found) - set(block)))
    assert gaps.max() < 2.5 * 50 / (num - len(block))


def test_authors_inducing__several_inputs_are_rows():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = authors_inducing(X, 9, np.random.default_rng(0))
    assert len(np.unique(found, axis=0)) == 9
    assert {tuple(row) for row in found} <= {tuple(row) for row in X}
