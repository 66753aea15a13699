"""The rows that a step of a stochastic fit sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import ELEMENTS_AT_ONCE
from vbks.inference.objectives.svgp import Batch


class StepBatches:
    """The minibatches of steps: as many as make up the rows of one half of a step.

    With Gaussian noise natural-gradient steps are an average over rows, so several small
    minibatches are computed as one.
    """

    def __init__(self, context: FitContext, num_candidates: int) -> None:
        wanted = max(context.svgp.min_rows, context.svgp.rows_per_inducing * context.num_inducing)
        self.context = context
        self.size = min(context.batch_size, context.num_rows)
        self.count = max(1, round(wanted / self.size))
        self.takes_all = self.count * self.size >= context.num_rows
        self.at_once = 1
        if context.likelihood.is_gaussian:
            elements = num_candidates * context.num_inducing * self.size
            self.at_once = max(1, min(self.count, ELEMENTS_AT_ONCE // elements))
        self.num_taken = 0
        self._endless = context.data.minibatches(self.size, context.seed)

    @property
    def excess(self) -> float:
        """By how much the variance of a mean from these rows exceeds that from all rows."""
        if self.takes_all:
            return 0.0
        return self.context.num_rows / (self.count * self.size) - 1.0

    @property
    def noise_gain(self) -> float:
        """Nats for each parameter that a step may promise at rest."""
        return self.context.svgp.noise_gain * self.excess + self.context.svgp.min_gain

    def take(self) -> Iterator[Batch]:
        """The rows of half a step: all of them if that is what it takes."""
        if self.takes_all:
            return self.context.data.blocks(self.context.num_rows)
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
