"""What a hyperparameter is: its transform, its prior and where a fit may start it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import logsumexp, ndtri, stdtrit

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class NormalPrior:
    """A normal prior on an unconstrained value: the logarithm of a positive parameter."""

    mean: float
    sd: float

    @property
    def centre(self) -> float:
        """The mean."""
        return self.mean

    @property
    def precision(self) -> float:
        """One over the variance, the curvature of −log p."""
        return 1.0 / self.sd**2

    def log_density(self, x: Array) -> tuple[Array, Array]:
        """log p and its slope at every x."""
        distance = (x - self.mean) / self.sd
        return -0.5 * distance**2 - math.log(self.sd) - LOG_ROOT_TWO_PI, -distance / self.sd

    def draw(self, shares: Array) -> Array:
        """Values that have this distribution if the shares are uniform between 0 and 1."""
        return np.asarray(self.mean + self.sd * ndtri(shares))


@dataclass(frozen=True)
class StudentTPrior:
    """Student's t with ``df`` degrees of freedom: a bell whose tails leave outliers alone."""

    mean: float
    scale: float
    df: float

    @property
    def centre(self) -> float:
        """Where the density is highest."""
        return self.mean

    @property
    def precision(self) -> float:
        """The curvature of −log p at the centre, (ν+1)/(ν s²)."""
        return (self.df + 1.0) / (self.df * self.scale**2)

    def log_density(self, x: Array) -> tuple[Array, Array]:
        """log p and its slope at every x."""
        distance = (x - self.mean) / self.scale
        half = 0.5 * (self.df + 1.0)
        log_norm = math.lgamma(half) - math.lgamma(0.5 * self.df) - math.log(self.scale)
        log_norm -= 0.5 * math.log(self.df * math.pi)
        slope = -2.0 * half * distance / (self.df + distance**2) / self.scale
        return log_norm - half * np.log1p(distance**2 / self.df), slope

    def draw(self, shares: Array) -> Array:
        """Values that have this distribution if the shares are uniform between 0 and 1."""
        return np.asarray(self.mean + self.scale * stdtrit(self.df, shares))


@dataclass(frozen=True)
class FlatPrior:
    """No preference for any unconstrained value: an improper density of one everywhere."""

    @property
    def centre(self) -> float:
        """Zero, which is as good as any."""
        return 0.0

    @property
    def precision(self) -> float:
        """Zero: nothing is known."""
        return 0.0

    def log_density(self, x: Array) -> tuple[Array, Array]:
        """Zero, and slope zero, at every x."""
        return np.zeros_like(x), np.zeros_like(x)


@dataclass(frozen=True)
class MixturePrior:
    """One of several normals, each as probable as the others."""

    parts: tuple[NormalPrior, ...]

    @property
    def centre(self) -> float:
        """The mean."""
        return sum(part.mean for part in self.parts) / len(self.parts)

    @property
    def precision(self) -> float:
        """That of the widest part, since others may be far from a value."""
        return min(part.precision for part in self.parts)

    def log_density(self, x: Array) -> tuple[Array, Array]:
        """log p and its slope at every x."""
        values, slopes = np.stack([part.log_density(x) for part in self.parts], axis=1)
        total = logsumexp(values, axis=0)
        return total - math.log(len(self.parts)), (np.exp(values - total) * slopes).sum(axis=0)

    def draw(self, shares: Array) -> Array:
        """Values that have this distribution if the shares are uniform between 0 and 1.

        The share says which part a value is from, and what is left of it where in that part.
        """
        places, left = np.divmod(shares * len(self.parts), 1.0)
        values = [part.draw(left) for part in self.parts]
        return np.asarray(np.choose(places.astype(int), values))


@dataclass(frozen=True)
class FixedPrior:
    """No prior but a value that is known, and is not to be learned."""

    value: float

    @property
    def centre(self) -> float:
        """The value."""
        return self.value

    @property
    def precision(self) -> float:
        """Zero: there is nothing to curve."""
        return 0.0

    def draw(self, shares: Array) -> Array:
        """The value, whatever the shares are."""
        return np.full_like(shares, self.value)


