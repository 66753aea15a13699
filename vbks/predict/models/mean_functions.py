"""Mean functions in the user's units: lines and other GPflow functions, fitted first and then held.

Kernels are chosen for what the mean function leaves of the targets, so that evidences are those of
targets around it. How sure its own parameters are is not part of any prediction.
"""

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.functions import Function, Linear, MeanFunction
from scipy.optimize import least_squares
from scipy.stats import median_abs_deviation

from vbks.arrays import Array
from vbks.data.units import Units
from vbks.errors import DataError

MOST_PARAMETERS = 200
"""At most this many numbers of a mean function are fitted: each takes an evaluation in each
step."""

BLOCK = 65_536
"""A mean function is evaluated at this many rows together."""


class StandardisedMean(MeanFunction):
    """A mean function of the user's inputs and targets as one of a model in standardised units.

    Such a model has targets less the mean of what the function leaves, over its spread, so that
    `Units.restore_targets` makes the user's targets of what it predicts.
    """

    def __init__(self, function: Function, units: Units) -> None:
        super().__init__()
        self.function = function
        dtype = gpflow.default_float()
        self._shift, self._stretch = (
            tf.constant(units.x_mean, dtype),
            tf.constant(units.x_scale, dtype),
        )
        self._scale = units.y_scale

    def __call__(self, X: Any) -> tf.Tensor:
        """Values at standardised inputs [..., N, D]: [..., N, 1]."""
        return self.function(X * self._stretch + self._shift) / self._scale


def make_mean_function(given: Any, X: Array, y: Array, noise: Array | None = None) -> Function:
    """The mean function that was asked for, fitted to rows [N, D] and [N] where it is trainable.

    "linear" is a line by least squares. The trainable parameters of a GPflow function are fitted by
    least squares, too, from where they are, and nothing that was given is changed. Rows count by
    one over the spread of the targets and their known noise, as variances. What comes back is not
    trainable.
    """
    root = _roots(y, noise)
    if isinstance(given, str) and given == "linear":
        return _line(X, y, root)
    if not isinstance(given, Function):
        kind = given if isinstance(given, str | type) else type(given).__name__
        raise DataError(
            f"mean_function is {kind!r}, expected 'linear' or a function of GPflow's such as "
            "gpflow.functions.Constant()."
        )
    own = gpflow.utilities.deepcopy(given)
    mean_values(own, X[:1])
    if own.trainable_variables:
        _fit(own, X, y, root)
    gpflow.set_trainable(own, False)
    return own


def mean_values(function: Function, X: Array) -> Array:
    """Values of a mean function at inputs [N, D] in the user's units: [N]."""
    parts = [_values(function, X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
    return np.concatenate([np.zeros(0), *parts])


def _values(function: Function, X: Array) -> Array:
    N, D = X.shape
    try:
        found = function(tf.constant(X, gpflow.default_float()))
    except Exception as error:  # of TensorFlow, of GPflow's checks of shapes, or of the user's code
        reason = str(error).strip().splitlines()[0].rstrip(".: ")
        raise DataError(
            f"the mean function cannot be evaluated at {N} rows of {D} inputs: {reason}."
        ) from error
    if found.shape != (N, 1):
        raise DataError(
            f"the mean function gives an array of shape {list(found.shape)} at {N} rows of {D} "
            f"inputs, expected [{N}, 1]: one value for each row."
        )
    values = np.asarray(found, np.float64)[:, 0]
    if not np.isfinite(values).all():
        raise DataError("the mean function is not finite at all rows. Choose another one.")
    return values


def _roots(y: Array, noise: Array | None) -> Array:
    """Square roots of what rows count by, in units of the targets: [N]."""
    spread = median_abs_deviation(y, scale="normal") or np.std(y)
    variance = spread**2 + (np.zeros(len(y)) if noise is None else noise)
    return np.asarray(1.0 / np.sqrt(variance))


def _line(X: Array, y: Array, root: Array) -> Linear:
    """A line through rows, by weighted least squares; inputs that do not vary have no slope."""
    center, spread = X.mean(axis=0), X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    columns = np.column_stack([(X - center) / scale, np.ones(len(X))])
    found, *_ = np.linalg.lstsq(root[:, np.newaxis] * columns, root * y, rcond=None)
    slopes = np.where(spread > 0, found[:-1] / scale, 0.0)
    line = Linear(slopes[:, np.newaxis], np.array([found[-1] - slopes @ center]))
    gpflow.set_trainable(line, False)
    return line


def _fit(function: Function, X: Array, y: Array, root: Array) -> None:
    """Move trainable parameters to the least squares, from where they are."""
    variables = function.trainable_variables
    shapes = [tuple(variable.shape) for variable in variables]
    sizes = [int(np.prod(shape)) for shape in shapes]
    if sum(sizes) > MOST_PARAMETERS:
        raise DataError(
            f"the mean function has {sum(sizes)} trainable parameters, and at most "
            f"{MOST_PARAMETERS} are fitted here. Train it first, and call "
            "gpflow.set_trainable(mean_function, False)."
        )
    inputs = tf.constant(X, gpflow.default_float())

    def assign(flat: Array) -> None:
        for variable, part, shape in zip(
            variables, np.split(flat, np.cumsum(sizes)[:-1]), shapes, strict=True
        ):
            variable.assign(part.reshape(shape))

    def residuals(flat: Array) -> Array:
        assign(flat)
        return np.asarray(root * (function(inputs).numpy()[:, 0] - y), np.float64)

    def jacobian(flat: Array) -> Array:
        assign(flat)
        columns = [
            _derivative(function, inputs, variable, place)
            for variable, size in zip(variables, sizes, strict=True)
            for place in range(size)
        ]
        return root[:, np.newaxis] * np.stack(columns, axis=1)

    start = np.concatenate([np.ravel(variable.numpy()) for variable in variables])
    found = least_squares(residuals, start, jacobian, x_scale="jac")
    assign(found.x)


def _derivative(function: Function, X: tf.Tensor, variable: tf.Variable, place: int) -> Array:
    """Derivatives of all values by one number of a variable: [N]."""
    direction = np.zeros(variable.shape)
    direction.flat[place] = 1.0
    tangent = tf.constant(direction, variable.dtype)
    with tf.autodiff.ForwardAccumulator(variable, tangent) as accumulator:
        values = function(X)
    slope = accumulator.jvp(values, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return np.asarray(slope, np.float64)[:, 0]
