"""Training by one graph beside GPflow's SVGP and VariationalSVGP, by the same steps."""

from __future__ import annotations

from itertools import islice

import gpflow
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from support.paper_training import EXPRESSIONS, B, M, N, make_problem

from vbks.grammar.parser import parse
from vbks.inference.paper.group import draw_base_samples
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.training import (
    theta_factor,
    train,
)
from vbks.inference.seeds import Seed
from vbks.kernels.bank.bank import num_traces
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.predict.models.substitution import ParameterVector
from vbks.predict.models.theta_posterior import ThetaPosterior
from vbks.predict.models.variational_svgp import VariationalSVGP

STEPS = 40
RATE = 2.0**-7
"""A number of 32 bits, as Keras keeps it."""


def make_parts(state):
    """Kernel and likelihood of GPflow at a state's θ, whose parameters are in the order of θ."""
    theta = state.learned.theta
    kernel = to_gpflow(state.expression, 1, theta=theta, ard=False)
    likelihood = gpflow.likelihoods.Gaussian()
    likelihood.variance = gpflow.Parameter(np.exp(theta[0]), transform=tfp.bijectors.Exp())
    for binding in bindings(kernel, state.layout):
        if {*binding.slots} <= {*state.fixed}:
            gpflow.set_trainable(binding.parameter, False)
    return kernel, likelihood


def make_variational(state, context, posterior, settings):
    model = VariationalSVGP(
        *make_parts(state),
        context.Z,
        covariance=posterior,
        num_data=N,
        sample_inducing=settings.sample_inducing,
        q_mu=state.learned.mean[:, np.newaxis],
        q_sqrt=state.learned.root[np.newaxis],
    )
    own = {b.slots[0]: b.parameter for b in bindings(model.kernel, state.layout)}
    own = {slot: p for slot, p in own.items() if slot not in state.fixed}
    assert all(p.shape.num_elements() == 1 for p in own.values())
    slots = [0, *sorted(own)]
    parameters = [model.likelihood.variance, *(own[slot] for slot in sorted(own))]
    model._theta = ParameterVector({str(k): p for k, p in zip(slots, parameters, strict=True)})
    start = model._theta.read().numpy()
    priors = context.prior_of(state.layout)
    shift = start - state.learned.theta[slots]
    mean = np.array([priors[slot].mean for slot in slots]) + shift
    sd = np.array([priors[slot].sd for slot in slots])
    model.q_theta = ThetaPosterior(start, posterior, mean, sd)
    return model, slots, shift


def optimise_by_keras(model, loss, context, settings):
    """Steps of Keras' Adam on the minibatches that training has."""
    # Of plain numbers Keras makes some of 32 bits, by which steps would differ in the sixth digit.
    betas = {"beta_1": np.float64(0.9), "beta_2": np.float64(0.999)}
    optimiser = gpflow.keras.tf_keras.optimizers.Adam(settings.rate, **betas)
    variables = model.trainable_variables
    batches = context.data.minibatches(B, context.seed)

    @tf.function
    def step(X, y, *more):
        with tf.GradientTape() as tape:
            value = loss((X, y[:, tf.newaxis]), *more)
        optimiser.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
        return value

    def run(more=lambda step: ()):
        values = [
            step(tf.constant(X), tf.constant(y), *more(t))
            for t, (X, y) in enumerate(islice(batches, STEPS))
        ]
        return -np.array(values)

    return run


def mean_bound(context, settings, bound):
    """The mean over the minibatches that local ELBOs are averaged over."""
    seed = int(context.rng(Seed.LOCAL_ELBO_ROWS).integers(2**31))
    num = settings.value_batches_of(N, B)
    batches = islice(context.data.minibatches(B, seed), num)
    compiled = tf.function(lambda X, y: bound((X, y[:, tf.newaxis])))
    return np.mean([compiled(tf.constant(X), tf.constant(y)) for X, y in batches])


def test_point__trains_as_svgp_does():
    settings = PaperSettings(sample_inducing=False, learning_rate=RATE)
    states, context = make_problem()
    trained = train(states, context, settings, STEPS)
    for state, end in zip(states, trained, strict=True):
        kernel, likelihood = make_parts(state)
        model = gpflow.models.SVGP(
            kernel,
            likelihood,
            context.Z,
            q_mu=state.learned.mean[:, np.newaxis],
            q_sqrt=state.learned.root[np.newaxis],
            whiten=False,
            num_data=N,
        )
        gpflow.set_trainable(model.inducing_variable, False)
        values = optimise_by_keras(model, model.training_loss, context, settings)()
        np.testing.assert_allclose(end.values, values, rtol=1e-6)
        np.testing.assert_allclose(
            end.elbo, mean_bound(context, settings, model.elbo), rtol=1e-6, atol=1e-4
        )
        np.testing.assert_allclose(end.learned.mean, model.q_mu.numpy()[:, 0], atol=1e-6)
        assert end.num_skipped == 0


@pytest.mark.parametrize(
    ("posterior", "expressions"), [("full", EXPRESSIONS[2:]), ("diagonal", EXPRESSIONS[:1])]
)
def test_q_theta__trains_as_variational_svgp_does(posterior, expressions):
    settings = PaperSettings(learning_rate=RATE, num_samples=3)
    states, context = make_problem(posterior, expressions)
    trained = train(states, context, settings, STEPS)
    H = max(len(state.layout) for state in states)
    for state, end in zip(states, trained, strict=True):
        model, slots, shift = make_variational(state, context, posterior, settings)
        gpflow.set_trainable(model.inducing_variable, False)

        def eta(step, slots=slots):
            theta, u = draw_base_samples(context.seed, step, settings.num_samples, M, H)
            return (tf.constant(np.concatenate([theta[:, slots], u], axis=1)),)

        loss = lambda data, row, model=model: -model.elbo(data, row)  # noqa: E731
        values = optimise_by_keras(model, loss, context, settings)(eta)
        np.testing.assert_allclose(end.values, values, rtol=1e-6)
        np.testing.assert_allclose(
            end.learned.theta[slots], model.theta_mean.numpy() - shift, atol=1e-6
        )
        factor = theta_factor(end.learned.spread, context)[np.ix_(slots, slots)]
        np.testing.assert_allclose(factor, model.q_theta.factor.numpy(), atol=1e-6)


def test_candidates__do_not_depend_on_their_company():
    states, context = make_problem("full")
    settings = PaperSettings(num_samples=2)
    together = train(states, context, settings, 20)
    for one, state in zip(together, states, strict=True):
        (alone,) = train([state], context, settings, 20)
        np.testing.assert_allclose(one.values, alone.values, rtol=1e-9)
        np.testing.assert_allclose(one.elbo, alone.elbo, rtol=1e-9)


def test_other_candidates__need_no_new_graph():
    settings = PaperSettings(num_samples=2)
    states, context = make_problem()
    train(states, context, settings, 3)
    before = num_traces()
    others, context = make_problem(expressions=tuple(map(parse, ("LIN", "RQ * PER"))))
    train(others, context, settings, 7)
    assert num_traces() == before
