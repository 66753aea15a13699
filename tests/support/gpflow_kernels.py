"""GPflow kernels that are read as expressions and written again."""

from __future__ import annotations

import numpy as np
from gpflow.kernels import Kernel

from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.gpflow.reading import KernelReading, from_gpflow

X = np.random.default_rng(0).normal(size=(5, 4))
X2 = np.random.default_rng(1).normal(size=(4, 4))


def read(kernel: Kernel, num_inputs: int | None = None) -> KernelReading:
    """Read a kernel and check that its values have not changed."""
    reading = from_gpflow(kernel, num_inputs)
    assert_same_values(kernel, rebuilt(reading), reading.num_inputs)
    return reading


def rebuilt(reading: KernelReading) -> Kernel:
    """A kernel of the expression and the numbers of a reading."""
    return to_gpflow(reading.expression, reading.num_inputs, theta=reading.theta, ard=reading.ard)


def assert_same_values(first: Kernel, second: Kernel, num_inputs: int) -> None:
    """Both kernels have the same matrices."""
    A, B = X[:, :num_inputs], X2[:, :num_inputs]
    np.testing.assert_allclose(first(A), second(A), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(first(A, B), second(A, B), rtol=1e-10, atol=1e-10)
