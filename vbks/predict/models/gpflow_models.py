"""A fitted candidate as an ordinary GPflow model: GPR, SGPR or SVGP."""

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.kernels import Kernel, White
from gpflow.models import GPR, SGPR, SVGP

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.errors import DataError
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.result import LocalFit
from vbks.kernels.gpflow.bank import KernelBank, bank_of
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.kernels.gpflow.kernels import FamilyKernel
from vbks.kernels.layout import NOISE_SLOT, lay_out
from vbks.kernels.precision import check_precision
from vbks.kernels.registry import family_of
from vbks.predict.models.mean_functions import StandardisedMean
from vbks.predict.models.standardised_likelihood import StandardisedLikelihood

LEAST_VARIANCE = 1e-12
"""Noise variances of models have this lower bound: GPflow's own, 1e-6, is more than a fit may
find."""


class NoiseVariance(gpflow.functions.Function):
    """The noise variance of an expression with white noise that depends on the inputs."""

    def __init__(self, bank: KernelBank, theta: Array, extra: float) -> None:
        super().__init__()
        self.bank, self.theta, self.extra = bank, theta, extra

    def __call__(self, X: Any) -> tf.Tensor:
        """Variances at X [N, D]: [N, 1]."""
        return self.bank.noise(self.theta[np.newaxis], X)[0][:, tf.newaxis] + self.extra


class KnownNoiseVariance(gpflow.functions.Function):
    """The noise variance of rows of which some is known, and the learned term anywhere else.

    The rows are known by their inputs: those of all of them, in their order.
    """

    def __init__(self, learned: gpflow.functions.Function, X: Array, known: Array) -> None:
        super().__init__()
        self.learned = learned
        self._X = tf.constant(X, gpflow.default_float())
        self._known = tf.constant(known[:, np.newaxis], gpflow.default_float())

    def __call__(self, X: Any) -> tf.Tensor:
        """Variances at X [N, D]: [N, 1]."""
        learned = self.learned(X)
        is_same = tf.reduce_all(tf.equal(tf.shape(X), tf.shape(self._X)))
        is_same = tf.cond(is_same, lambda: tf.reduce_all(tf.equal(X, self._X)), lambda: False)
        return tf.cond(is_same, lambda: learned + self._known, lambda: tf.identity(learned))


def gpflow_model(
    fit: LocalFit,
    data: TrainingData,
    likelihood: Likelihood | None = None,
    mean_function: gpflow.functions.Function | None = None,
) -> GPR | SGPR | SVGP:
    """The candidate at the mean of its highest mode of q(θ), trained, in standardised units.

    Inputs go in as ``data.units.standardise_inputs(X)``, and what comes out goes through
    ``restore_moments``. White noise is in the model's likelihood, and so is the known noise of the
    rows, while targets at other inputs have the learned noise alone. What the fit has held is not
    trainable. With a likelihood that has a link the function is on its scale, its level is the
    model's mean function, and only inputs are to be converted. ``mean_function``, in the user's
    units, is what the fit is around: it is part of the model, not trainable.
    """
    check_precision()
    kernel = _silenced(_held(fit))
    likelihood = Gaussian() if likelihood is None else likelihood
    noise = _noise(fit, data, likelihood)
    mean = None if mean_function is None else StandardisedMean(mean_function, data.units)
    if fit.bound != "exact" and fit.jitter != gpflow.config.default_jitter():
        raise DataError(
            f"'{fit.expression}' was fitted with a jitter of {fit.jitter:g}, which GPflow's models "
            "take from its configuration. Call gpflow.config.set_default_jitter with it first."
        )
    if fit.bound == "stochastic":
        level = 0.0 if likelihood.has_identity_link else data.units.y_mean
        mean = gpflow.functions.Constant(level) if level else mean
        return _svgp(fit, kernel, noise, mean)
    X, y = data.arrays()
    targets = y[:, np.newaxis] if mean is None else y[:, np.newaxis] + mean(X).numpy()
    if fit.bound == "exact":
        return GPR((X, targets), kernel, mean, likelihood=noise)
    return SGPR((X, targets), kernel, fit.inducing, mean_function=mean, likelihood=noise)


