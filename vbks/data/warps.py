"""Warps: increasing maps that take the domain of a target onto the whole line, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import expit, exprel

from vbks.arrays import Array, Mask
from vbks.errors import DataError

Interval: TypeAlias = tuple[float, float]
"""The numbers between two others, without these."""

LINE: Interval = (-math.inf, math.inf)
POSITIVE: Interval = (0.0, math.inf)


class Warp(Protocol):
    """An increasing map z = g(y) of a target's domain onto the whole line.

    Targets outside of the domain go to -∞ or ∞ and have slope 0, so that a density of z becomes
    one of y that is 0 there.
    """

    @property
    def name(self) -> str:
        """What users and messages call it."""
        ...

    @property
    def domain(self) -> Interval:
        """The targets that it takes."""
        ...

    def forward(self, y: Array) -> Array:
        """g(y), element by element."""
        ...

    def inverse(self, z: Array) -> Array:
        """The target y with g(y) = z, element by element."""
        ...

    def log_slope(self, y: Array) -> Array:
        """log dz/dy, element by element."""
        ...


@dataclass(frozen=True)
class Identity:
    """Targets as they are."""

    name = "identity"
    domain = LINE

    def forward(self, y: Array) -> Array:
        """Targets as they are."""
        return np.asarray(y, dtype=np.float64)

    def inverse(self, z: Array) -> Array:
        """Targets as they are."""
        return np.asarray(z, dtype=np.float64)

    def log_slope(self, y: Array) -> Array:
        """Zeros."""
        return np.zeros(np.shape(y))


@dataclass(frozen=True)
class Log:
    """z = log y for targets above 0, whose changes and noise are in proportion to their size."""

    name = "log"
    domain = POSITIVE

    def forward(self, y: Array) -> Array:
        """Logarithms log y."""
        return _log(y)

    def inverse(self, z: Array) -> Array:
        """Targets exp z, infinite where they are too large for a float."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(z))

    def log_slope(self, y: Array) -> Array:
        """-log y."""
        return _inside(self, y, -_log(y))


@dataclass(frozen=True)
class InverseSoftplus:
    """z = s log(exp(y/s) - 1) for targets above 0: a logarithm below s, the identity above."""

    scale: float
    """The target s at which one turns into the other."""

    name = "softplus"
    domain = POSITIVE

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise DataError(f"the scale of softplus is {self.scale}, expected a number above 0.")

    def forward(self, y: Array) -> Array:
        """Logarithms of small targets and, all but, large ones themselves."""
        return np.asarray(np.maximum(y, 0.0) + self.scale * self._log_rise(y))

    def inverse(self, z: Array) -> Array:
        """Targets s log(1 + exp(z/s))."""
        return np.asarray(self.scale * np.logaddexp(0.0, np.asarray(z) / self.scale))

    def log_slope(self, y: Array) -> Array:
        """-log(1 - exp(-y/s))."""
        return _inside(self, y, -self._log_rise(y))

    def _log_rise(self, y: Array) -> Array:
        """log(1 - exp(-y/s)), to all digits where y/s is small, even where it underflows."""
        ratio = np.maximum(y, 0.0) / self.scale
        return np.asarray(_log(y) - math.log(self.scale) + np.log(exprel(-ratio)))


@dataclass(frozen=True)
class Logit:
    """z = log((y - low) / (high - y)) for targets that lie in a range."""

    low: float
    high: float

    name = "logit"

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise DataError(
                f"the ends of the target's range are {self.low} and {self.high}, expected two "
                "numbers, the lower one first."
            )

    @property
    def domain(self) -> Interval:
        """The targets between the ends of the range."""
        return self.low, self.high

    def forward(self, y: Array) -> Array:
        """Logarithms of the odds."""
        return np.asarray(_log(np.asarray(y) - self.low) - _log(self.high - np.asarray(y)))

    def inverse(self, z: Array) -> Array:
        """Targets in the range, counted from its nearer end so that no digit is lost."""
        width = self.high - self.low
        below, above = self.low + width * expit(z), self.high - width * expit(np.negative(z))
        return np.where(np.less(z, 0), below, above)

    def log_slope(self, y: Array) -> Array:
        """log((high - low) / ((y - low) (high - y)))."""
        logs = _log(np.asarray(y) - self.low) + _log(self.high - np.asarray(y))
        return _inside(self, y, math.log(self.high - self.low) - logs)


def is_inside(y: Array, domain: Interval) -> Mask:
    """Which targets lie in a domain."""
    low, high = domain
    return np.asarray(np.greater(y, low) & np.less(y, high))


def refuse_outside(name: str, domain: Interval, y: Array, rows_before: int = 0) -> None:
    """Raise the first of some targets that a warp does not take, with its row."""
    outside = np.flatnonzero(~is_inside(y, domain))
    if not len(outside):
        return
    low, high = domain
    needed = f"above {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
    advice = "add a constant to all targets" if math.isinf(high) else "widen the range"
    raise DataError(
        f"the warp '{name}' needs targets {needed}, but the target is {float(y[outside[0]])} in "
        f"row {rows_before + outside[0] + 1}. Leave the warp out, or {advice}."
    )


def _log(values: Array) -> Array:
    """Logarithms, -∞ of what is not above 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(values, 0.0)))


def _inside(warp: Warp, y: Array, log_slope: Array) -> Array:
    """Logarithms of slopes, -∞ outside of the domain."""
    return np.where(is_inside(y, warp.domain), log_slope, -np.inf)
