"""A fitted candidate with its posterior of θ, as one GPflow model or several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.covariances import Kuu
from gpflow.kernels import Kernel
from gpflow.models import GPR, SGPR, SVGP

from vbks.arrays import Array, Rows
from vbks.data.signals.summaries import measure_inputs
from vbks.data.training import TrainingData
from vbks.errors import DataError
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.result import LocalFit, Mode
from vbks.inference.screening import ScreeningPolicy
from vbks.kernels.gpflow.conversion import bindings
from vbks.kernels.gpflow.kernels import FamilyKernel
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.priors import slot_priors
from vbks.predict.models.gpflow_models import gpflow_model
from vbks.predict.models.substitution import trainable_parameters
from vbks.predict.models.theta_posterior import Covariance
from vbks.predict.models.variational_svgp import VariationalSVGP
from vbks.predict.posteriors.samples import draw_components

NUM_MODELS = 16
"""There are models for this many samples of θ, each with matrices of its own."""

LEAST_SHARE = 1e-10
"""This share of the mean variance in q(θ) is added to its diagonal, so that it has a Cholesky
factor."""


def models_at_samples(
    fit: LocalFit, data: TrainingData, likelihood: Likelihood, num_samples: int, seed: int = 0
) -> list[tuple[float, GPR | SGPR]]:
    """Weights and trained models at samples of q(θ), in standardised units.

    Samples are those of a `KernelMixture` of the fit alone; a point estimate is one model.
    """
    if num_samples < 1:
        raise DataError(f"num_samples is {num_samples}, expected at least 1.")
    components = draw_components([(fit, 1.0)], num_samples, seed)
    return [
        (component.weight, gpflow_model(_at(fit, component.theta), data, likelihood))
        for component in components
    ]


def variational_model(fit: LocalFit, data: TrainingData, likelihood: Likelihood) -> VariationalSVGP:
    """A stochastic fit as an SVGP with q(θ), in standardised units, to be used or trained on.

    q(θ) is that of the highest mode and p(θ) the prior of the fit. q(u) is the one at the mean of
    q(θ), and independent of it, as in the VBKS paper.
    """
    model = gpflow_model(fit, data, likelihood)
    if not isinstance(model, SVGP) or not isinstance(fit.inducing, np.ndarray):
        raise DataError(f"'{fit.expression}' is no stochastic fit, which has inducing points.")
    kernel, noise = model.kernel, model.likelihood
    _fix_silent_noise(kernel, fit, noise)
    found = list(_coordinates(fit, kernel, noise))
    slots = np.concatenate([own for own, _, _ in found])
    shift, slope = (np.concatenate([part[place] for part in found]) for place in (1, 2))
    layout, mode = lay_out(fit.expression, fit.num_inputs, fit.ard), fit.modes[0]
    covariance = _covariance(fit)
    prior_mean, prior_sd = _prior(layout, data)
    q_mu, q_sqrt = _unwhitened(model, fit.inducing)
    result = VariationalSVGP(
        kernel,
        noise,
        fit.inducing,
        covariance=covariance,
        prior_mean=shift + slope * (prior_mean - mode.mean)[slots],
        prior_sd=np.abs(slope) * prior_sd[slots],
        mean_function=model.mean_function,
        q_mu=q_mu,
        q_sqrt=q_sqrt,
        num_data=fit.num_rows,
    )
    gpflow.set_trainable(result.inducing_variable, False)
    result.theta_mean.assign(shift)
    if result.q_theta.sqrt is not None:
        factor = _factor(slope[:, np.newaxis] * mode.factor[slots])
        result.q_theta.sqrt.assign(factor if covariance == "full" else np.diag(factor))
    return result


def _prior(layout: Layout, data: TrainingData) -> tuple[Array, Array]:
    """Means and standard deviations of p(θ): [H] and [H]."""
    X, _ = data.sample(ScreeningPolicy.summary_rows, np.random.default_rng(0))
    priors = slot_priors(layout, summaries=measure_inputs(X))
    return np.array([p.centre for p in priors]), np.array([p.precision**-0.5 for p in priors])


def _covariance(fit: LocalFit) -> Covariance:
    """The form of q(θ); that of Laplace is full."""
    if not np.any(fit.modes[0].factor):
        return "point"
    return "diagonal" if fit.posterior == "diagonal" else "full"


def _coordinates(fit: LocalFit, kernel: Kernel, noise: Any) -> Iterator[tuple[Rows, Array, Array]]:
    """Slots of θ behind the unconstrained numbers of each parameter, their values, and slopes.

    Parameters come in the order in which a `VariationalSVGP` has them. Those of kernels are θ but
    for a shift; that of the likelihood has a transform of its own, of which the slope counts.
    """
    layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
    bound = {id(binding.parameter): binding for binding in bindings(kernel, layout)}
    for parameter in trainable_parameters(kernel=kernel, likelihood=noise).values():
        values = parameter.unconstrained_variable.numpy().reshape(-1)
        if id(parameter) in bound:
            yield np.array(bound[id(parameter)].slots, np.intp), values, np.ones(len(values))
        else:
            yield np.zeros(len(values), np.intp), values, _slopes(parameter)


def _slopes(parameter: gpflow.Parameter) -> Array:
    """Derivatives of unconstrained numbers by the logarithms of their values."""
    logs = tf.math.log(tf.convert_to_tensor(parameter))
    with tf.GradientTape() as tape:
        tape.watch(logs)
        transform = parameter.transform or tfp.bijectors.Identity()
        unconstrained = transform.inverse(tf.exp(logs))
    return np.asarray(tape.gradient(unconstrained, logs)).reshape(-1)


def _fix_silent_noise(kernel: Kernel, fit: LocalFit, noise: Any) -> None:
    """Leave white noise to the likelihood, which has it; refuse what it cannot have."""
    if isinstance(getattr(noise, "variance", None), gpflow.functions.Function):
        raise DataError(
            f"the noise of '{fit.expression}' depends on inputs, so that its variance is no single "
            "parameter of an SVGP. Ask for the model without posterior=True."
        )
    for part in (kernel, *kernel.submodules):
        if isinstance(part, FamilyKernel) and part.family.name == "WN":
            gpflow.set_trainable(part, False)


def _unwhitened(model: SVGP, Z: Array) -> tuple[Array, Array]:
    """The mean [M, 1] and a root [1, M, M] of the covariance of u = Lv."""
    jitter = gpflow.config.default_jitter()
    L = tf.linalg.cholesky(Kuu(model.inducing_variable, model.kernel, jitter=jitter)).numpy()
    return L @ model.q_mu.numpy(), L @ model.q_sqrt.numpy()


def _factor(root: Array) -> Array:
    """The lower triangle of a covariance that is given by any root of it."""
    covariance = root @ root.T
    least = LEAST_SHARE * np.trace(covariance) / len(covariance)
    return np.linalg.cholesky(covariance + least * np.eye(len(covariance)))


def _at(fit: LocalFit, theta: Array) -> LocalFit:
    """The fit as a point estimate at θ."""
    zero = np.zeros((len(theta),) * 2)
    mode = Mode(theta, zero, 1.0, fit.modes[0].log_likelihood, 0.0, 0.0)
    return replace(fit, modes=(mode,), posterior="point")
