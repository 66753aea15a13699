"""The families of base kernels: every formula, parameter, prior and start in one table.

Inputs and targets are standardised (mean 0, variance 1), which is what the priors are about: a
range of inputs is about 3.5 and the variance of the data is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import tensorflow as tf

from vbks.data.signals.input_summary import InputSummary
from vbks.errors import GrammarError
from vbks.kernels.parameters import NormalPrior, Parameter

if TYPE_CHECKING:
    from gpflow.kernels import Kernel

Formula = Callable[..., tf.Tensor]
"""``formula(X1, X2, **parameters)`` is the kernel at unit scale, element by element.

X1 is [..., n1, 1, d] and X2 [..., 1, n2, d], where d counts the inputs the leaf acts on; a
parameter with ``per_input`` is [..., 1, 1, d], any other [..., 1, 1]; the result is [..., n1, n2].
"""

EvaluationPath = Literal[
    "square",
    "rational",
    "periodic",
    "exponential",
    "centred",
    "rank one",
    "constant",
    "noise",
    "formula",
    "opaque",
]
"""How the bank computes a family: from low-rank features where there are any, else by formula. A
centred family is a periodic one less a constant.

An opaque family is a GPflow kernel, which the bank cannot compute."""


@dataclass(frozen=True)
class Family:
    """A family of base kernels: its formula at unit scale and its free parameters.

    ``variance`` multiplies the formula wherever the expression leaves the leaf's scale free. The
    ``prototype`` is the GPflow kernel that an opaque family has instead of a formula.
    """

    name: str
    formula: Formula
    parameters: tuple[Parameter, ...]
    variance: Parameter
    stationary: bool = False
    uses_input: bool = True
    evaluation_path: EvaluationPath = "formula"
    prototype: Kernel | None = None


def _start_normal(mean: float, sd: float) -> Callable[[np.random.Generator, InputSummary], float]:
    return lambda rng, _: float(rng.normal(mean, sd))


VARIANCE = Parameter("variance", NormalPrior(-0.7, 1.5), start=_start_normal(-0.7, 0.7))
"""Half of the data's variance, give or take a factor of twenty: parts of a sum share it."""

SLOPE_VARIANCE = Parameter("variance", NormalPrior(-0.7, 1.5), start=_start_normal(-0.7, 0.7))
"""A squared slope; the steepest line through standardised data has slope 1."""

NOISE_VARIANCE = Parameter("noise", NormalPrior(-2.3, 1.5), start=_start_normal(-2.3, 1.0))
"""A tenth of the data's variance, from a two-hundredth of that to all of it."""

LENGTHSCALE = Parameter("lengthscales", NormalPrior(-0.3, 1.2), per_input=True, role="lengthscale")
"""A fifth of the range, from a few hundredths of it to several ranges."""

MIXTURE = Parameter("alpha", NormalPrior(0.0, 1.0), start=_start_normal(0.0, 0.7))
"""Around one: from heavy tails (0.1) to all but squared exponential (10)."""

WAVE_LENGTHSCALE = Parameter("lengthscales", NormalPrior(0.0, 1.0), per_input=True)
"""In units of the phase, not of the input: 1 is a rounded wave, 0.1 a train of spikes."""

LEAST_PERIOD_SD = 0.5
"""Standard deviation of the logarithm of a period at least, where there are few rows."""


