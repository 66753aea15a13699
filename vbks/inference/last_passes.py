"""The end of stochastic fits: q(θ), q(u) and the bound, from passes over the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from vbks.arrays import Array
from vbks.inference.candidate import Candidate, failed_fit, local_fit, stacked
from vbks.inference.comparison import POSTERIOR_SAMPLES, Comparison
from vbks.inference.information import conditional_information
from vbks.inference.laplace import Laplace, from_precision
from vbks.inference.local_fit import InducingPosterior, LocalFit, Mode
from vbks.inference.minibatch import STEP_LENGTH, Moments, NaturalParameters
from vbks.inference.stage import StochasticStage
from vbks.inference.variational import entropy

PASSES = 10
"""Natural-gradient steps on all rows, where no single one is exact."""

VALUE_ROWS = 200_000
"""Rows over which the bound is averaged, unless noise is Gaussian and one pass gives it."""

PAIRS = POSTERIOR_SAMPLES // 2
"""Samples of θ come as pairs ±η."""

INFORMATION_ROWS = 512
"""Rows from which the curvature of the bound at fixed q(v) is estimated."""


def finish(chunk: Sequence[Candidate], comparison: Comparison) -> list[LocalFit]:
    """q(u) and the bound at θ, or over samples of q(θ), with Laplace's volume beside it."""
    stage = StochasticStage.of(chunk, comparison)
    if not comparison.likelihood.is_gaussian:
        chunk = _not_below_start(stage, chunk)
    theta = stacked([c.thetas[0] for c in chunk], stage.bank.num_slots)
    q, value, error = _passes(stage, theta[:, np.newaxis])
    log_prior, _ = stage.priors.log_density(np.arange(len(chunk)), theta)
    laplace = stage.curvature(theta, value[:, 0] + log_prior, q)
    elbo, factor = value[:, 0], np.zeros_like(laplace.factor)
    error = error[:, 0]
    if comparison.posterior == "laplace":
        factor = laplace.factor
    if comparison.bounds_theta:
        factor = _factor(stage, chunk, theta, q)
        q, elbo, error = _integrated(stage, theta, factor)
    moments = Moments(*(part.numpy() for part in q.moments()))
    fits = []
    for k, c in enumerate(chunk):
        if not (np.isfinite(laplace.log_evidence[k]) and np.isfinite(elbo[k])):
            reason = f"no finite bound, also with a jitter of {c.jitter:g}."
            fits.append(failed_fit(c, comparison, reason))
            continue
        own = float(elbo[k]) if comparison.bounds_theta else math.nan
        fits.append(
            replace(
                local_fit(c, comparison),
                modes=(_mode(c, laplace, factor, log_prior, k, own),),
                elbo=float(elbo[k]),
                standard_error=float(error[k]),
                q_u=InducingPosterior(moments.mean[k], moments.covariance[k]),
            )
        )
    return fits


def _not_below_start(stage: StochasticStage, chunk: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, those back where their climb began that have ended below."""
    joint = []
    for place in (0, -1):
        theta = stacked([c.thetas[place] for c in chunk], stage.bank.num_slots)
        _, value, _ = _passes(stage, theta[:, np.newaxis])
        log_prior, _ = stage.priors.log_density(np.arange(len(chunk)), theta)
        joint.append(np.where(np.isfinite(value[:, 0]), value[:, 0] + log_prior, -np.inf))
    return [
        c if end >= start else replace(c, thetas=c.thetas[-1:], converged=False)
        for c, end, start in zip(chunk, *joint, strict=True)
    ]


def _mode(
    candidate: Candidate, laplace: Laplace, factor: Array, log_prior: Array, k: int, elbo: float
) -> Mode:
    H = len(candidate.layout)
    return Mode(
        laplace.mean[k, :H],
        factor[k, :H, :H],
        1.0,
        float(laplace.value[k] - log_prior[k]),
        float(log_prior[k]),
        float(laplace.log_volume[k]),
        elbo,
    )


def _passes(stage: StochasticStage, theta: Array) -> tuple[NaturalParameters, Array, Array]:
    """q(v), the bound [K, S] without KL(q(θ)‖p(θ)) and its standard error."""
    data, here = stage.comparison.data, stage.at(theta)
    size = stage.block_size(theta.shape[1])
    if stage.comparison.likelihood.is_gaussian:
        q, value = here.optimum(data.blocks(size))
        return q, value.numpy(), np.zeros(value.shape)
    q = stage.no_q()
    for _ in range(PASSES):
        q = q.mixed(here.full_step(data.blocks(size), q), STEP_LENGTH)
    blocks = islice(data.blocks(size), math.ceil(VALUE_ROWS / size))
    value, error = here.value(blocks, q)
    return q, value.numpy(), error.numpy()


def _factor(
    stage: StochasticStage, chunk: Sequence[Candidate], theta: Array, q: NaturalParameters
) -> Array:
    """Factors of q(θ): those that the climb has found, or from the curvature at fixed q(v)."""
    if all(len(c.factor) for c in chunk):
        found = np.zeros((*theta.shape, theta.shape[1]))
        for k, c in enumerate(chunk):
            found[k, : len(c.factor), : len(c.factor)] = c.factor
        return found
    shared = stage.comparison
    rows = shared.data.sample(INFORMATION_ROWS, shared.rng("conditional information"))
    precision = conditional_information(
        stage.at, theta, rows, shared.num_rows, shared.likelihood, q
    )
    precision = precision + stage.priors.precision[:, :, np.newaxis] * np.eye(theta.shape[1])
    if shared.posterior == "diagonal":
        precision = precision * np.eye(theta.shape[1])
    return from_precision(theta, precision, np.zeros(len(theta)), stage.priors).factor


def _integrated(
    stage: StochasticStage, theta: Array, factor: Array
) -> tuple[NaturalParameters, Array, Array]:
    """q(v) shared by fixed samples of q(θ), the bound [K] over them, and its standard error."""
    eta = stage.comparison.rng("samples of q(θ)").normal(size=(theta.shape[1], PAIRS)).T
    # Means of squares are one, as they should be: the bound of a parabola is then exact.
    eta /= np.sqrt(np.mean(eta**2, axis=0))
    eta = np.concatenate([eta, -eta])
    samples = theta[:, np.newaxis] + np.einsum("khj,sj->ksh", factor, eta)
    q, value, error = _passes(stage, samples)
    rows = np.repeat(np.arange(len(theta)), len(eta))
    log_prior, _ = stage.priors.log_density(rows, samples.reshape(len(rows), -1))
    joint = value + log_prior.reshape(value.shape)
    pairs = 0.5 * (joint[:, :PAIRS] + joint[:, PAIRS:])
    spread = pairs.std(axis=1, ddof=1) / math.sqrt(PAIRS)
    elbo = pairs.mean(axis=1) + entropy(factor, stage.priors.used)
    return q, elbo, np.hypot(spread, error.mean(axis=1))
