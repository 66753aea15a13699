"""Tests of what is refused as a warp."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from vbks.data.warp_checks import check_warp
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit
from vbks.errors import SettingsError


@dataclass(frozen=True)
class Arcsinh:
    """A warp that is right, from which wrong ones are made."""

    scale: float = 2.0
    name = "arcsinh"
    domain = (-math.inf, math.inf)

    def forward(self, y):
        return np.arcsinh(np.asarray(y) / self.scale)

    def inverse(self, z):
        return self.scale * np.sinh(z)

    def log_slope(self, y):
        return -0.5 * np.log(np.square(y) + self.scale**2)


@dataclass(frozen=True)
class Falling(Arcsinh):
    def forward(self, y):
        return -super().forward(y)

    def inverse(self, z):
        return -super().inverse(z)


@dataclass(frozen=True)
class Root(Arcsinh):
    """Roots are not negative, so half of the line is not reached."""

    domain = (0.0, math.inf)

    def forward(self, y):
        return np.sqrt(y)

    def inverse(self, z):
        return np.square(z)


@dataclass(frozen=True)
class Bounded(Arcsinh):
    """Reaches from -50 to 50 alone."""

    def forward(self, y):
        return 50.0 * np.tanh(np.asarray(y) / 50.0)

    def inverse(self, z):
        return 50.0 * np.arctanh(np.asarray(z) / 50.0)


@dataclass(frozen=True)
class Steep(Arcsinh):
    def log_slope(self, y):
        return super().log_slope(y) + 0.1


@dataclass(frozen=True)
class Summed(Arcsinh):
    def inverse(self, z):
        return np.sum(super().inverse(z))


@dataclass(frozen=True)
class Named(Arcsinh):
    scale: str = "2"


@dataclass
class Loose:
    name = "loose"


@dataclass(frozen=True)
class TakesAll(Log):
    def forward(self, y):
        return np.log(np.abs(y))


@dataclass(frozen=True)
class SlopesAll(Log):
    def log_slope(self, y):
        return -np.log(np.abs(y))


@pytest.mark.parametrize(
    "warp",
    [Identity(), Log(), InverseSoftplus(0.3), InverseSoftplus(20.0), Logit(0, 1), Logit(-5.0, 70.0),
     Arcsinh(0.1), Arcsinh(5.0)],
    ids=str,
)  # fmt: skip
def test_check__accepts_warps(warp):
    check_warp(warp)


@pytest.mark.parametrize(
    ("warp", "message"),
    [
        (Falling(), "'arcsinh' does not increase"),
        (Root(), r"domain from 0 to inf onto the whole line: inverse\(-10\) is 100, and .* is 10"),
        (Bounded(), r"does not reach the whole line: inverse\(-1000\) is nan"),
        (Steep(), r"another slope than it says: log_slope\(.*by differences"),
        (Summed(), r"into an array of shape \(\) by inverse. Let it work element by element"),
        (Named(), "has the field scale = '2'. Let all fields be numbers"),
        (Loose(), "is not a frozen dataclass"),
        (TakesAll(), "'log' takes -1, which is outside of its domain. Let it go to -inf"),
        (SlopesAll(), "has a slope at -1, outside of its domain. Let it be -inf"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_check__says_what_is_wrong(warp, message):
    with pytest.raises(SettingsError, match=message):
        check_warp(warp)
