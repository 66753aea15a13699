"""Stochastic fits: rounds of minibatches, each with a fresh q(u) and one step of θ.

A round holds θ, and with it the factor of Kuu. Natural-gradient steps on some minibatches give
q(v); others give the gradient of the bound for θ, with q(u) held. θ takes a step of Newton's method
with the expected information of all rows as curvature. The cost of a round does not depend on N.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.execution.stage_state import NO_STAGE_STATE, StageState
from vbks.inference import climbing
from vbks.inference.candidate import Candidate, final_start, stacked
from vbks.inference.climbing import second_look
from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import ELEMENTS_AT_ONCE, REBUILD_BELOW
from vbks.inference.objectives.svgp import Batch, NaturalParameters
from vbks.inference.svgp.stage import StochasticStage

RESTS = 4
"""Steps of θ that are averaged once it is at rest."""

SHORTER = 3.0
"""Of the averaged steps, the one after this many is half as long as the first."""

MOST_ROUNDS = 24
"""Steps of θ at most."""

NOISE_GAIN = 1.5
"""Nats that a step promises by noise alone, for each parameter and each time that the rows of a
round go into those left out: measured around 1."""

CLEAR = 3.0
"""Times the gain by noise alone that a step must promise for its gradient to tell of curvature."""

LEAST_GAIN = 0.05
"""Nats per parameter below which a step is not worth taking."""

ROWS_PER_INDUCING = 20
"""Rows for q(u) in a round, and as many for the gradient, per inducing point: fewer, and q(u) is so
uncertain that correcting for it adds more noise than the rows save."""

LEAST_ROWS = 500
"""Rows of a round at least, when inducing points are few."""

INFORMATION_EVERY = 3
"""Rounds after which the curvature is computed again."""

WORSE = 0.5
"""A step on all rows is taken back if it lowers the value by more nats than this."""

SHRINK = 0.25
"""Factor on the length of steps after one was taken back."""

MOST_JITTER = 1e-3
"""Jitter at most for a candidate whose matrices cannot be factorised."""

LARGEST_STEP = 0.7
"""No entry of θ moves further in a round: a factor of two."""


def climb(
    chunk: Sequence[Candidate], comparison: FitContext, scratch: StageState = NO_STAGE_STATE
) -> list[Candidate]:
    """θ of every candidate after its rounds, from the best start of its looks."""
    if comparison.is_small:
        return climbing.climb(chunk, comparison)
    looked = _second_looks(chunk, comparison)
    chunk = [c for c in looked if c.is_going]
    if not chunk:
        return looked
    rounds = _Rounds([Walk(c, final_start(c, comparison)) for c in chunk], comparison)
    kept = scratch.read()
    if kept is not None:
        rounds.restore(kept)
    while rounds.are_going:
        rounds.take()
        scratch.keep(rounds.state)
    done = iter(rounds.walks)
    return [next(done).ended() if c.is_going else c for c in looked]


class _Rounds:
    """The rounds of a chunk, those that are at rest out of the way once they are many."""

    def __init__(self, walks: Sequence[Walk], comparison: FitContext) -> None:
        self.walks, self.comparison = walks, comparison
        self.batches = Batches(comparison, len(walks))
        self.turn = 0
        self.q: NaturalParameters | None = None
        self.group = list(range(len(walks)))
        self.stage = self._stage()

    @property
    def are_going(self) -> bool:
        """Whether there are steps left to take."""
        return self.turn < MOST_ROUNDS and any(walk.is_going for walk in self.walks)

    def take(self) -> None:
        """One round."""
        going = [k for k, walk in enumerate(self.walks) if walk.is_going]
        if len(going) < REBUILD_BELOW * len(self.group):
            self._gather(going)
        renew = self.q is None or self.turn % INFORMATION_EVERY == 0
        walks = [self.walks[k] for k in self.group]
        self.q = take_round(self.stage, walks, self.batches, self.q, renew=renew)
        self.turn += 1

    def state(self) -> dict[str, Array]:
        """All that the rounds to come depend on."""
        assert self.q is not None
        return {
            "turn": np.array([self.turn, self.batches.num_taken]),
            "group": np.array(self.group),
            "walks": np.concatenate([walk.numbers() for walk in self.walks]),
            "precision": self.q.precision.numpy(),
            "linear": self.q.linear.numpy(),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from a state."""
        turn, num_taken = state["turn"].astype(int)
        start = 0
        for walk in self.walks:
            size = len(walk.numbers())
            walk.restore(state["walks"][start : start + size])
            start += size
        self._gather([int(k) for k in state["group"]])
        K, M = len(self.group), len(self.comparison.Z)
        self.q = NaturalParameters(
            tf.constant(state["precision"].reshape(K, M, M)),
            tf.constant(state["linear"].reshape(K, M)),
        )
        self.turn = int(turn)
        self.batches.skip(int(num_taken))

    def _gather(self, group: list[int]) -> None:
        """Have only these walks take part from now on."""
        self.group, self.q = group, None
        self.stage = self._stage()

    def _stage(self) -> StochasticStage:
        candidates = [self.walks[k].candidate for k in self.group]
        return StochasticStage.of(candidates, self.comparison)


