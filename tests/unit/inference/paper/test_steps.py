from __future__ import annotations

from dataclasses import replace

import numpy as np
import tensorflow as tf
from support.paper_training import EXPRESSIONS, B, make_problem

from vbks.inference.paper.group import Group
from vbks.inference.paper.objective import Fixed, Variables
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.steps import (
    Progress,
    _adam,
    _are_finite,
    _chosen,
    mean_precision,
    prior_factor,
)
from vbks.inference.paper.training import train
from vbks.kernels.bank.bank import Bank


def test_sampled_inducing__has_the_same_bound_on_average():
    states, context = make_problem(expressions=EXPRESSIONS[:1])
    sure = Group(states, context, PaperSettings(sample_inducing=False, learning_rate=1e-12))
    sampled = Group(states, context, PaperSettings(num_samples=400, learning_rate=1e-12))
    for group in (sure, sampled):
        group.take(5, context.data.minibatches(B, 0))
    spread = sampled.values[0] - sure.values[0]
    assert np.abs(spread).max() > 1e-6
    assert np.abs(spread).max() < 0.1 * np.abs(sure.values[0]).max()


def test_plain_ascent__moves_along_the_gradient():
    states, context = make_problem(expressions=EXPRESSIONS[:1])
    rate = 1e-9
    plain = PaperSettings(optimiser="sga", learning_rate=rate, sample_inducing=False)
    (once,) = train(states, context, plain, 1)
    (twice,) = train(states, context, replace(plain, learning_rate=2.0 * rate), 1)
    moved = once.learned.mean - states[0].learned.mean
    assert np.abs(moved).max() > 0.0
    np.testing.assert_allclose(twice.learned.mean - states[0].learned.mean, 2.0 * moved, rtol=1e-5)


def test_broken_candidate__fails_alone():
    states, context = make_problem()
    settings = PaperSettings(num_samples=2)
    nothing = np.full(len(states[1].layout), np.nan)
    broken = replace(states[1], learned=replace(states[1].learned, theta=nothing))
    found = train([states[0], broken, states[2]], context, settings, 10)
    expected = train([states[0], states[2]], context, settings, 10)
    assert found[1].num_skipped == 10 and np.isnan(found[1].elbo)
    for one, other in zip((found[0], found[2]), expected, strict=True):
        np.testing.assert_allclose(one.elbo, other.elbo, rtol=1e-9)


def variables(seed):
    rng = np.random.default_rng(seed)
    shapes = ((2, 3), (2, 3, 3), (2, 4), (2, 4, 4))
    return Variables(*(tf.constant(rng.normal(size=shape)) for shape in shapes))


def test_adam__is_that_of_kingma_and_ba():
    """m and v are running means of gradients and squares, which begin at zero."""
    zeros = Variables(*map(tf.zeros_like, variables(0)))
    progress = Progress(variables(0), zeros, zeros, tf.constant(0.0, tf.float64))
    rate = tf.constant(0.1, tf.float64)
    x, m, v = (np.array(part) for part in (variables(0).theta, zeros.theta, zeros.theta))
    for t in range(1, 4):
        progress = _adam(progress, variables(t), rate)
        gradient = variables(t).theta.numpy()
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.999**t)
        x = x + 0.1 * m_hat / np.sqrt(v_hat)
        np.testing.assert_allclose(progress.variables.theta, x, atol=1e-4)
    assert progress.step == 3.0


def test_step_without_a_finite_bound_or_gradient__is_not_taken_by_its_candidate():
    now = Progress(variables(0), variables(1), variables(2), tf.constant(4.0, tf.float64))
    moved = Progress(variables(3), variables(4), variables(5), tf.constant(5.0, tf.float64))
    value, gradients = tf.constant([1.0, np.nan], tf.float64), variables(6)
    is_finite = _are_finite(value, gradients)
    assert is_finite.numpy().tolist() == [True, False]
    broken = gradients._replace(root=gradients.root * [[[np.inf]], [[1.0]]])
    assert not _are_finite(value, broken).numpy().any()
    found = _chosen(is_finite, moved, now)
    for part, new, old in zip(found.variables, moved.variables, now.variables, strict=True):
        np.testing.assert_array_equal(part, [new[0], old[1]])
    assert found.step == 5.0


def test_mean_precision__is_the_mean_of_inverses_over_samples():
    bank, theta = Bank(["SE", "LIN"]), 0.3 * np.random.default_rng(0).normal(size=(2, 3, 3))
    Z = np.linspace(-1.0, 1.0, 4)[:, np.newaxis]
    nothing = tf.constant(0.0, tf.float64)
    jitter = tf.constant([[[0.1]], [[0.2]]], tf.float64)
    fixed = Fixed(tf.constant(Z), jitter, nothing, nothing, nothing, nothing)
    Kuu = bank(theta, Z).numpy() + jitter.numpy()[:, np.newaxis] * np.eye(4)
    L = prior_factor(bank, tf.constant(theta), fixed).numpy()
    np.testing.assert_allclose(L @ L.swapaxes(-1, -2), Kuu, rtol=1e-9)
    found = mean_precision(bank, tf.constant(theta), fixed)
    np.testing.assert_allclose(found, np.linalg.inv(Kuu).mean(axis=1), rtol=1e-8)
