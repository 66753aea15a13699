"""The two synthetic problems of section 6.1: true kernels, and rows made as the paper makes them.

The paper prints the amplitudes, the period, the slope and, for the sum, the lengthscale of PER. Our
text of its appendix E.1 does not show the other constants, and the paper does not tell the noise of
the function that is drawn. `PRODUCT` and `SUM` have what they may be, in the order in which it is
tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse

NUM_DRAWN, NUM_ROWS = 256, 1000
"""Points of the function that is drawn, and rows of the data."""

REACH = 10.0
"""Inputs lie between minus this and this."""

AMPLITUDE, PERIOD, SLOPE = 0.1, 2.0 * np.pi, 1.0 / 5.0
"""Of PER and RQ, of PER, and of LIN, as the paper prints them."""

RQ_LENGTHSCALES = (2.0, 1.0, 4.0)
RQ_ALPHAS = (1.0, 0.5, 2.0, 0.25, 4.0)
NOISES = (0.1, 0.01, 0.3)
"""What is not known, from a first guess outward; noise is over the signal's standard deviation."""


@dataclass(frozen=True)
class Constants:
    """What the paper leaves open."""

    per_lengthscale: float
    rq_lengthscale: float
    rq_alpha: float
    noise: float
    """Standard deviation over that of the signal, in the drawn function."""

    def __str__(self) -> str:
        return (
            f"PER lengthscale {self.per_lengthscale:g}, RQ lengthscale {self.rq_lengthscale:g} "
            f"and α {self.rq_alpha:g}, noise {self.noise:g}"
        )


def outward(*axes: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """All combinations of values, those with fewer steps from the first ones first."""
    places = product(*(range(len(axis)) for axis in axes))
    return tuple(
        tuple(axis[k] for axis, k in zip(axes, own, strict=True))
        for own in sorted(places, key=lambda own: (sum(own), own))
    )


def grid(per_lengthscales: Sequence[float]) -> tuple[Constants, ...]:
    """Constants in the order in which they are tried."""
    axes = (per_lengthscales, RQ_LENGTHSCALES, RQ_ALPHAS, NOISES)
    return tuple(Constants(*values) for values in outward(*axes))


@dataclass(frozen=True)
class Problem:
    """A true kernel, and the constants that it may have."""

    text: str
    is_product: bool
    constants: tuple[Constants, ...]

    @property
    def truth(self) -> Expression:
        """The structure that is to be found."""
        return canonical(parse(self.text))

    def covariance(self, own: Constants, x: Array, z: Array) -> Array:
        """The true kernel between inputs x [n] and z [m]: [n, m]."""
        apart = x[:, np.newaxis] - z
        wave = np.sin(np.pi * apart / PERIOD) ** 2
        per = AMPLITUDE**2 * np.exp(-2.0 * wave / own.per_lengthscale**2)
        ratio = apart**2 / (2.0 * own.rq_alpha * own.rq_lengthscale**2)
        rq = AMPLITUDE**2 * (1.0 + ratio) ** -own.rq_alpha
        line = SLOPE**2 * x[:, np.newaxis] * z
        return np.asarray((per * rq if self.is_product else per + rq) * line)


PRODUCT = Problem("PER * LIN * RQ", True, grid((2.0, 1.0, 4.0)))
SUM = Problem("(PER + RQ) * LIN", False, grid((2.0,)))


def draw_rows(
    problem: Problem, own: Constants, rng: np.random.Generator, num_rows: int = NUM_ROWS
) -> tuple[Array, Array]:
    """Predictive means without noise, given a function drawn from the prior: X [N, 1] and y [N].

    The inputs of the means have a mean of zero, so that standardising them leaves the zero of LIN
    where it is. Targets are scaled and not centred.
    """
    x = rng.uniform(-REACH, REACH, NUM_DRAWN)
    K = problem.covariance(own, x, x)
    K[np.diag_indices_from(K)] += own.noise**2 * np.diag(K).mean()
    y = np.linalg.cholesky(K) @ rng.normal(size=NUM_DRAWN)
    new = rng.uniform(-REACH, REACH, num_rows)
    new -= new.mean()
    means = problem.covariance(own, new, x) @ np.linalg.solve(K, y)
    return new[:, np.newaxis], means / np.sqrt(np.mean(means**2))


def prepared(rows: tuple[Array, Array]) -> TrainingData:
    """Rows to fit, with targets as they are."""
    return prepare(rows, standardise_targets=False)
