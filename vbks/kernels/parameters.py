"""What a hyperparameter is: its transform, its prior and where a fit may start it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Normal:
    """A normal prior on an unconstrained value: the logarithm of a positive parameter."""

    mean: float
    sd: float


@dataclass(frozen=True)
class InputSummary:
    """What starting values need to know of one standardised input."""

    low: float
    high: float
    spacing: float
    periods: tuple[float, ...] = ()

    @property
    def range(self) -> float:
        """The distance from the lowest to the highest value."""
        return self.high - self.low


Start = Callable[[np.random.Generator, InputSummary], float]


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter of a family, or one for each input the leaf acts on.

    The unconstrained value is the logarithm of a positive parameter, or the parameter itself.
    ``start`` draws an unconstrained starting value; without it, starts come from the prior.
    """

    name: str
    prior: Normal
    positive: bool = True
    per_input: bool = False
    start: Start | None = None

    def draw_start(self, rng: np.random.Generator, summary: InputSummary) -> float:
        """Draw one unconstrained starting value."""
        if self.start is None:
            return float(rng.normal(self.prior.mean, self.prior.sd))
        return self.start(rng, summary)
