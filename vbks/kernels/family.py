"""The families of base kernels: all that is known of each of them is one value of one table.

Only what decides about the structure of expressions is declared in `vbks.grammar.families`, which
is pure Python, and is part of the value here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import gpflow.kernels
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.errors import GrammarError
from vbks.grammar.families import FamilyRules, rules_of
from vbks.kernels.gpflow.form import BY_FORMULA, GPflowForm
from vbks.kernels.gpflow.linear import Linear
from vbks.kernels.parameters import Parameter, Role
from vbks.kernels.shared_parameters import (
    LENGTHSCALE,
    LOCATION,
    NOISE_VARIANCE,
    PERIODIC_PARAMETERS,
    SLOPE_VARIANCE,
    TAILS,
    VARIANCE,
)

if TYPE_CHECKING:
    from gpflow.kernels import Kernel

Formula = Callable[..., tf.Tensor]
"""``formula(X1, X2, **parameters)`` is the kernel at unit scale, element by element.

X1 is [..., n1, 1, d] and X2 [..., 1, n2, d], where d counts the inputs the leaf acts on; a
parameter with ``per_input`` is [..., 1, 1, d], any other [..., 1, 1]; the result is [..., n1, n2].
"""

FrequencyDraws = Callable[..., Array]
"""``draw(rng, (m, d), **parameters)`` draws m frequencies on d inputs from the spectral density of
a stationary family, whose kernel is the mean of cos v(x−x') over frequencies v; a parameter with
``per_input`` is [d] or [1], any other [1]."""

EvaluationPath = Literal[
    "square",
    "rational",
    "periodic",
    "exponential",
    "matern",
    "centred",
    "rank one",
    "constant",
    "noise",
    "formula",
    "opaque",
]
"""How the bank computes a family: from low-rank features where there are any, else by formula.

A centred family is another one less a constant. An opaque family is a GPflow kernel, which the bank
cannot compute."""


@dataclass(frozen=True)
class Family:
    """A family of base kernels: rules of its structure, formula, parameters, and what follows.

    ``variance`` multiplies the formula wherever the expression leaves the leaf's scale free. A
    family that tends to a constant as its lengthscales grow has a ``constant_power``: they grow
    with this power of the constant's size for the same slopes. ``order`` is 2ν of a Matérn family.
    ``centred_of`` is the family that a centred one is without its mean. The ``prototype`` is the
    GPflow kernel that an opaque family has instead of a formula.
    """

    rules: FamilyRules
    formula: Formula
    parameters: tuple[Parameter, ...] = ()
    variance: Parameter = VARIANCE
    evaluation_path: EvaluationPath = "formula"
    order: int | None = None
    constant_power: float | None = None
    draw_frequencies: FrequencyDraws | None = None
    gpflow: GPflowForm = BY_FORMULA
    centred_of: str | None = None
    prototype: Kernel | None = None

    @property
    def name(self) -> str:
        """The name in expressions."""
        return self.rules.name

    @property
    def stationary(self) -> bool:
        """Whether the kernel depends on the difference of its inputs only."""
        return self.rules.stationary

    @property
    def uses_input(self) -> bool:
        """Whether the kernel looks at its inputs at all."""
        return self.rules.uses_input

    def has(self, role: Role) -> bool:
        """Whether a parameter has this role."""
        return any(parameter.role == role for parameter in self.parameters)


LONGEST_CENTRED = 100.0
"""Lengthscale from which on PER0 does not change: its overtones have a share of 10⁻⁵ then, and it
is a small difference of two numbers near one."""

SERIES_LIMIT = 0.05
"""Below this the eight terms of the series below are exact to the last digit."""

SMALLEST_SQUARE = 1e-36
"""Squared distances below this count as this."""

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


def matern_three_halves(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor) -> tf.Tensor:
    """(1 + √3 r) exp(−√3 r) with r² = Σ (x−x')²/ℓ², a function with one derivative."""
    r = math.sqrt(3.0) * _distance(X1, X2, lengthscales)
    return (1.0 + r) * tf.exp(-r)


def matern_five_halves(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor) -> tf.Tensor:
    """(1 + √5 r + 5r²/3) exp(−√5 r) with r² = Σ (x−x')²/ℓ², a function with two derivatives."""
    r = math.sqrt(5.0) * _distance(X1, X2, lengthscales)
    return (1.0 + r + tf.square(r) / 3.0) * tf.exp(-r)


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
    curve = tf.math.expm1(-2.0 * tf.square(sine) * sharpness)
    return tf.reduce_prod((curve - mean) / -mean, axis=-1)


def centring(log_lengthscales: tf.Tensor) -> tf.Tensor:
    """What makes PER0 of PER, from log ℓ [L, S]: log ℓ of PER, and the logarithms of what it
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


def _distance(X1: tf.Tensor, X2: tf.Tensor, lengthscales: tf.Tensor) -> tf.Tensor:
    """A little more than zero where points are equal, where the root has no slope."""
    return tf.sqrt(tf.maximum(_squared_distance(X1, X2, lengthscales), SMALLEST_SQUARE))


def _scaled_bessel_less_one(z: tf.Tensor) -> tf.Tensor:
    """e^(−z) I₀(z) − 1, from its series where the difference would cancel."""
    small = tf.minimum(z, SERIES_LIMIT)
    series = tf.math.polyval([tf.constant(c, z.dtype) for c in _BESSEL_SERIES], small)
    direct = tf.math.bessel_i0e(tf.maximum(z, SERIES_LIMIT)) - 1.0
    return tf.where(z < SERIES_LIMIT, series, direct)


def normal_frequencies(
    rng: np.random.Generator, size: tuple[int, int], lengthscales: Array
) -> Array:
    """Those of SE: normal, as wide as lengthscales are short."""
    return np.asarray(rng.normal(size=size) / lengthscales)


def rational_frequencies(
    rng: np.random.Generator, size: tuple[int, int], lengthscales: Array, alpha: Array
) -> Array:
    """Those of RQ, which is SE with a precision that has a gamma distribution."""
    precision = rng.gamma(alpha, 1.0 / alpha, size=(size[0], 1))
    return np.asarray(np.sqrt(precision) * rng.normal(size=size) / lengthscales)


def cauchy_frequencies(
    rng: np.random.Generator, size: tuple[int, int], lengthscales: Array
) -> Array:
    """Those of OU."""
    return np.asarray(rng.standard_cauchy(size) / lengthscales)


def matern_frequencies(
    rng: np.random.Generator, size: tuple[int, int], lengthscales: Array, nu: float
) -> Array:
    """Those of a Matérn kernel of ν: Student's t with 2ν degrees of freedom."""
    precision = rng.gamma(nu, 1.0 / nu, size=(size[0], 1))
    return np.asarray(rng.normal(size=size) / np.sqrt(precision) / lengthscales)


def periodic_frequencies(
    rng: np.random.Generator, size: tuple[int, int], lengthscales: Array, period: Array
) -> Array:
    """Those of PER: multiples n of 2π/p with weights e^(−z)Iₙ(z), z = 1/ℓ².

    Such weights are the probabilities of the difference of two Poisson counts of mean z/2.
    """
    mean = np.broadcast_to(0.5 / np.square(lengthscales), size)
    multiples = rng.poisson(mean) - rng.poisson(mean)
    return np.asarray(2.0 * math.pi * multiples / period)


BUILT_IN = {
    family.name: family
    for family in (
        Family(
            rules_of("SE"),
            squared_exponential,
            (LENGTHSCALE,),
            evaluation_path="square",
            constant_power=1.0,
            draw_frequencies=normal_frequencies,
            gpflow=GPflowForm(gpflow.kernels.SquaredExponential),
        ),
        Family(
            rules_of("RQ"),
            rational_quadratic,
            (LENGTHSCALE, TAILS),
            evaluation_path="rational",
            constant_power=1.0,
            draw_frequencies=rational_frequencies,
            gpflow=GPflowForm(gpflow.kernels.RationalQuadratic),
        ),
        Family(
            rules_of("OU"),
            ornstein_uhlenbeck,
            (LENGTHSCALE,),
            evaluation_path="exponential",
            constant_power=2.0,
            draw_frequencies=cauchy_frequencies,
            gpflow=GPflowForm(read=(gpflow.kernels.Matern12,), only_one_input=True),
        ),
        Family(
            rules_of("M32"),
            matern_three_halves,
            (LENGTHSCALE,),
            evaluation_path="matern",
            order=3,
            constant_power=1.0,
            draw_frequencies=partial(matern_frequencies, nu=1.5),
            gpflow=GPflowForm(gpflow.kernels.Matern32),
        ),
        Family(
            rules_of("M52"),
            matern_five_halves,
            (LENGTHSCALE,),
            evaluation_path="matern",
            order=5,
            constant_power=1.0,
            draw_frequencies=partial(matern_frequencies, nu=2.5),
            gpflow=GPflowForm(gpflow.kernels.Matern52),
        ),
        Family(
            rules_of("PER"),
            periodic,
            PERIODIC_PARAMETERS,
            evaluation_path="periodic",
            constant_power=1.0,
            draw_frequencies=periodic_frequencies,
            gpflow=GPflowForm(
                gpflow.kernels.Periodic,
                base=gpflow.kernels.SquaredExponential,
                # GPflow's periodic kernel is exp(−½ sin²/ℓ²), so its ℓ is half of ours.
                factors=(("lengthscales", 2.0),),
            ),
        ),
        Family(
            rules_of("PER0"),
            periodic_without_constant,
            PERIODIC_PARAMETERS,
            evaluation_path="centred",
            centred_of="PER",
        ),
        Family(
            rules_of("LIN"),
            linear,
            (LOCATION,),
            SLOPE_VARIANCE,
            evaluation_path="rank one",
            gpflow=GPflowForm(Linear, read=(gpflow.kernels.Linear,)),
        ),
        Family(
            rules_of("C"),
            constant,
            evaluation_path="constant",
            gpflow=GPflowForm(gpflow.kernels.Constant),
        ),
        Family(
            rules_of("WN"),
            no_signal,
            variance=NOISE_VARIANCE,
            evaluation_path="noise",
            gpflow=GPflowForm(gpflow.kernels.White),
        ),
    )
}
"""The families that come with vbks, by their names."""