Prior: TypeAlias = NormalPrior | StudentTPrior | FlatPrior | MixturePrior | FixedPrior
"""A prior on an unconstrained value.

Its ``precision`` is a curvature to scale steps by, zero where it has none.
"""


Start = Callable[[np.random.Generator, InputSummary], float]


Role = Literal["lengthscale", "period", "location", "change", "steepness", "width", "tails"]
"""What a parameter is to starts: a lengthscale of the input, a period, where a line is zero, where
a change is, how steep it is, how wide a window is, or how fast a kernel falls far away."""


def _log_uniform(low: float, high: float, rng: np.random.Generator) -> float:
    return float(rng.uniform(math.log(low), math.log(max(high, low * 1.01))))


def _start_lengthscale(rng: np.random.Generator, x: InputSummary) -> float:
    """Between two spacings, or a hundredth of the range if that is more, and the range."""
    return _log_uniform(max(2 * x.spacing, x.range / 100), x.range, rng)


def _start_period(rng: np.random.Generator, x: InputSummary) -> float:
    """A peak of the periodogram three times in five, the strongest most often.

    Else from two spacings, or a three-hundredth of the range if that is more, to half of the range;
    or from there to three ranges, of which the data see a part, a smooth function.
    """
    kind = rng.uniform()
    if x.periods and kind < 0.6:
        odds = 1.0 / np.arange(1, len(x.periods) + 1)
        return math.log(rng.choice(x.periods, p=odds / odds.sum()))
    if kind < 0.8:
        return _log_uniform(max(2 * x.spacing, x.range / 300), x.range / 2, rng)
    return _log_uniform(x.range / 2, 3 * x.range, rng)


def _start_location(rng: np.random.Generator, x: InputSummary) -> float:
    """Anywhere in the range, or up to one range beyond it."""
    return float(rng.uniform(x.low - x.range, x.high + x.range))


def _start_change(rng: np.random.Generator, x: InputSummary) -> float:
    """Inside the range, away from its ends."""
    return float(rng.uniform(x.low + 0.05 * x.range, x.high - 0.05 * x.range))


def _start_steepness(rng: np.random.Generator, x: InputSummary) -> float:
    """From a step within one spacing to a passage over half of the range."""
    return -_log_uniform(x.spacing, x.range / 8, rng)


def _start_width(rng: np.random.Generator, x: InputSummary) -> float:
    """From a twentieth to a half of the range."""
    return _log_uniform(x.range / 20, x.range / 2, rng)


_STARTS: dict[Role, Start] = {
    "lengthscale": _start_lengthscale,
    "period": _start_period,
    "location": _start_location,
    "change": _start_change,
    "steepness": _start_steepness,
    "width": _start_width,
}


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter of a family, or one for each input the leaf acts on.

    The unconstrained value is the logarithm of a positive parameter, or the parameter itself.
    Starting values are drawn by ``start`` as unconstrained ones, or follow from its ``role``, such
    as periods from a periodogram; without either, they come from the prior. ``prior_at`` is the
    prior where the inputs are known, if that depends on them; ``prior`` stands for it where they
    are not. ``input_power`` is the power of an input's unit that a positive parameter is told in:
    1 for a length along it, 0 for what does not change with the unit.
    """

    name: str
    prior: NormalPrior
    positive: bool = True
    per_input: bool = False
    start: Start | None = None
    role: Role | None = None
    prior_at: Callable[[InputSummary], NormalPrior] | None = None
    input_power: int | None = None

    def __post_init__(self) -> None:
        if self.input_power is None:
            object.__setattr__(self, "input_power", 1 if self.per_input else 0)

    def draw_start(self, rng: np.random.Generator, summary: InputSummary) -> float:
        """Draw one unconstrained starting value."""
        start = self.start
        if start is None and self.role is not None:
            start = _STARTS.get(self.role)
        if start is None:
            return float(rng.normal(self.prior.mean, self.prior.sd))
        return start(rng, summary)