def period_prior(x: InputSummary) -> NormalPrior:
    """Between two spacings and the range of an input, with two standard deviations to either.

    A shorter wave cannot be told from a longer one where rows are evenly spaced. A prior that does
    not know the rows would have half of its mass there for 40 of them, and too little at a day for
    years of quarters of an hour.
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

STEEPNESS = Parameter("steepness", NormalPrior(2.3, 1.0), role="steepness")
"""A passage of about a tenth of the range (10 per unit of input)."""

WIDTH = Parameter("width", NormalPrior(0.0, 0.8), role="width")
"""A window over about a third of the range."""

WAVE_PARAMETERS = (WAVE_LENGTHSCALE, PERIOD)
CHANGE_PARAMETERS: tuple[Parameter, ...] = (CHANGE_LOCATION, STEEPNESS)
WINDOW_PARAMETERS: tuple[Parameter, ...] = (CHANGE_LOCATION, STEEPNESS, WIDTH)

WEIGHT = Parameter("weights", NormalPrior(0.0, 1.5), positive=False, start=_start_normal(0.0, 1.0))
"""Log odds of a term's share in a sum of unit scale against the last term's."""


LONGEST_CENTRED = 100.0
"""Lengthscale from which on PER0 does not change: its overtones have a share of 10⁻⁵ then, and it
is a small difference of two numbers near one."""

SERIES_LIMIT = 0.05
"""Below this the eight terms of the series below are exact to the last digit."""

_BESSEL_SERIES = (
    *((-1) ** n * math.factorial(2 * n) / (2**n * math.factorial(n) ** 3) for n in range(8, 0, -1)),
    0.0,
)


def squared_exponential(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor) -> tf.Tensor:
    """exp(−½ Σ (x−x')²/ℓ²)."""
    return tf.exp(-0.5 * _squared_distance(X1, X2, lengthscales))


def rational_quadratic(
    X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor, alpha: tf.Tensor
) -> tf.Tensor:
    """(1 + Σ (x−x')²/(2αℓ²))^−α."""
    ratio = _squared_distance(X1, X2, lengthscales) / (2.0 * alpha)
    return tf.exp(-alpha * tf.math.log1p(ratio))


def ornstein_uhlenbeck(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor) -> tf.Tensor:
    """exp(−Σ |x−x'|/ℓ): of several inputs the product, so that a product of two is such a leaf."""
    return tf.exp(-tf.reduce_sum(tf.abs(X1 - X2) / lengthscales, axis=-1))


def periodic(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor, period: tf.Tensor) -> tf.Tensor:
    """exp(−2 Σ sin²(π(x−x')/p)/ℓ²)."""
    sine = tf.sin(math.pi * (X1 - X2) / period)
    return tf.exp(-2.0 * tf.reduce_sum(tf.square(sine / lengthscales), axis=-1))


def periodic_without_constant(
    X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor, period: tf.Tensor
) -> tf.Tensor:
    """The periodic kernel less its mean over a period, scaled to one at distance zero.

    (e^((cos φ−1)/ℓ²) − e^(−1/ℓ²) I₀(1/ℓ²)) / (1 − e^(−1/ℓ²) I₀(1/ℓ²)), a cosine as ℓ grows; of
    several inputs the product. Written with differences from one, which do not cancel for large ℓ.
    """
    lengthscales = tf.minimum(lengthscales, tf.constant(LONGEST_CENTRED, lengthscales.dtype))
    sharpness = 1.0 / tf.square(lengthscales)
    sine = tf.sin(math.pi * (X1 - X2) / period)
    mean = _scaled_bessel_less_one(sharpness)
    wave = tf.math.expm1(-2.0 * tf.square(sine) * sharpness)
    return tf.reduce_prod((wave - mean) / -mean, axis=-1)


def centring(log_lengthscales: tf.Tensor) -> tf.Tensor:
    """What makes PER0 of PER, from log ℓ [L, S]: log ℓ of the wave, and the logarithms of what it
    is multiplied with and of the constant that is then taken off, [L, 3, S].

    PER0 = PER / (1 − c) − c / (1 − c), where c = e^(−1/ℓ²) I₀(1/ℓ²) is the mean of PER.
    """
    longest = tf.constant(math.log(LONGEST_CENTRED), log_lengthscales.dtype)
    own = tf.minimum(log_lengthscales, longest)
    mean_less_one = _scaled_bessel_less_one(tf.exp(-2.0 * own))
    lift = -tf.math.log(-mean_less_one)
    return tf.stack([own, lift, lift + tf.math.log1p(mean_less_one)], axis=1)


def linear(X1: tf.Tensor, X2: tf.Tensor, location: tf.Tensor) -> tf.Tensor:
    """Σ (x−ℓ)(x'−ℓ)."""
    return tf.reduce_sum((X1 - location) * (X2 - location), axis=-1)


def constant(X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
    """One."""
    return tf.ones_like(X1[..., 0] + X2[..., 0])


def no_signal(X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
    """Zero: white noise is a variance of the observations, never a covariance of the function."""
    return tf.zeros_like(X1[..., 0] + X2[..., 0])


def no_formula(X1: tf.Tensor, X2: tf.Tensor, **parameters: tf.Tensor) -> tf.Tensor:
    """Nothing: an opaque family is evaluated by its GPflow kernel."""
    raise GrammarError("an opaque family has no formula. Use its GPflow kernel.")


def _squared_distance(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.square((X1 - X2) / lengthscales), axis=-1)


def _scaled_bessel_less_one(z: tf.Tensor) -> tf.Tensor:
    """e^(−z) I₀(z) − 1, from its series where the difference would cancel."""
    small = tf.minimum(z, SERIES_LIMIT)
    series = tf.math.polyval([tf.constant(c, z.dtype) for c in _BESSEL_SERIES], small)
    direct = tf.math.bessel_i0e(tf.maximum(z, SERIES_LIMIT)) - 1.0
    return tf.where(z < SERIES_LIMIT, series, direct)


BUILT_IN = {
    family.name: family
    for family in (
        Family("SE", squared_exponential, (LENGTHSCALE,), VARIANCE, True, evaluation_path="square"),
        Family(
            "RQ",
            rational_quadratic,
            (LENGTHSCALE, MIXTURE),
            VARIANCE,
            True,
            evaluation_path="rational",
        ),
        Family(
            "OU", ornstein_uhlenbeck, (LENGTHSCALE,), VARIANCE, True, evaluation_path="exponential"
        ),
        Family("PER", periodic, WAVE_PARAMETERS, VARIANCE, True, evaluation_path="periodic"),
        Family(
            "PER0",
            periodic_without_constant,
            WAVE_PARAMETERS,
            VARIANCE,
            True,
            evaluation_path="centred",
        ),
        Family("LIN", linear, (LOCATION,), SLOPE_VARIANCE, evaluation_path="rank one"),
        Family("C", constant, (), VARIANCE, True, uses_input=False, evaluation_path="constant"),
        Family(
            "WN", no_signal, (), NOISE_VARIANCE, True, uses_input=False, evaluation_path="noise"
        ),
    )
}
