"""Warps: increasing maps that take the domain of a target onto the whole line, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    """z = log((y - low) / (high - y)) for targets that lie between two bounds."""

    low: float
    high: float

    name = "logit"

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise DataError(
                f"the bounds of the target are {self.low} and {self.high}, expected two numbers, "
                "the lower one first."
            )

    @property
    def domain(self) -> Interval:
        """The targets between the bounds."""
        return self.low, self.high

    def forward(self, y: Array) -> Array:
        """Logarithms of the odds."""
        return np.asarray(_log(np.asarray(y) - self.low) - _log(self.high - np.asarray(y)))

    def inverse(self, z: Array) -> Array:
        """Targets between the bounds, counted from the nearer one so that no digit is lost."""
        width = self.high - self.low
        below, above = self.low + width * expit(z), self.high - width * expit(np.negative(z))
        return np.where(np.less(z, 0), below, above)

    def log_slope(self, y: Array) -> Array:
        """log((high - low) / ((y - low) (high - y)))."""
        logs = _log(np.asarray(y) - self.low) + _log(self.high - np.asarray(y))
        return _inside(self, y, math.log(self.high - self.low) - logs)


KNOWN_WARPS = ("identity", "log", "softplus", "logit")
"""Names of the warps, the simplest first."""


def is_inside(y: Array, domain: Interval) -> Mask:
    """Which targets lie in a domain."""
    low, high = domain
    return np.asarray(np.greater(y, low) & np.less(y, high))


def domain_of(name: str, target_range: Interval | None = None) -> Interval:
    """The targets that a warp takes, known by its name before its scale is."""
    return make_warp(name, 1.0, target_range).domain


def make_warp(name: str, mean: float, target_range: Interval | None = None) -> Warp:
    """The warp of a name for targets with a mean above 0, and with its range if it is a logit.

    The scale of softplus is the mean. Its slope falls as yᵃ with -a = (y/s) / (exp(y/s) - 1),
    which is 0.58 there, about half way between the 0 of identity and the 1 of log. A scale of one
    standard deviation would make it a copy of the identity where targets are far from 0, and one
    of log where they have a long tail.
    """
    match name:
        case "identity":
            return Identity()
        case "log":
            return Log()
        case "softplus":
            return InverseSoftplus(float(mean))
        case "logit":
            return Logit(*_pair(target_range))
    raise DataError(f"unknown warp {name!r}. Known: {', '.join(sorted(KNOWN_WARPS))}.")


def warp_to_values(warp: Warp) -> dict[str, float | str]:
    """The name of a warp and its numbers, to be written to a file."""
    if warp.name not in KNOWN_WARPS:
        raise DataError(f"the warp {warp.name!r} cannot be saved: it is not one of vbks.")
    return {"name": warp.name, **vars(warp)}


def warp_from_values(values: Mapping[str, object]) -> Warp:
    """The warp that was written with `warp_to_values`."""
    match dict(values):
        case {"name": "identity" | "log" as name, **others} if not others:
            return make_warp(name, 1.0)
        case {"name": "softplus", "scale": float() | int() as scale, **others} if not others:
            return InverseSoftplus(float(scale))
        case {
            "name": "logit",
            "low": float() | int() as low,
            "high": float() | int() as high,
            **others,
        } if not others:
            return Logit(float(low), float(high))
    raise DataError(
        f"no warp is described by {dict(values)}. Known: {', '.join(sorted(KNOWN_WARPS))}, "
        "softplus with its scale and logit with low and high."
    )


def refuse_outside(name: str, domain: Interval, y: Array, rows_before: int = 0) -> None:
    """Raise the first of some targets that a warp does not take, with its row."""
    outside = np.flatnonzero(~is_inside(y, domain))
    if not len(outside):
        return
    low, high = domain
    needed = f"above {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
    advice = "add a constant to all targets" if math.isinf(high) else "widen the bounds"
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


def _pair(target_range: Interval | None) -> Interval:
    if target_range is None:
        raise DataError(
            "the warp 'logit' needs the ends of the target's range. Give target_range=(low, high)."
        )
    try:
        low, high = map(float, target_range)
    except (TypeError, ValueError):
        raise DataError(
            f"the bounds of the target are {target_range!r}, expected two numbers (low, high)."
        ) from None
    return low, high
