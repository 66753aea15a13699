"""Stochastic fits: SVGP steps on minibatches, each with a fresh q(u) and one step of θ.

A step holds θ, and with it the factor of Kuu. Natural-gradient steps on some minibatches give q(v);
others give the gradient of the bound for θ, with q(u) held. θ takes a step of Newton's method with
the expected information of all rows as curvature. The cost of a step does not depend on N.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.execution.stage_state import NO_STAGE_STATE, StageState
from vbks.inference.candidate import Candidate, final_start, stacked
from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import REBUILD_BELOW
from vbks.inference.objectives.natural_parameters import NaturalParameters
from vbks.inference.optimise import given_up
from vbks.inference.rungs import optimise, screen_before_svgp
from vbks.inference.svgp.minibatches import StepBatches
from vbks.inference.svgp.stage import StochasticStage
from vbks.inference.svgp.trajectory import NewtonTrajectory


def take_steps(
    chunk: Sequence[Candidate], context: FitContext, stage_state: StageState = NO_STAGE_STATE
) -> list[Candidate]:
    """θ of every candidate after its steps, from the best optimum of its screenings."""
    if context.is_small:
        return optimise(chunk, context)
    screened = _screened(chunk, context)
    chunk = [c for c in screened if c.is_going]
    if not chunk:
        return screened
    steps = _Steps(
        [NewtonTrajectory(c, final_start(c, context), context.svgp) for c in chunk], context
    )
    kept = stage_state.read()
    if kept is not None:
        steps.restore(kept)
    while steps.are_left:
        steps.take()
        stage_state.keep(steps.state)
    done = iter(steps.trajectories)
    return [next(done).ended() if c.is_going else c for c in screened]


class _Steps:
    """The steps of a chunk, those that are at rest out of the way once they are many."""

    def __init__(self, trajectories: Sequence[NewtonTrajectory], context: FitContext) -> None:
        self.trajectories, self.context = trajectories, context
        self.batches = StepBatches(context, len(trajectories))
        self.turn = 0
        self.q: NaturalParameters | None = None
        self.group = list(range(len(trajectories)))
        self.stage = self._stage()

    @property
    def are_left(self) -> bool:
        """Whether there are steps left to take."""
        is_over = self.turn >= self.context.svgp.max_steps
        return not is_over and any(t.is_going for t in self.trajectories)

    def take(self) -> None:
        """One step of all."""
        going = [k for k, trajectory in enumerate(self.trajectories) if trajectory.is_going]
        if len(going) < REBUILD_BELOW * len(self.group):
            self._gather(going)
        renew = self.q is None or self.turn % self.context.svgp.information_every == 0
        trajectories = [self.trajectories[k] for k in self.group]
        self.q = take_step(self.stage, trajectories, self.batches, self.q, renew=renew)
        self.turn += 1

    def state(self) -> dict[str, Array]:
        """All that the steps to come depend on."""
        assert self.q is not None
        return {
            "turn": np.array([self.turn, self.batches.num_taken]),
            "group": np.array(self.group),
            "trajectories": np.concatenate([t.numbers() for t in self.trajectories]),
            "precision": self.q.precision.numpy(),
            "linear": self.q.linear.numpy(),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from a state."""
        turn, num_taken = state["turn"].astype(int)
        start = 0
        for trajectory in self.trajectories:
            size = len(trajectory.numbers())
            trajectory.restore(state["trajectories"][start : start + size])
            start += size
        self._gather([int(k) for k in state["group"]])
        K, M = len(self.group), len(self.context.Z)
        self.q = NaturalParameters(
            tf.constant(state["precision"].reshape(K, M, M)),
            tf.constant(state["linear"].reshape(K, M)),
        )
        self.turn = int(turn)
        self.batches.skip(int(num_taken))

    def _gather(self, group: list[int]) -> None:
        """Have only these trajectories take part from now on."""
        self.group, self.q = group, None
        self.stage = self._stage()

    def _stage(self) -> StochasticStage:
        candidates = [self.trajectories[k].candidate for k in self.group]
        return StochasticStage.of(candidates, self.context)


def _screened(chunk: Sequence[Candidate], context: FitContext) -> list[Candidate]:
    """Candidates with the optimum to start from; who goes on from an earlier fit has one."""
    fresh = [c for c in chunk if not c.has_begun]
    screened = iter(screen_before_svgp(fresh, context) if fresh else ())
    return [c if c.has_begun else given_up(next(screened)) for c in chunk]


def take_step(
    stage: StochasticStage,
    trajectories: Sequence[NewtonTrajectory],
    batches: StepBatches,
    q: NaturalParameters | None,
    *,
    renew: bool,
) -> NaturalParameters:
    """One step of θ for all candidates, from the q(v) of the step before; the new q(v)."""
    stage = replace(stage, jitter=np.array([t.candidate.jitter for t in trajectories]))
    theta = stacked([t.theta for t in trajectories], stage.bank.num_slots)
    here = stage.at(theta[:, np.newaxis])
    start = stage.no_q() if q is None else q.or_prior()
    q = here.fitted(batches.take(), start, stage.context.svgp.q_steps)
    if renew:
        factor = stage.curvature(theta, np.zeros(len(theta)), q).factor
        for trajectory, own in zip(trajectories, factor @ factor.swapaxes(1, 2), strict=True):
            if not trajectory.is_corrected:
                trajectory.covariance = own[: len(trajectory.theta), : len(trajectory.theta)]
    slopes = here.slopes(batches.take(), q.moments(), whitened=False, excess=batches.excess)
    noise_only = np.full(len(theta), np.nan)
    log_prior, by_prior = stage.priors.log_density(np.arange(len(theta)), theta)
    gradient = slopes.gradient.numpy()[:, 0] + by_prior
    values = slopes.value.numpy()[:, 0] + log_prior if batches.takes_all else noise_only
    for trajectory, own, value in zip(trajectories, gradient, values, strict=True):
        if trajectory.is_going:
            trajectory.step(own[: len(trajectory.theta)], batches.noise_gain, value)
    return q
