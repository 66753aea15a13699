"""Stochastic fits: rounds of minibatches, each with a fresh q(u) and one step of θ.

A round holds θ, and with it the factor of Kuu. Natural-gradient steps on some minibatches give
q(v); others give the gradient of the bound for θ, with q(u) held. θ takes a step of Newton's method
with the expected information of all rows as curvature. The cost of a round does not depend on N.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.candidate import Candidate, failed_fit, local_fit, stacked
from vbks.inference.climbing import CLIMBERS, climb_from
from vbks.inference.comparison import Comparison
from vbks.inference.evidence import CollapsedEvidence
from vbks.inference.inducing import choose_inducing
from vbks.inference.information import expected_information
from vbks.inference.laplace import Laplace, from_precision
from vbks.inference.local_fit import InducingPosterior, LocalFit, Mode
from vbks.inference.minibatch import Batch, FixedTheta, NaturalParameters
from vbks.inference.posterior import ELEMENTS_AT_ONCE, REBUILD_BELOW
from vbks.kernels import KernelBank, Priors, bank_of

SECOND_LOOK_ROWS, SECOND_LOOK_INDUCING = 2000, 100
"""Rows and inducing points at most of the look that decides from which optimum rounds start."""

SECOND_LOOK = (((6, 2),), 14)
"""How many optima go on after so many evaluations, and evaluations at most."""

RESTS = 4
"""Steps of θ, once it is at rest, that are averaged ..."""

SHORTER = 3.0
"""... of which the one after so many is half as long as the first."""

MOST_ROUNDS = 24
"""Steps of θ at most."""

NOISE_GAIN = 1.5
"""Nats that a step promises by noise alone, for each parameter and each time that the rows of a
round go into those left out: measured around 1."""

LEAST_GAIN = 0.05
"""Nats per parameter below which a step is not worth taking."""

ROWS_PER_INDUCING = 20
"""Rows for q(u) in a round, and as many for the gradient, per inducing point: fewer, and q(u) is so
uncertain that correcting for it adds more noise than the rows save."""

LEAST_ROWS = 500
"""Rows of a round at least, when inducing points are few."""

INFORMATION_ROWS = 256
"""Rows from which the information of all is computed ..."""

INFORMATION_EVERY = 3
"""... every so many rounds."""

LARGEST_STEP = 0.7
"""No entry of θ moves further in a round: a factor of two."""

BLOCK = 4096
"""Rows of a block in passes over all of them."""

PASSES = 5
"""Natural-gradient steps on all rows at the end, where no single one is exact."""

VALUE_ROWS = 200_000
"""Rows over which the bound is averaged at the end, unless noise is Gaussian."""


@dataclass(frozen=True)
class _Stage:
    """The candidates of a chunk with what all rounds need."""

    comparison: Comparison
    bank: KernelBank
    priors: Priors
    Z: tf.Tensor
    jitter: Array

    @classmethod
    def of(cls, chunk: Sequence[Candidate], comparison: Comparison) -> _Stage:
        bank = bank_of([c.expression for c in chunk], comparison.num_inputs, ard=comparison.ard)
        priors = Priors([comparison.prior_of(layout) for layout in bank.layouts], bank.num_slots)
        jitter = np.array([c.jitter for c in chunk])
        return cls(comparison, bank, priors, tf.constant(comparison.Z), jitter)

    def at(self, theta: Array) -> FixedTheta:
        """The bound at θ [K, S, H]."""
        c = self.comparison
        return FixedTheta(self.bank, theta, self.Z, c.likelihood, c.num_rows, self.jitter)

    def curvature(self, theta: Array, value: Array) -> Laplace:
        """Gaussians from the expected information of all rows and the priors."""
        c = self.comparison
        X, _ = c.data.sample(INFORMATION_ROWS, c.rng("information"))
        information = expected_information(self.bank, theta, X, c.num_rows, c.look_jitter)
        prior = self.priors.precision[:, :, None] * np.eye(theta.shape[1])
        return from_precision(theta, information + prior, value, self.priors)

    def no_q(self) -> NaturalParameters:
        """q(v) before any row was seen."""
        return NaturalParameters.prior(len(self.bank), len(self.comparison.Z))


def climb(chunk: Sequence[Candidate], comparison: Comparison) -> list[Candidate]:
    """θ of every candidate after its rounds, from the best start of its looks."""
    chunk = _second_look(chunk, comparison)
    walks = [_Walk(c, c.thetas[0]) for c in chunk]
    batches = _Batches(comparison, len(chunk))
    group, stage = walks, _Stage.of(chunk, comparison)
    for turn in range(MOST_ROUNDS):
        going = [walk for walk in walks if walk.is_going]
        if not going:
            break
        if len(going) < REBUILD_BELOW * len(group):
            group, stage = going, _Stage.of([walk.candidate for walk in going], comparison)
        _round(stage, group, batches, renew=turn % INFORMATION_EVERY == 0 or group is going)
    return [
        replace(walk.candidate, thetas=walk.result[np.newaxis], converged=walk.rests > 0)
        for walk in walks
    ]


class _Walk:
    """The way of one candidate's θ [H] through the rounds.

    It is at rest when a step promises no more than noise alone would. Then it takes a few more,
    ever shorter steps, and their average is the result.
    """

    def __init__(self, candidate: Candidate, theta: Array) -> None:
        self.candidate = candidate
        self.theta = theta
        self.covariance = np.zeros((len(theta), len(theta)))
        self.rests = 0
        self._total = np.zeros_like(theta)

    @property
    def is_going(self) -> bool:
        """Whether there are steps left to take."""
        return self.rests < RESTS

    @property
    def result(self) -> Array:
        """Where the walk has led: [H]."""
        return self._total / self.rests if self.rests else self.theta

    def step(self, gradient: Array, noise_gain: float) -> None:
        """Move along a gradient [H]; one that is not finite moves nothing."""
        move = self.covariance @ gradient
        gain = 0.5 * float(gradient @ move)
        if not np.isfinite(gain):
            return
        move /= 1.0 + self.rests / SHORTER
        self.theta = self.theta + move / max(np.abs(move).max() / LARGEST_STEP, 1.0)
        if self.rests or gain < noise_gain * len(self.theta):
            self.rests += 1
            self._total += self.theta


def _round(stage: _Stage, walks: Sequence[_Walk], batches: _Batches, renew: bool) -> None:
    """One step of θ for all walks."""
    theta = stacked([walk.theta for walk in walks], stage.bank.num_slots)
    if renew:
        factor = stage.curvature(theta, np.zeros(len(theta))).factor
        for walk, own in zip(walks, factor @ factor.swapaxes(1, 2), strict=True):
            walk.covariance = own[: len(walk.theta), : len(walk.theta)]
    here = stage.at(theta[:, np.newaxis])
    q = here.climbed(batches.take(), stage.no_q())
    slopes = here.slopes(batches.take(), q, whitened=False, excess=batches.excess)
    _, by_prior = stage.priors.log_density(np.arange(len(theta)), theta)
    gradient = slopes.gradient.numpy()[:, 0] + by_prior
    for walk, own in zip(walks, gradient, strict=True):
        if walk.is_going:
            walk.step(own[: len(walk.theta)], batches.noise_gain)


def _second_look(chunk: Sequence[Candidate], comparison: Comparison) -> list[Candidate]:
    """The best starts of the first look, compared on more rows and with more inducing points."""
    X, y = comparison.data.sample(SECOND_LOOK_ROWS, comparison.rng("second look"))
    Z = comparison.Z
    if len(Z) > SECOND_LOOK_INDUCING:
        Z = choose_inducing(X, SECOND_LOOK_INDUCING, comparison.rng("second look"))
    jitter = max(comparison.look_jitter, *(c.jitter for c in chunk))
    evidence = CollapsedEvidence(X, comparison.likelihood.pseudo_targets(y), Z, jitter)
    starts = [c.thetas[:CLIMBERS] for c in chunk]
    return climb_from(chunk, starts, comparison, evidence, *SECOND_LOOK)


class _Batches:
    """The minibatches of rounds: as many as make up the rows of one half of a round.

    With Gaussian noise natural-gradient steps are an average over rows, so several small
    minibatches are computed as one.
    """

    def __init__(self, comparison: Comparison, num_candidates: int) -> None:
        wanted = max(LEAST_ROWS, ROWS_PER_INDUCING * comparison.num_inducing)
        self.comparison = comparison
        self.size = min(comparison.batch_size, comparison.num_rows)
        self.count = max(1, round(wanted / self.size))
        self.takes_all = self.count * self.size >= comparison.num_rows
        self.at_once = 1
        if comparison.likelihood.is_gaussian:
            elements = num_candidates * comparison.num_inducing * self.size
            self.at_once = max(1, min(self.count, ELEMENTS_AT_ONCE // elements))
        self._endless = comparison.data.minibatches(self.size, comparison.seed)

    @property
    def excess(self) -> float:
        """By how much the variance of a mean from these rows exceeds that from all rows."""
        if self.takes_all:
            return 0.0
        return self.comparison.num_rows / (self.count * self.size) - 1.0

    @property
    def noise_gain(self) -> float:
        """Nats for each parameter that a step may promise at rest."""
        return NOISE_GAIN * self.excess + LEAST_GAIN

    def take(self) -> Iterator[Batch]:
        """The rows of half a round: all of them if that is what it takes."""
        if self.takes_all:
            return self.comparison.data.blocks(self.comparison.num_rows)
        batches = islice(self._endless, self.count)
        return map(_joined, iter(lambda: list(islice(batches, self.at_once)), []))


def _joined(batches: Sequence[Batch]) -> Batch:
    X, y = zip(*batches, strict=True)
    return np.concatenate(X), np.concatenate(y)


def finish(chunk: Sequence[Candidate], comparison: Comparison) -> list[LocalFit]:
    """q(u) and the bound from passes over the data, at θ or over samples of q(θ)."""
    stage = _Stage.of(chunk, comparison)
    theta = stacked([c.thetas[0] for c in chunk], stage.bank.num_slots)
    q, value, error = _last_passes(stage, theta[:, None])
    log_prior, _ = stage.priors.log_density(np.arange(len(chunk)), theta)
    laplace = stage.curvature(theta, value[:, 0] + log_prior)
    moments = q.moments()
    means, covariances = moments.mean.numpy(), moments.covariance.numpy()
    fits = []
    for k, c in enumerate(chunk):
        H = len(c.layout)
        mode = Mode(
            theta[k, :H],
            np.zeros((H, H)),
            1.0,
            float(value[k, 0]),
            float(log_prior[k]),
            float(laplace.log_volume[k]),
        )
        if not np.isfinite(laplace.log_evidence[k]):
            reason = f"no finite bound, also with a jitter of {c.jitter:g}."
            fits.append(failed_fit(c, comparison, reason))
            continue
        fits.append(
            replace(
                local_fit(c, comparison),
                modes=(mode,),
                elbo=float(value[k, 0]),
                standard_error=float(error[k, 0]),
                q_u=InducingPosterior(means[k], covariances[k]),
            )
        )
    return fits


def _last_passes(stage: _Stage, theta: Array) -> tuple[NaturalParameters, Array, Array]:
    """q(v), the bound [K, S] and its standard error, from passes over the data."""
    data, here = stage.comparison.data, stage.at(theta)
    if stage.comparison.likelihood.is_gaussian:
        q, value = here.optimum(data.blocks(BLOCK))
        return q, value.numpy(), np.zeros(value.shape)
    q = stage.no_q()
    for _ in range(PASSES):
        q = here.full_step(data.blocks(BLOCK), q)
    blocks = islice(data.blocks(BLOCK), math.ceil(VALUE_ROWS / BLOCK))
    value, error = here.value(blocks, q)
    return q, value.numpy(), error.numpy()
