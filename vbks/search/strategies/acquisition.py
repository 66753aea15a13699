"""Acquisitions of Bayesian optimisation: how much it is worth to fit a candidate next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import erfcx, ndtr

from vbks.arrays import Array
from vbks.errors import SettingsError, check_one_of

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

WORST = -1e6
"""Candidates more standard deviations below the best than this are all worth the same."""


class Acquisition(Protocol):
    """Scores candidates by what a surrogate expects of them; the highest are fitted next.

    Values are normal scores of log evidences, so that their mean is 0 and their variance 1.
    """

    def __call__(self, mean: Array, sd: Array, best: float) -> Array:
        """Scores [P] of candidates whose values are N(mean, sd²), where the best so far is known.

        The order of scores is all that counts.
        """
        ...


@dataclass(frozen=True)
class ExpectedImprovement:
    """The logarithm of E max(f − best, 0), as in BOMS."""

    def __call__(self, mean: Array, sd: Array, best: float) -> Array:
        """log E max(f − best, 0) for f ~ N(mean, sd²)."""
        return log_expected_improvement(mean, sd, best)


EXPECTED_IMPROVEMENT = ExpectedImprovement()
"""What Bayesian optimisation goes by unless it is told otherwise."""


@dataclass(frozen=True)
class UpperConfidenceBound:
    """The value that a candidate may well have: ``width`` standard deviations above its mean."""

    width: float = 2.0
    """The larger, the more is tried that little is known of."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.width < math.inf:
            raise SettingsError(
                f"the width of an upper confidence bound is {self.width}. Give a number from 0 on, "
                "such as 2."
            )

    def __call__(self, mean: Array, sd: Array, best: float) -> Array:
        """mean + width · sd, wherever the best is."""
        return np.asarray(mean + self.width * sd)


_ACQUISITIONS: dict[str, Acquisition] = {}


def register_acquisition(name: str, acquisition: Acquisition) -> None:
    """Have `BO(acquisition=name)` stand for an acquisition from now on."""
    if name in _ACQUISITIONS:
        raise SettingsError(f"the acquisition {name!r} exists already. Choose another name.")
    _ACQUISITIONS[name] = acquisition


def acquisition_of(acquisition: str | Acquisition) -> Acquisition:
    """The acquisition of a name, or the one that is given."""
    if not isinstance(acquisition, str):
        return acquisition
    check_one_of("acquisition", acquisition, _ACQUISITIONS)
    return _ACQUISITIONS[acquisition]


def log_expected_improvement(mean: Array, sd: Array, best: float) -> Array:
    """log E max(f − best, 0) for f ~ N(mean, sd²), also where it is too small for a number."""
    z = (mean - best) / sd
    above, below = np.maximum(z, 0.0), np.clip(z, WORST, 0.0)
    high = np.log(np.exp(-0.5 * above**2 - LOG_ROOT_TWO_PI) + above * ndtr(above))
    share = math.sqrt(0.5 * math.pi) * erfcx(-below / math.sqrt(2.0))
    low = -0.5 * below**2 - LOG_ROOT_TWO_PI + np.log1p(below * share)
    return np.asarray(np.log(sd) + np.where(z > 0.0, high, low))


register_acquisition("ei", EXPECTED_IMPROVEMENT)
register_acquisition("ucb", UpperConfidenceBound())
