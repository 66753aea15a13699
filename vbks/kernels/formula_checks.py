"""Whether a formula is a kernel: what is tried on random inputs before a family is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.errors import GrammarError
from vbks.kernels.family import Family

NUM_DRAWS = 8
"""Values of the parameters that are tried, drawn from their priors."""

SIZES = ((2, 3), (12, 7))
"""Rows of the left and right inputs, which differ so that a transposed matrix shows."""

REACH_IN_SDS = 2.0
"""Parameters are drawn no further than this from their prior means, where formulas may overflow."""

ROUNDING = 1e-8
"""Differences, and negative eigenvalues, that are rounding, as a share of the largest number."""

SMALLEST = 1e-250
"""Values of a kernel below this are too near to underflow for their logarithms to be compared."""

SEED = 12
"""The same formula always meets the same inputs."""


class _Trial(NamedTuple):
    """A formula at random parameters [L, ...], for inputs [n, d]."""

    family: Family
    values: dict[str, tf.Tensor]
    num_inputs: int

    def __call__(self, X1: Array, X2: Array) -> Array:
        """Kernel matrices [L, n1, n2], if the formula gives them."""
        dtype, n1, n2 = gpflow.default_float(), len(X1), len(X2)
        left = tf.constant(np.tile(X1[:, np.newaxis], (NUM_DRAWS, 1, 1, 1)), dtype)
        right = tf.constant(np.tile(X2[np.newaxis], (NUM_DRAWS, 1, 1, 1)), dtype)
        result = _evaluated(self.family, left, right, self.values)
        if tuple(result.shape) != (NUM_DRAWS, n1, n2):
            raise self.wrong(
                f"gives shape {tuple(result.shape)} for X1 {list(left.shape)} and X2 "
                f"{list(right.shape)}, expected {[NUM_DRAWS, n1, n2]}",
                "Keep leading axes, and take single inputs as X1[..., i].",
            )
        matrices: Array = result.numpy()
        if not np.isfinite(matrices).all():
            raise self.wrong(
                "gives numbers that are not finite", "Its priors should leave out such parameters."
            )
        return matrices

    def on(self, column: int) -> _Trial:
        """The same on one of the inputs."""
        own = {p.name for p in self.family.parameters if p.per_input}
        values = {
            name: value[..., column : column + 1] if name in own else value
            for name, value in self.values.items()
        }
        return _Trial(self.family, values, 1)

    def wrong(self, what: str, remedy: str) -> GrammarError:
        """The error that the formula is no kernel."""
        inputs = "one input" if self.num_inputs == 1 else f"{self.num_inputs} inputs"
        return GrammarError(
            f"the formula of family {self.family.name!r} {what}, tried on {inputs} with parameters "
            f"from their priors. {remedy}"
        )


def check_formula(family: Family) -> None:
    """Refuse a formula that is not a kernel at unit scale, or does not follow the family's rules.

    Its values must be of the shape, finite, symmetric and positive semi-definite. A stationary
    kernel depends on differences of inputs alone and is one where they are equal, which is what
    counts of free parameters and rules for white noise rely on.
    """
    _check_shape(family)
    if family.rules.closed_under_products:
        _check_one_parameter(family)
    for trial in _trials(family):
        rng = np.random.default_rng(SEED)
        for n1, n2 in SIZES:
            X1, X2 = (
                rng.normal(size=(n1, trial.num_inputs)),
                rng.normal(size=(n2, trial.num_inputs)),
            )
            _check_symmetry(trial, X1, X2)
            _check_definite(trial, X1)
            if family.stationary:
                _check_stationary(trial, X1, X2)
            if family.rules.separable is not None:
                _check_separable(trial, X1, X2)
            if family.rules.closed_under_products and trial.num_inputs == 1:
                _check_closed(trial, X1, X2)


def _trials(family: Family) -> Iterator[_Trial]:
    """The formula on one input, and on two where parameters are for each of them."""
    several = any(parameter.per_input for parameter in family.parameters)
    for num_inputs in (1, 2) if several else (1,):
        rng = np.random.default_rng(SEED)
        values = {}
        for p in family.parameters:
            shape = (NUM_DRAWS, 1, 1, num_inputs) if p.per_input else (NUM_DRAWS, 1, 1)
            steps = np.clip(rng.normal(size=shape), -REACH_IN_SDS, REACH_IN_SDS)
            free = p.prior.mean + p.prior.sd * steps
            number = np.exp(free) if p.positive else free
            values[p.name] = tf.constant(number, gpflow.default_float())
        yield _Trial(family, values, num_inputs)


def _evaluated(
    family: Family, X1: tf.Tensor, X2: tf.Tensor, values: dict[str, tf.Tensor]
) -> tf.Tensor:
    try:
        result = tf.convert_to_tensor(family.formula(X1, X2, **values))
    except Exception as error:
        raise GrammarError(f"the formula of family {family.name!r} fails: {error}") from error
    dtype = tf.as_dtype(gpflow.default_float())
    # A plain number has the type that TensorFlow gives it; its shape says what is wrong.
    if result.shape.rank and result.dtype != dtype:
        raise GrammarError(
            f"the formula of family {family.name!r} gives {result.dtype.name}, expected "
            f"{dtype.name}. Compute with the type of X1."
        )
    return result


def _check_shape(family: Family) -> None:
    """Evaluate the formula between two and three points, so that a mistake shows at once."""
    dtype = gpflow.default_float()
    values = {
        p.name: tf.ones([1, 1, 1] if p.per_input else [1, 1], dtype) for p in family.parameters
    }
    result = _evaluated(family, tf.ones([2, 1, 1], dtype), tf.zeros([1, 3, 1], dtype), values)
    given = tuple(result.shape)
    if given == (2, 3):
        return
    remedy = "add up over the last axis."
    if len(given) <= 2:
        remedy = (
            "a number for each pair of rows, from X1 and X2 both. A constant is the family C; "
            "in a formula it is tf.ones_like(X1[..., 0] + X2[..., 0])."
        )
    raise GrammarError(
        f"the formula of family {family.name!r} gives shape {given} for X1 [2, 1, 1] "
        f"and X2 [1, 3, 1], expected [2, 3]: {remedy}"
    )


def _check_symmetry(trial: _Trial, X1: Array, X2: Array) -> None:
    forth, back = trial(X1, X2), np.swapaxes(trial(X2, X1), 1, 2)
    if not np.allclose(forth, back, rtol=ROUNDING, atol=ROUNDING * np.abs(forth).max()):
        gap = np.abs(forth - back).max()
        raise trial.wrong(
            f"is not symmetric: k(x, x') and k(x', x) differ by up to {gap:.2g}",
            "Treat X1 and X2 alike.",
        )


def _check_definite(trial: _Trial, X: Array) -> None:
    eigenvalues = np.linalg.eigvalsh(trial(X, X))
    low, high = eigenvalues[:, 0], np.abs(eigenvalues).max(axis=1)
    worst = int(np.argmin(low + ROUNDING * high))
    if low[worst] < -ROUNDING * high[worst]:
        raise trial.wrong(
            f"is not positive semi-definite: a matrix of {len(X)} rows has the eigenvalue "
            f"{low[worst]:.2g}",
            "No function has such covariances; start from a known kernel.",
        )


def _check_stationary(trial: _Trial, X1: Array, X2: Array) -> None:
    here, there = trial(X1, X2), trial(X1 + 1.0, X2 + 1.0)
    if not np.allclose(here, there, rtol=1e-6, atol=ROUNDING * np.abs(here).max()):
        raise trial.wrong(
            "is said to be stationary but changes when all inputs are shifted by 1",
            "Register it with stationary=False.",
        )
    diagonal = np.einsum("lnn->ln", trial(X1, X1))
    if not np.allclose(diagonal, 1.0, rtol=0.0, atol=ROUNDING):
        off = diagonal.ravel()[np.abs(diagonal - 1.0).argmax()]
        raise trial.wrong(
            f"is said to be stationary but k(x, x) is {off:.3g}, expected 1",
            "Divide by that, as every family has a variance, or register it with stationary=False.",
        )


def _check_separable(trial: _Trial, X1: Array, X2: Array) -> None:
    join = np.multiply if trial.family.rules.separable == "product" else np.add
    columns = range(trial.num_inputs)
    parts = [trial.on(i)(X1[:, i : i + 1], X2[:, i : i + 1]) for i in columns]
    whole = trial(X1, X2)
    if not np.allclose(whole, join.reduce(parts), rtol=1e-6, atol=ROUNDING * np.abs(whole).max()):
        raise trial.wrong(
            f"is said to be the {trial.family.rules.separable} of itself on each input but is not",
            "Register it without separable=.",
        )


def _check_one_parameter(family: Family) -> None:
    is_one = len(family.parameters) == 1 and family.parameters[0].per_input
    if not is_one or family.rules.separable != "product":
        raise GrammarError(
            f"family {family.name!r} is said to be closed under products, which needs one "
            'parameter with per_input=True, and separable="product". Register it without '
            "closed_under_products=True."
        )


def _check_closed(trial: _Trial, X1: Array, X2: Array) -> None:
    """exp(−λ a(x, x')) with a λ for each value of the parameter: logarithms are multiples."""
    values = trial(X1, X2).reshape(NUM_DRAWS, -1)
    is_usual = (values > SMALLEST).all(axis=0)
    logs = np.log(values[:, is_usual])
    first = logs[0]
    largest = int(np.argmax(np.abs(first)))
    expected = logs[:, largest : largest + 1] / first[largest] * first
    if not is_usual.any() or not np.allclose(logs, expected, rtol=1e-6, atol=ROUNDING):
        raise trial.wrong(
            "is said to be closed under products but is not exp(−λ a(x, x')), with λ made "
            "from its parameter",
            "Register it without closed_under_products=True.",
        )
