"""The log posterior density of θ for many candidates and restarts, and where it is highest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Mask, Rows
from vbks.grammar.expression import Expression
from vbks.inference.optim.quasi_newton import Minimum, Prune, minimise
from vbks.kernels.bank.bank import Objective
from vbks.kernels.gpflow.bank import KernelBank, bank_of
from vbks.kernels.layout import Layout
from vbks.kernels.parameters import Prior
from vbks.kernels.priors import Priors, slot_priors

REBUILD_BELOW = 0.7
"""Rows that are done leave the bank once fewer than this share of all are at work: a constant of
the implementation, as a new bank takes time, too."""

ELEMENTS_AT_ONCE = 2_000_000
"""Kernel matrices with up to this many numbers are computed together: a constant of machines. 16 MB
stay in the cache between the passes over them; four times as much takes nearly twice as long."""


class Evidence(Protocol):
    """What `ExactEvidence` and `CollapsedEvidence` have in common."""

    def __call__(self, bank: KernelBank, theta: tf.Tensor) -> tf.Tensor:
        """Log evidence, or a bound of it, for θ [K, S, H]: [K, S]."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the kernel matrices of one candidate at one θ, put side by side."""
        ...

    @property
    def num_rows(self) -> int:
        """Rows that it is the evidence of."""
        ...

    @property
    def objective(self) -> Objective:
        """The function by which values follow from kernels, θ and `tensors`."""
        ...

    @property
    def tensors(self) -> tuple[tf.Tensor, ...]:
        """The tensors that `objective` takes beside kernels and θ."""
        ...


PriorOf = Callable[[Layout], tuple[Prior, ...]]
"""The priors of an expression's slots."""


class LogPosterior:
    """log p(y|θ) + log p(θ) of rows, each an expression with a θ of its own.

    Expressions may repeat, so restarts are rows, too. A value that is not finite is the failure of
    its row alone. Slots that are fixed have no gradient. Not more than ``elements`` numbers of
    kernel matrices are computed together. The prior counts by its ``prior_share``.
    """

    def __init__(
        self,
        expressions: Sequence[Expression],
        num_inputs: int,
        evidence: Evidence,
        *,
        ard: bool = True,
        prior_of: PriorOf = slot_priors,
        prior_share: float = 1.0,
        elements: int = ELEMENTS_AT_ONCE,
    ) -> None:
        self.expressions = list(expressions)
        self.num_inputs, self.ard = num_inputs, ard
        self.evidence = evidence
        self.prior_share = prior_share
        self.elements = elements
        self._bank = bank_of(self.expressions, num_inputs, ard=ard)
        self._rows = np.arange(len(self.expressions))
        self.num_slots = self._bank.num_slots
        self.priors = Priors([prior_of(layout) for layout in self._bank.layouts], self.num_slots)

    def __call__(self, rows: Rows, theta: Array) -> tuple[Array, Array]:
        """Values [r] and gradients [r, H] at θ [r, H] of rows in ascending order, also repeated."""
        likelihood, gradient = self.log_likelihood(rows, theta)
        prior, prior_gradient = self.priors.log_density(rows, theta)
        gradient = np.where(
            self.priors.used[rows], gradient + self.prior_share * prior_gradient, 0.0
        )
        return likelihood + self.prior_share * prior, gradient

    def log_likelihood(self, rows: Rows, theta: Array) -> tuple[Array, Array]:
        """The same without the prior."""
        wanted, places, counts = np.unique(rows, return_inverse=True, return_counts=True)
        self._keep(wanted)
        places = np.searchsorted(self._rows, wanted)[places]
        samples = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        full = np.repeat(self.priors.mean[self._rows][:, np.newaxis], counts.max(), axis=1)
        full[places, samples] = theta
        value, gradient = self._log_evidence(full)
        return value[places, samples], gradient[places, samples]

    def values(self, rows: Rows, theta: Array) -> Array:
        """log p(y|θ) + log p(θ) [r] at many θ [r, H] of rows in ascending order, without gradients.

        At most ``elements`` numbers of kernel matrices are computed together.
        """
        height, width = self.evidence.shape
        size = max(1, self.elements // (height * width))
        found = [
            self._some_values(rows[start : start + size], theta[start : start + size])
            for start in range(0, len(rows), size)
        ]
        prior, _ = self.priors.log_density(rows, theta)
        return np.asarray(np.concatenate(found) + self.prior_share * prior)

    def _some_values(self, rows: Rows, theta: Array) -> Array:
        """Log likelihoods [r] that are computed together."""
        wanted, places, counts = np.unique(rows, return_inverse=True, return_counts=True)
        bank = bank_of([self.expressions[row] for row in wanted], self.num_inputs, ard=self.ard)
        samples = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        full = np.repeat(self.priors.mean[wanted][:, np.newaxis], counts.max(), axis=1)
        full[places, samples] = theta
        theta_of_bank = tf.constant(full[:, :, : bank.num_slots])
        values: Array = self.evidence(bank, theta_of_bank).numpy()
        return np.asarray(values[places, samples], np.float64)

    def _keep(self, rows: Rows) -> None:
        """Let rows that are done leave the bank once they are many."""
        if len(rows) < REBUILD_BELOW * len(self._rows) or not np.isin(rows, self._rows).all():
            self._rows = rows.copy()
            expressions = [self.expressions[row] for row in rows]
            self._bank = bank_of(expressions, self.num_inputs, ard=self.ard)

    def _log_evidence(self, theta: Array) -> tuple[Array, Array]:
        values, gradients = np.zeros(theta.shape[:2]), np.zeros(theta.shape)
        start = 0
        for bank in self._bank.split(self._num_pieces(theta)):
            stop = start + len(bank)
            own = tf.constant(theta[start:stop, :, : bank.num_slots])
            found = bank.with_gradient(self.evidence.objective, own, *self.evidence.tensors)
            values[start:stop], gradients[start:stop, :, : bank.num_slots] = found
            start = stop
        return values, gradients

    def _num_pieces(self, theta: Array) -> int:
        """Pieces of the bank that are small enough, in kernel matrices and in terms of them."""
        num_rows, num_samples, _ = theta.shape
        height, width = self.evidence.shape
        by_matrices = -(-num_rows * num_samples * height * width // self.elements)
        return max(by_matrices, self._bank.num_pieces(num_samples, height, width))


def maximise(
    posterior: LogPosterior,
    starts: Array,
    max_evaluations: int = 100,
    prune: Prune | None = None,
    scales: Array | None = None,
) -> Minimum:
    """Climb the log posterior of every row from its start [R, H]; losses are minus its values.

    ``scales`` [R, H] are the units in which steps are measured.
    """
    units = np.ones_like(starts) if scales is None else scales

    def loss(rows: Rows, steps: Array) -> tuple[Array, Array]:
        value, gradient = posterior(rows, starts[rows] + units[rows] * steps)
        return -value, -gradient * units[rows]

    def prune_steps(evaluations: int, steps: Array, losses: Array) -> Mask:
        assert prune is not None
        return prune(evaluations, starts + units * steps, losses)

    found = minimise(
        loss, np.zeros_like(starts), max_evaluations, prune=None if prune is None else prune_steps
    )
    return replace(found, x=starts + units * found.x, gradient=found.gradient / units)
