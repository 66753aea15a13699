"""Hyperparameters that families share, and those of noise, changes and weights: priors and starts.

Inputs and targets are standardised (mean 0, variance 1), which is what the priors are about: a
range of inputs is about 3.5 and the variance of the data is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.parameters import NormalPrior, Parameter


def _start_normal(mean: float, sd: float) -> Callable[[np.random.Generator, InputSummary], float]:
    return lambda rng, _: float(rng.normal(mean, sd))


VARIANCE = Parameter("variance", NormalPrior(-0.7, 1.5), start=_start_normal(-0.7, 0.7))
"""Half of the data's variance, give or take a factor of twenty: parts of a sum share it."""

SLOPE_VARIANCE = Parameter(
    "variance", NormalPrior(-0.7, 1.5), start=_start_normal(-0.7, 0.7), input_power=-2
)
"""A squared slope; the steepest line through standardised data has slope 1."""

NOISE_VARIANCE = Parameter("noise", NormalPrior(-2.3, 1.5), start=_start_normal(-2.3, 1.0))
"""A tenth of the data's variance, from a two-hundredth of that to all of it."""

LENGTHSCALE = Parameter("lengthscales", NormalPrior(-0.3, 1.2), per_input=True, role="lengthscale")
"""A fifth of the range, from a few hundredths of it to several ranges."""

TAILS = Parameter("alpha", NormalPrior(0.0, 1.0), start=_start_normal(0.0, 0.7), role="tails")
"""Around one: from heavy tails (0.1) to all but squared exponential (10)."""

PHASE_LENGTHSCALE = Parameter("lengthscales", NormalPrior(0.0, 1.0), per_input=True, input_power=0)
"""In units of the phase, not of the input: 1 is a rounded cosine, 0.1 a train of spikes."""

LEAST_PERIOD_SD = 0.5
"""Standard deviation of the logarithm of a period at least, where there are few rows."""


def period_prior(x: InputSummary) -> NormalPrior:
    """Between two spacings and the range of an input, with two standard deviations to either.

    A shorter period cannot be told from a longer one where rows are evenly spaced. A prior that
    does not know the rows would have half of its mass there for 40 of them, and too little at a day
    for years of quarters of an hour.
    """
    longest = math.log(x.range)
    shortest = min(math.log(2.0 * x.spacing), longest) if x.spacing > 0.0 else longest
    sd = max(LEAST_PERIOD_SD, 0.25 * (longest - shortest))
    return NormalPrior(0.5 * (shortest + longest), sd)


PERIOD = Parameter(
    "period", NormalPrior(-1.5, 1.5), per_input=True, role="period", prior_at=period_prior
)
"""Where the inputs are not known, a fifteenth of the range, as for 600 evenly spaced rows."""

LOCATION = Parameter(
    "location", NormalPrior(0.0, 2.0), positive=False, per_input=True, role="location"
)
"""Where the line crosses zero: inside the data or a few ranges beyond."""

CHANGE_LOCATION = Parameter("location", NormalPrior(0.0, 1.0), positive=False, role="change")
"""Inside the data, where a change can be seen."""

STEEPNESS = Parameter("steepness", NormalPrior(2.3, 1.0), role="steepness", input_power=-1)
"""A passage of about a tenth of the range (10 per unit of input)."""

WIDTH = Parameter("width", NormalPrior(0.0, 0.8), role="width", input_power=1)
"""A window over about a third of the range."""

PERIODIC_PARAMETERS = (PHASE_LENGTHSCALE, PERIOD)
"""Those of a periodic family, in the order of its θ."""

CHANGE_PARAMETERS: tuple[Parameter, ...] = (CHANGE_LOCATION, STEEPNESS)
"""Those of a change point."""

WINDOW_PARAMETERS: tuple[Parameter, ...] = (CHANGE_LOCATION, STEEPNESS, WIDTH)
"""Those of a change window."""

WEIGHT = Parameter("weights", NormalPrior(0.0, 1.5), positive=False, start=_start_normal(0.0, 1.0))
"""Log odds of a term's share in a sum of unit scale against the last term's."""
