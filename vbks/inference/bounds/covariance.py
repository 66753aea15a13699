"""The covariance of one function, whoever evaluates it: a GPflow kernel, or a bank at one θ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.kernels import Kernel, White

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.grammar.expression import Expression
from vbks.kernels.gpflow.bank import bank_of

DIAGONAL_ROWS = 256
"""Rows whose kernel matrix is made for its diagonal: 500 kB, and few calls for many rows."""


class Covariance(Protocol):
    """What is needed of a kernel at one θ: its values, and the white noise in it apart."""

    def matrix(self, X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
        """Covariances of the function at all pairs of inputs, without noise: [n1, n2]."""
        ...

    def diagonal(self, X: tf.Tensor) -> tf.Tensor:
        """Variances of the function at inputs, without noise: [n]."""
        ...

    def noise(self, X: tf.Tensor) -> tf.Tensor:
        """Variances of the noise that comes with the kernel: [n]."""
        ...


class KernelCovariance:
    """The covariance of any GPflow kernel, in which white noise is noise of the observations."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._has_noise = any(isinstance(k, White) for k in (kernel, *kernel.submodules))

    def matrix(self, X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
        """The kernel between two sets of inputs, where GPflow leaves white noise out: [n1, n2]."""
        return self.kernel(X1, X2)

    def diagonal(self, X: tf.Tensor) -> tf.Tensor:
        """The kernel of each input with itself, without white noise: [n]."""
        if not self._has_noise:
            return self.kernel(X, full_cov=False)
        return in_rows(lambda rows: tf.linalg.diag_part(self.kernel(rows, rows)), X, DIAGONAL_ROWS)

    def noise(self, X: tf.Tensor) -> tf.Tensor:
        """What white noise adds to the diagonal: [n]."""
        whole = self.kernel(X, full_cov=False)
        if not self._has_noise:
            return tf.zeros_like(whole)
        return tf.maximum(whole - self.diagonal(X), 0.0)


class ExpressionCovariance:
    """The covariance of an expression at θ [H], with the noise of its likelihood."""

    def __init__(
        self, expression: Expression | str, theta: Array, num_inputs: int = 1, *, ard: bool = True
    ) -> None:
        self._bank = bank_of([expression], num_inputs, ard=ard)
        self._theta = np.asarray(theta, np.float64)[np.newaxis]
        if self._theta.shape != (1, self._bank.num_slots):
            raise DataError(
                f"θ of '{expression}' on {num_inputs} inputs has shape ({self._bank.num_slots},), "
                f"got {self._theta.shape[1:]}."
            )

    def matrix(self, X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
        """The kernel between two sets of inputs: [n1, n2]."""
        return self._bank(self._theta, X1, X2)[0]

    def diagonal(self, X: tf.Tensor) -> tf.Tensor:
        """The kernel of each input with itself: [n]."""
        return self._bank.diag(self._theta, X)[0]

    def noise(self, X: tf.Tensor) -> tf.Tensor:
        """Noise variances, from the likelihood and from white noise: [n]."""
        return self._bank.noise(self._theta, X)[0]


def in_rows(function: Callable[[tf.Tensor], tf.Tensor], X: tf.Tensor, size: int) -> tf.Tensor:
    """What a function of rows gives, a few rows at a time: one after the other along axis 0."""
    parts = [function(X[start : start + size]) for start in range(0, len(X), size)]
    return tf.concat(parts, axis=0)


def as_inputs(X: Array) -> tf.Tensor:
    """Inputs in the float that GPflow's kernels have."""
    return tf.convert_to_tensor(np.asarray(X), gpflow.default_float())


def as_array(values: tf.Tensor) -> Array:
    """Values of any float, in double precision."""
    return np.asarray(values, np.float64)