def _second_looks(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """Candidates with the optimum to start from; who goes on from an earlier fit has one."""
    fresh = [c for c in chunk if not c.has_begun]
    looked = iter(second_look(fresh, comparison) if fresh else ())
    return [c if c.has_begun else climbing.given_up(next(looked)) for c in chunk]


class Walk:
    """The way of one candidate's θ [H] through the rounds.

    It is at rest when a step promises no more than noise alone would. Then it takes a few more,
    ever shorter steps, and their average is the result.
    """

    def __init__(self, candidate: Candidate, theta: Array) -> None:
        self.candidate = candidate
        self.theta = self.start = self._before = theta
        self.covariance = np.zeros((len(theta), len(theta)))
        self.is_corrected = False
        self.rests = 0
        self._slope: Array | None = None
        self._highest = -np.inf
        self._total = np.zeros_like(theta)

    @property
    def is_going(self) -> bool:
        """Whether there are steps left to take."""
        return self.rests < RESTS

    @property
    def result(self) -> Array:
        """Where the walk has led: [H]."""
        return self._total / self.rests if self.rests else self.theta

    def ended(self) -> Candidate:
        """The candidate with the result."""
        return replace(
            self.candidate, thetas=np.stack([self.result, self.start]), converged=self.rests > 0
        )

    def numbers(self) -> Array:
        """All that the steps to come depend on, in one row."""
        slope = np.full_like(self.theta, np.nan) if self._slope is None else self._slope
        others = [self.is_corrected, self.rests, self._highest, self.candidate.jitter]
        vectors = (self.theta, self.start, self._before, self._total, slope)
        return np.concatenate([*vectors, self.covariance.ravel(), others])

    def restore(self, numbers: Array) -> None:
        """Be where another walk of the same candidate was."""
        H = len(self.theta)
        self.theta, self.start, self._before, self._total, slope = numbers[: 5 * H].reshape(5, H)
        self._slope = None if np.isnan(slope).any() else slope
        self.covariance = numbers[5 * H : -4].reshape(H, H)
        self.is_corrected, self.rests = bool(numbers[-4]), int(numbers[-3])
        self._highest = float(numbers[-2])
        self.candidate = replace(self.candidate, jitter=float(numbers[-1]))

    def step(self, gradient: Array, noise_gain: float, value: float = np.nan) -> None:
        """Move along a gradient [H]; one that is not finite takes back the step before.

        So does a value that has fallen, if it is known, and steps become shorter.
        """
        noise_gain *= len(self.theta)
        if not np.isfinite(gradient).all():
            self._take_back()
            return
        if value < self._highest - WORSE:
            self.theta, self._slope = self._before, None
            self.covariance = SHRINK * self.covariance
            self.is_corrected = True
            self._highest = -np.inf
            return
        self._highest = value
        if 0.5 * float(gradient @ self.covariance @ gradient) > CLEAR * noise_gain:
            self._correct(gradient)
        move = self.covariance @ gradient
        gain = 0.5 * float(gradient @ move)
        move /= 1.0 + self.rests / SHORTER
        self._before, self._slope = self.theta, gradient
        self.theta = self.theta + move / max(np.abs(move).max() / LARGEST_STEP, 1.0)
        if self.rests or gain < noise_gain:
            self.rests += 1
            self._total += self.theta

    def _correct(self, gradient: Array) -> None:
        """Let the change of the gradient over the last step correct the curvature (BFGS).

        Few inducing points make the bound bend more sharply than the information of rows says.
        """
        if self._slope is None:
            return
        step, change = self.theta - self._before, self._slope - gradient
        product = float(step @ change)
        if product > 1e-8 * np.linalg.norm(step) * np.linalg.norm(change):
            shift = np.eye(len(step)) - np.outer(step, change) / product
            self.covariance = shift @ self.covariance @ shift.T + np.outer(step, step) / product
            self.is_corrected = True

    def _take_back(self) -> None:
        self.theta, self._slope = self._before, None
        now = self.candidate.jitter
        more = max(now, min(max(now, 1e-8) * climbing.MORE_JITTER, MOST_JITTER))
        self.candidate = replace(self.candidate, jitter=more)


def take_round(
    stage: StochasticStage,
    walks: Sequence[Walk],
    batches: Batches,
    q: NaturalParameters | None,
    *,
    renew: bool,
) -> NaturalParameters:
    """One step of θ for all walks, from the q(v) of the round before; the new q(v)."""
    stage = replace(stage, jitter=np.array([walk.candidate.jitter for walk in walks]))
    theta = stacked([walk.theta for walk in walks], stage.bank.num_slots)
    here = stage.at(theta[:, np.newaxis])
    q = here.fitted(batches.take(), stage.no_q() if q is None else q.or_prior())
    if renew:
        factor = stage.curvature(theta, np.zeros(len(theta)), q).factor
        for walk, own in zip(walks, factor @ factor.swapaxes(1, 2), strict=True):
            if not walk.is_corrected:
                walk.covariance = own[: len(walk.theta), : len(walk.theta)]
    slopes = here.slopes(batches.take(), q.moments(), whitened=False, excess=batches.excess)
    noise_only = np.full(len(theta), np.nan)
    log_prior, by_prior = stage.priors.log_density(np.arange(len(theta)), theta)
    gradient = slopes.gradient.numpy()[:, 0] + by_prior
    values = slopes.value.numpy()[:, 0] + log_prior if batches.takes_all else noise_only
    for walk, own, value in zip(walks, gradient, values, strict=True):
        if walk.is_going:
            walk.step(own[: len(walk.theta)], batches.noise_gain, value)
    return q


class Batches:
    """The minibatches of rounds: as many as make up the rows of one half of a round.

    With Gaussian noise natural-gradient steps are an average over rows, so several small
    minibatches are computed as one.
    """

    def __init__(self, comparison: FitContext, num_candidates: int) -> None:
        wanted = max(LEAST_ROWS, ROWS_PER_INDUCING * comparison.num_inducing)
        self.comparison = comparison
        self.size = min(comparison.batch_size, comparison.num_rows)
        self.count = max(1, round(wanted / self.size))
        self.takes_all = self.count * self.size >= comparison.num_rows
        self.at_once = 1
        if comparison.likelihood.is_gaussian:
            elements = num_candidates * comparison.num_inducing * self.size
            self.at_once = max(1, min(self.count, ELEMENTS_AT_ONCE // elements))
        self.num_taken = 0
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
        self.num_taken += self.count
        batches = islice(self._endless, self.count)
        return map(_joined, iter(lambda: list(islice(batches, self.at_once)), []))

    def skip(self, num: int) -> None:
        """Leave out the next ``num`` minibatches, which were taken before."""
        self.num_taken += num
        next(islice(self._endless, num, num), None)


def _joined(batches: Sequence[Batch]) -> Batch:
    X, y = zip(*batches, strict=True)
    return np.concatenate(X), np.concatenate(y)
