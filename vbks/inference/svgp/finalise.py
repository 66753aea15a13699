"""The end of stochastic fits: q(θ), q(u) and the bound, from passes over all rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Mask
from vbks.inference.approximations.base_samples import base_samples
from vbks.inference.approximations.laplace import Laplace
from vbks.inference.approximations.variational import diagonal_factor, entropy
from vbks.inference.candidate import Candidate, failed_fit, local_fit, stacked
from vbks.inference.context import FitContext
from vbks.inference.objectives.natural_parameters import Moments, NaturalParameters, natural_ascent
from vbks.inference.objectives.svgp import Batch
from vbks.inference.result import ConditionalPosteriors, InducingPosterior, LocalFit, Mode
from vbks.inference.svgp.mean_field import MeanField
from vbks.inference.svgp.stage import StochasticStage

FALL = 1.0
"""A fit fails if its bound has fallen by more nats than this, beside three standard errors: a
tolerance of rounding and sampling."""


class _Passed(NamedTuple):
    """q(v) at one θ of each candidate, the bound without q(θ) and its standard error [K]."""

    q: NaturalParameters
    value: Array
    error: Array
    converged: Mask


def finalise(chunk: Sequence[Candidate], context: FitContext) -> list[LocalFit]:
    """q(u) and the bound at θ, or over samples of q(θ), with Laplace's volume beside it."""
    stage = StochasticStage.of(chunk, context)
    theta = stacked([c.thetas[0] for c in chunk], stage.bank.num_slots)
    passed = _passes(stage, theta)
    log_prior, _ = stage.priors.log_density(np.arange(len(chunk)), theta)
    laplace = stage.curvature(theta, passed.value + log_prior, passed.q)
    fell = _falls(stage, chunk, passed, log_prior)
    ends = _ends(stage, chunk, theta, passed, laplace)
    moments = Moments(*(part.numpy() for part in ends.q.moments()))
    fits = []
    for k, c in enumerate(chunk):
        reason = fell[k]
        if not (np.isfinite(laplace.log_evidence[k]) and np.isfinite(ends.elbo[k])):
            reason = f"no finite bound, also with a jitter of {c.jitter:g}."
        if reason:
            fits.append(failed_fit(c, context, reason))
            continue
        own = float(ends.elbo[k]) if context.bounds_theta else math.nan
        fits.append(
            replace(
                local_fit(c, context),
                modes=(_mode(c, laplace, ends.factor, log_prior, k, own),),
                elbo=float(ends.elbo[k]),
                standard_error=float(ends.error[k]),
                q_u=InducingPosterior(moments.mean[k], moments.covariance[k], ends.samples[k]),
                converged=c.converged and bool(ends.converged[k]),
            )
        )
    return fits


class _Ends(NamedTuple):
    """What a kind of q(θ) leads to: its factor [K, H, H], q(u), the bound [K] and its error.

    Also q(u|θ) at samples of θ, and whether every q(u) has converged [K].
    """

    factor: Array
    q: NaturalParameters
    elbo: Array
    error: Array
    samples: list[ConditionalPosteriors | None]
    converged: Mask


def _ends(
    stage: StochasticStage,
    chunk: Sequence[Candidate],
    theta: Array,
    passed: _Passed,
    laplace: Laplace,
) -> _Ends:
    context = stage.context
    none: list[ConditionalPosteriors | None] = [None] * len(chunk)
    if context.posterior == "point":
        no_factor = np.zeros_like(laplace.factor)
        return _Ends(no_factor, *passed[:3], none, passed.converged)
    if all(len(c.factor) for c in chunk):
        factor = _climbed_factor(chunk, theta)
        field = _mean_field(stage, chunk, theta, factor, passed.q)
        return _Ends(factor, *field, none, passed.converged)
    factor = diagonal_factor(laplace) if context.posterior == "diagonal" else laplace.factor
    if not context.bounds_theta and context.num_rows > context.svgp.sampled_rows:
        return _Ends(factor, *passed[:3], none, passed.converged)
    samples = _samples(stage, chunk, theta, factor)
    found = _given_samples(stage, theta, samples, passed.q)
    value, error = passed.value, passed.error
    if context.bounds_theta:
        value, error = _integrated(stage, samples, factor, found)
    arrived = (found.converged | ~np.isfinite(found.value)).reshape(samples.shape[:2])
    converged = passed.converged & arrived.all(axis=1)
    return _Ends(factor, passed.q, value, error, _conditionals(chunk, samples, found), converged)


