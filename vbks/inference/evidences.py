"""Log evidences of fits by importance sampling, from their posteriors of θ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.arrays import Array, Rows
from vbks.inference.approximations.importance import Target, estimate_evidences
from vbks.inference.approximations.laplace import LEAST_PRECISION, approximate
from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import Evidence, LogPosterior, maximise
from vbks.inference.result import LocalFit
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.starts.first_steps import start_scales
from vbks.kernels.starts.starts import candidate_rng

IMPORTANCE_SEED = 1 << 32
"""This is added to the seed for samples of θ, so that they are others than those of starts: it is
part of the seed, and no seed of a user is as large."""


def with_evidences(fits: list[LocalFit], context: FitContext, evidence: Evidence) -> list[LocalFit]:
    """The same fits, with evidences by importance sampling where these are asked for."""
    fitted = [k for k, fit in enumerate(fits) if fit.status == "fitted"]
    num_samples = context.num_importance_samples
    if not num_samples or not fitted:
        return fits
    posterior = context.log_posterior([fits[k].expression for k in fitted], evidence)
    targets = [_target(fits[k], row, posterior) for row, k in enumerate(fitted)]
    rngs = [candidate_rng(context.seed + IMPORTANCE_SEED, fits[k].expression) for k in fitted]

    def optimise_samples(rows: Rows, theta: Array) -> tuple[Array, Array, Array]:
        own = [fits[fitted[row]] for row in rows]
        return _optimise_samples(own, theta, context, evidence)

    policy = context.screening.importance
    found = estimate_evidences(
        targets, posterior.values, rngs, num_samples, optimise_samples, policy
    )
    for k, estimate in zip(fitted, found, strict=True):
        if estimate is not None:
            fits[k] = replace(
                fits[k],
                theta_samples=estimate.theta[:, : len(fits[k].theta)],
                evidence=estimate.log_evidence,
                evidence_error=estimate.standard_error,
            )
    return fits


def _optimise_samples(
    fits: Sequence[LocalFit], theta: Array, context: FitContext, evidence: Evidence
) -> tuple[Array, Array, Array]:
    """Optimise from a sample of θ of each fit: values [R], optima [R, H] and factors [R, H, H]."""
    posterior = context.log_posterior([fit.expression for fit in fits], evidence)
    slots = posterior.num_slots
    scales = np.ones((len(fits), slots))
    for k, fit in enumerate(fits):
        layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
        H = len(layout)
        own = theta[k : k + 1, :H]
        scales[k, :H] = start_scales(layout, context.summaries, own, context.starts)[0]
    found = maximise(
        posterior, theta[:, :slots], context.screening.sample_evaluations, scales=scales
    )
    laplace = approximate(posterior, found.x)
    means, factors = theta.copy(), np.zeros((*theta.shape, theta.shape[1]))
    means[:, :slots], factors[:, :slots, :slots] = laplace.mean, laplace.factor
    # Without a finite curvature there is no volume, and nothing to propose.
    return np.where(np.isfinite(laplace.log_volume), laplace.value, np.nan), means, factors


def _target(fit: LocalFit, row: int, posterior: LogPosterior) -> Target:
    """The posterior of θ of a fit, with as many slots as the bank of all has."""
    H, slots = len(fit.theta), posterior.num_slots
    means = np.zeros((len(fit.modes), slots))
    factors = np.zeros((len(fit.modes), slots, slots))
    for own, mode in enumerate(fit.modes):
        means[own, :H], factors[own, :H, :H] = mode.mean, mode.factor
    priors = posterior.priors
    sd = 1.0 / np.sqrt(np.maximum(priors.precision[row], LEAST_PRECISION))
    groups = np.full(slots, -1)
    groups[:H] = _leaves(lay_out(fit.expression, fit.num_inputs, fit.ard))
    height = max(mode.log_likelihood + mode.log_prior for mode in fit.modes)
    return Target(means, factors, height, priors.used[row], priors.mean[row], sd, groups)


def _leaves(layout: Layout) -> list[int]:
    """A number for each slot, the same for those of one leaf."""
    paths = [slot.path for slot in layout.slots]
    return [paths.index(path) for path in paths]
