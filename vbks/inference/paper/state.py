"""A candidate in the midst of training: q(u), q(θ), the optimiser, and the bound so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vbks.arrays import Array
from vbks.grammar.expression import Expression
from vbks.kernels.layout import Layout

START_SD = 0.1
"""q(θ) has this standard deviation in the beginning, that of `VariationalSVGP`."""


@dataclass(frozen=True, eq=False)
class Learned:
    """m [M], C_u [M, M], μ [H] and what C is made of [H, H]; or as much about their gradients."""

    mean: Array
    root: Array
    theta: Array
    spread: Array

    def flat(self) -> Array:
        """All numbers in one row."""
        parts = (self.mean, self.root, self.theta, self.spread)
        return np.concatenate([part.ravel() for part in parts])

    def zeros(self) -> Learned:
        """As many zeros."""
        return Learned(*(np.zeros_like(p) for p in (self.mean, self.root, self.theta, self.spread)))


@dataclass(frozen=True, eq=False)
class EarlierFit:
    """q(u) and q(θ) of a fit to other rows, with its bound, which new rows are added to."""

    mean: Array
    root: Array
    theta: Array
    factor: Array
    elbo: float
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class CandidateState:
    """A candidate in the midst of training.

    ``values`` are the bounds that each step began with, on its minibatch and samples. ``elbo`` is
    the local ELBO as a mean over minibatches, ``log_likelihood`` the same at the mean of q(θ)
    without its KL, both with what an earlier fit had.
    """

    expression: Expression
    layout: Layout
    fixed: tuple[int, ...]
    jitter: float
    learned: Learned
    first: Learned
    second: Learned
    values: Array = field(default_factory=lambda: np.zeros(0))
    elbo: float = math.nan
    standard_error: float = 0.0
    log_likelihood: float = math.nan
    earlier: EarlierFit | None = None
    seconds: float = 0.0
    reason: str = ""

    @property
    def steps(self) -> int:
        """Steps that were taken."""
        return len(self.values)

    @property
    def num_skipped(self) -> int:
        """Steps that were not taken, as there was no finite bound."""
        return int(np.sum(~np.isfinite(self.values)))

    def failed(self, reason: str) -> CandidateState:
        """The same, given up."""
        return replace(self, reason=reason)


def begun(
    expression: Expression,
    layout: Layout,
    fixed: Sequence[int],
    jitter: float,
    learned: Learned,
    earlier: EarlierFit | None = None,
) -> CandidateState:
    """A candidate before its first step."""
    zeros = learned.zeros()
    return CandidateState(
        expression, layout, tuple(fixed), jitter, learned, zeros, zeros, earlier=earlier
    )