def _held(fit: LocalFit) -> Kernel:
    """The kernel at θ, with what was fixed as not trainable."""
    layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
    kernel = to_gpflow(fit.expression, fit.num_inputs, theta=fit.theta, ard=fit.ard)
    for binding in bindings(kernel, layout):
        if {*binding.slots} <= {*fit.fixed}:
            gpflow.set_trainable(binding.parameter, False)
    return kernel


def _svgp(
    fit: LocalFit,
    kernel: Kernel,
    noise: gpflow.likelihoods.Likelihood,
    mean: gpflow.functions.Function | None,
) -> SVGP:
    if fit.q_u is None:
        raise DataError(f"'{fit.expression}' has no q(u): {fit.status}, {fit.reason}")
    root = np.linalg.cholesky(fit.q_u.covariance)
    return SVGP(
        kernel,
        noise,
        fit.inducing,
        mean_function=mean,
        q_mu=fit.q_u.mean[:, np.newaxis],
        q_sqrt=root[np.newaxis],
        whiten=True,
        num_data=fit.num_rows,
    )


def _noise(
    fit: LocalFit, data: TrainingData, likelihood: Likelihood
) -> gpflow.likelihoods.Likelihood:
    if not likelihood.is_gaussian:
        return _standardised(likelihood, float(np.exp(fit.theta[0])), data.units)
    bank = bank_of([fit.expression], fit.num_inputs, ard=fit.ard)
    X = data.arrays()[0] if fit.inducing is None else fit.inducing
    at_rows = bank.noise(fit.theta[np.newaxis], X).numpy()[0]
    extra = fit.jitter if fit.bound == "exact" else 0.0
    if data.known_noise is not None:
        learned = NoiseVariance(bank, fit.theta, extra)
        if np.ptp(at_rows) == 0.0:
            learned = gpflow.functions.Constant(at_rows[:1] + extra)
            gpflow.set_trainable(learned, NOISE_SLOT not in fit.fixed)
        variance = KnownNoiseVariance(learned, data.arrays()[0], data.known_noise)
        return gpflow.likelihoods.Gaussian(variance, variance_lower_bound=LEAST_VARIANCE)
    if np.ptp(at_rows) == 0.0:
        noise = gpflow.likelihoods.Gaussian(at_rows[0] + extra, variance_lower_bound=LEAST_VARIANCE)
        gpflow.set_trainable(noise, NOISE_SLOT not in fit.fixed)
        return noise
    return gpflow.likelihoods.Gaussian(
        NoiseVariance(bank, fit.theta, extra), variance_lower_bound=LEAST_VARIANCE
    )


def _standardised(
    likelihood: Likelihood, parameter: float, units: Units
) -> gpflow.likelihoods.Likelihood:
    """The likelihood for standardised targets, or for targets as they are if it has a link."""
    if likelihood.scale_power:
        return likelihood.to_gpflow(parameter / units.y_scale**likelihood.scale_power)
    own = likelihood.to_gpflow(parameter)
    if not likelihood.has_identity_link or (units.y_mean, units.y_scale) == (0.0, 1.0):
        return own
    return StandardisedLikelihood(own, units)


def _silenced(kernel: Any) -> Any:
    """The kernel with white noise, which is no part of the function, replaced by nothing."""
    if isinstance(kernel, White):
        silent = FamilyKernel(family_of("WN"), kernel.variance.numpy())
        gpflow.set_trainable(silent, kernel.variance.trainable)
        return silent
    for place, part in enumerate(getattr(kernel, "kernels", ())):
        kernel.kernels[place] = _silenced(part)
    return kernel
