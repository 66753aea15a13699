"""The log posterior density of θ for many candidates and restarts, and where it is highest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Rows
from vbks.grammar.expression import Expression
from vbks.inference.quasi_newton import Minimum, minimise
from vbks.kernels import Bank

REBUILD_BELOW = 0.7
"""Share of rows still at work below which the others leave the bank."""

ELEMENTS_AT_ONCE = 2_000_000
"""Numbers in the kernel matrices that are in memory together, 64 MB; work arrays are a few times
that."""


class Evidence(Protocol):
    """What `ExactEvidence` and `CollapsedEvidence` have in common."""

    def __call__(self, bank: Bank, theta: tf.Tensor) -> tf.Tensor:
        """Log evidence, or a bound of it, for θ [K, S, H]: [K, S]."""
        ...

    @property
    def elements(self) -> int:
        """Numbers in the kernel matrices of one candidate at one θ."""
        ...


class LogPosterior:
    """log p(y|θ) + log p(θ) of rows, each an expression with a θ of its own.

    Expressions may repeat, so restarts and samples are rows, too. A value that is not finite is the
    failure of its row alone.
    """

    def __init__(
        self, expressions: Sequence[Expression], num_inputs: int, evidence: Evidence
    ) -> None:
        self.expressions = list(expressions)
        self.num_inputs = num_inputs
        self.evidence = evidence
        self._bank = Bank(self.expressions, num_inputs)
        self._rows = np.arange(len(self.expressions))
        self.num_slots = self._bank.num_slots
        mean, sd = np.zeros((2, len(self.expressions), self.num_slots))
        for row, layout in enumerate(self._bank.layouts):
            mean[row, : len(layout)], sd[row, : len(layout)] = layout.prior_mean, layout.prior_sd
        self.prior_mean = mean
        self.prior_precision = np.divide(1.0, sd**2, out=np.zeros_like(sd), where=sd > 0)

    def __call__(self, rows: Rows, theta: Array) -> tuple[Array, Array]:
        """Values [r] and gradients [r, H] of some rows, given in ascending order, at θ [r, H]."""
        self._keep(rows)
        places = np.searchsorted(self._rows, rows)
        full = self.prior_mean[self._rows].copy()
        full[places] = theta
        likelihood, gradient = self._log_evidence(full)
        prior, prior_gradient = self.log_prior(rows, theta)
        return likelihood[places] + prior, gradient[places] + prior_gradient

    def log_prior(self, rows: Rows, theta: Array) -> tuple[Array, Array]:
        """log p(θ) and its gradient."""
        precision = self.prior_precision[rows]
        distance = theta - self.prior_mean[rows]
        used = precision > 0
        log_norm = 0.5 * np.log(np.where(used, precision / (2 * np.pi), 1.0)).sum(axis=1)
        return log_norm - 0.5 * (precision * distance**2).sum(axis=1), -precision * distance

    def _keep(self, rows: Rows) -> None:
        """Let rows that are done leave the bank once they are many."""
        if len(rows) < REBUILD_BELOW * len(self._rows) or not np.isin(rows, self._rows).all():
            self._rows = rows.copy()
            self._bank = Bank([self.expressions[row] for row in rows], self.num_inputs)

    def _log_evidence(self, theta: Array) -> tuple[Array, Array]:
        values, gradients = np.zeros(len(theta)), np.zeros(theta.shape)
        num_pieces = -(-len(theta) * self.evidence.elements // ELEMENTS_AT_ONCE)
        start = 0
        for bank in self._bank.split(num_pieces):
            stop = start + len(bank)
            own = tf.constant(theta[start:stop, np.newaxis, : bank.num_slots])
            with tf.GradientTape() as tape:
                tape.watch(own)
                value = self.evidence(bank, own)
            gradient = tape.gradient(value, own)
            values[start:stop] = value[:, 0]
            gradients[start:stop, : bank.num_slots] = gradient[:, 0]
            start = stop
        return values, gradients


def maximise(posterior: LogPosterior, starts: Array, max_evaluations: int = 100) -> Minimum:
    """Climb the log posterior of every row from its start [R, H]; losses are minus its values."""

    def loss(rows: Rows, theta: Array) -> tuple[Array, Array]:
        value, gradient = posterior(rows, theta)
        return -value, -gradient

    return minimise(loss, starts, max_evaluations)