def _falls(
    stage: StochasticStage, chunk: Sequence[Candidate], passed: _Passed, log_prior: Array
) -> list[str]:
    """Why candidates have failed whose bound is lower than where their steps began; or nothing."""
    if stage.context.likelihood.is_gaussian:
        return [""] * len(chunk)
    theta = stacked([c.thetas[-1] for c in chunk], stage.bank.num_slots)
    before = _passes(stage, theta)
    prior_before, _ = stage.priors.log_density(np.arange(len(chunk)), theta)
    fall = before.value + prior_before - passed.value - log_prior
    limit = FALL + 3.0 * np.hypot(before.error, passed.error)
    return [
        f"its bound fell by {fall[k]:.1f} nats while θ was optimised."
        if np.isfinite(fall[k]) and fall[k] > limit[k]
        else ""
        for k in range(len(chunk))
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


def _passes(stage: StochasticStage, theta: Array) -> _Passed:
    """The best q(v) at θ [K, H], and the bound with it."""
    data, here = stage.context.data, stage.at(theta[:, np.newaxis])
    size = stage.block_size()
    if stage.context.likelihood.is_gaussian:
        q, value = here.optimum(data.blocks(size))
        return _Passed(q, value.numpy()[:, 0], np.zeros(len(theta)), np.ones(len(theta), bool))
    passes = stage.context.svgp.final_passes
    found = here.ascended(lambda: data.blocks(size), stage.no_q(), passes)
    value, error = here.value(_value_blocks(stage, size), found.q.moments())
    return _Passed(found.q, value.numpy()[:, 0], error.numpy()[:, 0], found.converged.numpy())


def _value_blocks(stage: StochasticStage, size: int) -> Iterator[Batch]:
    num_rows = stage.context.svgp.value_rows
    return islice(stage.context.data.blocks(size), math.ceil(num_rows / size))


def _samples(
    stage: StochasticStage, chunk: Sequence[Candidate], mean: Array, factor: Array
) -> Array:
    """Samples of q(θ) that are the same whatever other candidates there are: [K, S, H]."""
    num = stage.context.svgp.samples
    samples = np.repeat(mean[:, np.newaxis], num, axis=1)
    for k, c in enumerate(chunk):
        H = len(c.layout)
        eta = base_samples(num, H, stage.context.seed)
        samples[k, :, :H] += eta @ factor[k, :H, :H].T
    return samples


def _given_samples(
    stage: StochasticStage, theta: Array, samples: Array, q: NaturalParameters
) -> _Passed:
    """The best q(v|θ) at samples of θ [K, S, H], from the q(v) at θ [K, H]: rows k·S + s."""
    K, S, H = samples.shape
    rows, data = stage.repeated(S), stage.context.data
    here, size = rows.at(samples.reshape(K * S, 1, H)), rows.block_size()
    if stage.context.likelihood.is_gaussian:
        best, value = here.optimum(data.blocks(size))
        return _Passed(best, value.numpy()[:, 0], np.zeros(K * S), np.ones(K * S, bool))
    base = tf.repeat(stage.at(theta[:, np.newaxis]).L[:, 0], S, axis=0)
    passes = stage.context.svgp.final_passes
    start = q.repeated(S).under_prior(tf.linalg.triangular_solve(base, here.L[:, 0]))
    found = here.ascended(lambda: data.blocks(size), start.or_prior(), passes)
    value, error = here.value(_value_blocks(stage, size), found.q.moments())
    return _Passed(found.q, value.numpy()[:, 0], error.numpy()[:, 0], found.converged.numpy())


def _conditionals(
    chunk: Sequence[Candidate], samples: Array, passed: _Passed
) -> list[ConditionalPosteriors | None]:
    """What fits keep: q(v|θ) at those samples of θ where it has finite moments."""
    K, S, _ = samples.shape
    moments = passed.q.moments()[:2]
    mean, covariance = (part.numpy().reshape(K, S, *part.shape[1:]) for part in moments)
    found: list[ConditionalPosteriors | None] = []
    for k, c in enumerate(chunk):
        finite = np.flatnonzero(np.isfinite(mean[k].sum(axis=1) + covariance[k].sum(axis=(1, 2))))
        own = samples[k, finite, : len(c.layout)], mean[k, finite], covariance[k, finite]
        found.append(ConditionalPosteriors(*own) if len(finite) else None)
    return found


def _integrated(
    stage: StochasticStage, samples: Array, factor: Array, passed: _Passed
) -> tuple[Array, Array]:
    """The bound with q(θ) q(u|θ) [K], and its standard error."""
    value, error = (part.reshape(samples.shape[:2]) for part in (passed.value, passed.error))
    return _over_theta(stage, samples, factor, value, error)


def _over_theta(
    stage: StochasticStage, samples: Array, factor: Array, value: Array, error: Array
) -> tuple[Array, Array]:
    """The bound over q(θ) [K] from that at its samples [K, S], and its standard error."""
    rows = np.repeat(np.arange(len(samples)), samples.shape[1])
    log_prior, _ = stage.priors.log_density(rows, samples.reshape(len(rows), -1))
    joint = value + log_prior.reshape(value.shape)
    num = value.shape[1] // 2
    pairs = 0.5 * (joint[:, :num] + joint[:, num:])
    spread = pairs.std(axis=1, ddof=1) / math.sqrt(num)
    elbo = pairs.mean(axis=1) + entropy(factor, stage.priors.used)
    return elbo, np.hypot(spread, error.mean(axis=1))


def _climbed_factor(chunk: Sequence[Candidate], theta: Array) -> Array:
    """Factors of q(θ) that plain ascent has found: [K, H, H]."""
    found = np.zeros((*theta.shape, theta.shape[1]))
    for k, c in enumerate(chunk):
        found[k, : len(c.factor), : len(c.factor)] = c.factor
    return found


def _mean_field(
    stage: StochasticStage,
    chunk: Sequence[Candidate],
    theta: Array,
    factor: Array,
    start: NaturalParameters,
) -> tuple[NaturalParameters, Array, Array]:
    """A q(u) that samples of q(θ) share, the bound [K] over them, and its standard error."""
    samples = _samples(stage, chunk, theta, factor)
    field, data = MeanField(stage, theta, samples), stage.context.data
    size = field.block_size
    if stage.context.likelihood.is_gaussian:
        q = field.best_gaussian(data.blocks(size))
    else:
        passes = stage.context.svgp.final_passes
        q = natural_ascent(
            lambda own: field.step_and_value(data.blocks(size), own), start, passes
        ).q
    blocks = data.blocks(size)
    if not stage.context.likelihood.is_gaussian:
        blocks = _value_blocks(stage, size)
    return q, *_over_theta(stage, samples, factor, *field.value(blocks, q))
