"""Plain stochastic gradient ascent on q(u) and q(θ) together, as in the VBKS paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.execution.stage_state import NO_STAGE_STATE, StageState
from vbks.inference.candidate import Candidate, final_start, stacked
from vbks.inference.context import FitContext
from vbks.inference.objectives.natural_parameters import Moments
from vbks.inference.objectives.svgp import Slopes
from vbks.inference.seeds import Seed
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.svgp.stage import StochasticStage

START_SD = 0.05
"""q(θ) has this standard deviation in the beginning: a numerical constant, narrow on a logarithmic
scale."""


def ascend(
    chunk: Sequence[Candidate], context: FitContext, stage_state: StageState = NO_STAGE_STATE
) -> list[Candidate]:
    """θ, and the factor of q(θ) unless it is a point, after all steps from the best optimum of the
    screening."""
    stage = StochasticStage.of(chunk, context)
    theta = stacked([final_start(c, context) for c in chunk], stage.bank.num_slots)
    state = _State(stage, theta)
    rng = context.rng(Seed.PLAIN_ASCENT)
    batches = context.data.minibatches(context.batch_size, context.seed)
    first = state.restore(stage_state.read())
    next(islice(batches, first, first), None)
    rng.normal(size=(first, *theta.shape))
    policy = context.svgp
    for step, batch in zip(range(first, policy.plain_steps), batches, strict=False):
        state.step(batch, rng.normal(size=theta.shape), _rate(step, policy))
        stage_state.keep(partial(state.numbers, step + 1))
    mean, factor = state.theta.numpy(), state.factor()
    return [
        replace(
            c,
            thetas=mean[k : k + 1, : len(c.layout)],
            factor=factor[k, : len(c.layout), : len(c.layout)] if factor is not None else c.factor,
            converged=bool(np.isfinite(mean[k]).all()),
        )
        for k, c in enumerate(chunk)
    ]


def _rate(step: int, policy: SvgpPolicy) -> float:
    """A cosine from the first rate to a hundredth of it."""
    share = 0.01 + 0.495 * (1.0 + math.cos(math.pi * step / policy.plain_steps))
    return policy.plain_rate * share


class _State:
    """Variables of all candidates: θ [K, H], the factor of q(θ), mean and root of q(w).

    A point has w = L⁻¹u at the θ of the step. With q(θ), q(u) does not depend on θ, and w = L₀⁻¹u
    at the first θ.
    """

    def __init__(self, stage: StochasticStage, theta: Array) -> None:
        self.stage = stage
        K, H, M = *theta.shape, len(stage.context.Z)
        self.theta = tf.Variable(theta)
        self.mean = tf.Variable(np.zeros((K, M)))
        self.root = tf.Variable(np.tile(np.eye(M), (K, 1, 1)))
        self.log_sd = tf.Variable(np.full((K, H), np.log(START_SD)))
        self.below = tf.Variable(np.zeros((K, H, H)))
        self.has_factor = stage.context.bounds_theta
        self.is_diagonal = stage.context.posterior == "diagonal"
        self.base = stage.at(theta[:, np.newaxis]).L[:, 0] if self.has_factor else None
        self.optimiser = gpflow.keras.tf_keras.optimizers.Adam()

    def numbers(self, steps: int) -> dict[str, Array]:
        """The state after ``steps`` steps, on which all later ones depend."""
        variables = [v.numpy() for v in (*self._own, *self.optimiser.variables)]
        return {"steps": np.array([steps])} | {f"v{i}": v for i, v in enumerate(variables)}

    def restore(self, numbers: dict[str, Array] | None) -> int:
        """Go on from what was kept, if anything was; the steps that were taken."""
        if numbers is None:
            return 0
        self.optimiser.build(self._own)
        for i, variable in enumerate((*self._own, *self.optimiser.variables)):
            value = numbers[f"v{i}"].reshape(variable.shape)
            variable.assign(tf.cast(value, variable.dtype))
        return int(numbers["steps"][0])

    @property
    def _own(self) -> list[tf.Variable]:
        """The variables that change, in the order in which they are given to the optimiser."""
        own = [self.theta, self.mean, self.root]
        return [*own, self.log_sd, self.below] if self.has_factor else own

    def factor(self) -> Array | None:
        """The factor of q(θ): [K, H, H], zero where θ is not used."""
        if not self.has_factor:
            return None
        diagonal = np.exp(self.log_sd.numpy())[..., np.newaxis] * np.eye(self.theta.shape[1])
        below = np.tril(self.below.numpy(), -1) * (not self.is_diagonal)
        used = self.stage.priors.used
        return np.asarray((diagonal + below) * (used[:, :, np.newaxis] & used[:, np.newaxis, :]))

    def step(self, batch: tuple[Array, Array], eta: Array, rate: float) -> None:
        """One step of all variables along their gradients on a minibatch."""
        factor = self.factor()
        theta = self.theta.numpy()
        if factor is not None:
            theta = theta + np.einsum("khj,kj->kh", factor, eta)
        here = self.stage.at(theta[:, np.newaxis])
        change = None if self.base is None else tf.linalg.triangular_solve(here.L[:, 0], self.base)
        q, whitened = self._moments(change), change is None
        slopes = here.slopes([batch], q, whitened=whitened)
        _, by_prior = self.stage.priors.log_density(np.arange(len(theta)), theta)
        used = self.stage.priors.used
        by_theta = np.where(used, slopes.gradient.numpy()[:, 0] + by_prior, 0.0)
        changes = [(by_theta, self.theta), *self._q_changes(slopes, q, change)]
        if factor is not None:
            pulled = by_theta[:, :, np.newaxis] * eta[:, np.newaxis, :]
            sd = np.exp(self.log_sd.numpy())
            changes += [((np.einsum("khh->kh", pulled) * sd + 1.0) * used, self.log_sd)]
            changes += [(np.tril(pulled, -1), self.below)]
        self.optimiser.learning_rate = rate
        self.optimiser.apply_gradients(
            [(tf.where(tf.math.is_finite(g), -g, tf.zeros_like(g)), v) for g, v in changes]
        )

    def _moments(self, change: tf.Tensor | None) -> Moments:
        """q(v) at the θ of the step, v = T w."""
        mean, root = tf.convert_to_tensor(self.mean), tf.linalg.band_part(self.root, -1, 0)
        if change is not None:
            mean, root = tf.linalg.matvec(change, mean), tf.linalg.matmul(change, root)
        return Moments.of_root(mean, root)

    def _q_changes(
        self, slopes: Slopes, q: Moments, change: tf.Tensor | None
    ) -> list[tuple[tf.Tensor, tf.Variable]]:
        """Gradients of the bound for the mean and the root of q(w), the KL included."""
        by_mean, curve = slopes.by_mean - q.mean, 2.0 * slopes.by_covariance
        curve = tf.linalg.set_diag(curve, tf.linalg.diag_part(curve) - 1.0)
        if change is not None:
            by_mean = tf.linalg.matvec(change, by_mean, transpose_a=True)
            curve = tf.linalg.matmul(change, tf.linalg.matmul(curve, change), transpose_a=True)
        root = tf.linalg.band_part(self.root, -1, 0)
        by_root = tf.linalg.matmul(curve, root) + tf.linalg.diag(1.0 / tf.linalg.diag_part(root))
        return [(by_mean, self.mean), (tf.linalg.band_part(by_root, -1, 0), self.root)]
