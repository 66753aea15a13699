"""The GPflow kernel of an expression at any θ, as graphs for values and for gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import mul
from threading import Lock
from typing import Any, NamedTuple

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.kernels import Kernel, White

from vbks.arrays import Array
from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, Product
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.kernels.layout import NOISE_SLOT, Node, lay_out
from vbks.kernels.registry import forget_on_change

MAX_KERNELS = 64
"""Kernels that are kept when no bank has them any more. Graphs of one kernel take about a second to
make and 10 MB, and fits make banks of the same expressions again and again."""

Computation = Callable[..., tf.Tensor]
"""``compute(kernel, node, *inputs)`` is something of a kernel that was made for the node, with one
axis for each of the inputs [n, D]."""


class CompiledKernel:
    """A GPflow kernel that is given a θ [H] for each computation, whoever asks.

    Computations are `signal_matrix`, `signal_variance` and `noise_variance`.
    """

    def __init__(self, expression: Expression, num_inputs: int, ard: bool) -> None:
        layout = lay_out(expression, num_inputs, ard)
        kernel = to_gpflow(expression, num_inputs, ard=ard)
        # No tape watches what is not trainable unless it is told to.
        gpflow.set_trainable(kernel, False)
        self._bindings = tuple(bindings(kernel, layout))
        variables = [binding.parameter.unconstrained_variable for binding in self._bindings]
        inputs = tf.TensorSpec([None, num_inputs], gpflow.default_float())
        self._graphs = {
            compute: _graphs(kernel, layout.root, variables, compute, specs)
            for compute, specs in (
                (signal_matrix, [inputs, inputs]),
                (signal_variance, [inputs]),
                (noise_variance, [inputs]),
            )
        }
        self._lock = Lock()

    def value(self, compute: Computation, theta: Array, *inputs: tf.Tensor) -> tf.Tensor:
        """What a computation gives at θ."""
        with self._lock:
            self._put(theta)
            return self._graphs[compute].value(*inputs)

    def pullback(
        self, compute: Computation, theta: Array, upstream: tf.Tensor, *inputs: tf.Tensor
    ) -> Array:
        """The gradient for θ of a computation, which is done again for it: [H]."""
        with self._lock:
            self._put(theta)
            pulled = self._graphs[compute].pullback(upstream, *inputs)
        gradient = np.zeros_like(theta)
        for binding, own in zip(self._bindings, pulled, strict=True):
            gradient[list(binding.slots)] = np.ravel(own)
        return gradient

    def _put(self, theta: Array) -> None:
        for binding in self._bindings:
            binding.put(theta)


def compiled_kernel(expression: Expression, num_inputs: int, ard: bool) -> CompiledKernel:
    """The kernel of an expression, the same for all who ask."""
    return _compiled_kernel(expression, num_inputs, ard, gpflow.default_float())


@lru_cache(maxsize=MAX_KERNELS)
def _compiled_kernel(
    expression: Expression, num_inputs: int, ard: bool, dtype: type
) -> CompiledKernel:
    """A kernel of its own for every dtype, which is the one that GPflow makes kernels in now."""
    return CompiledKernel(expression, num_inputs, ard)


forget_on_change(_compiled_kernel.cache_clear)


class _Graphs(NamedTuple):
    """A computation on inputs of any length, and the gradient for the variables of its kernel."""

    value: Callable[..., tf.Tensor]
    pullback: Callable[..., list[tf.Tensor]]


def _graphs(
    kernel: Kernel,
    node: Node,
    variables: Sequence[tf.Variable],
    compute: Computation,
    inputs: Sequence[tf.TensorSpec],
) -> _Graphs:
    """Graphs that are made when they are first used."""

    def value(*inputs: tf.Tensor) -> tf.Tensor:
        return compute(kernel, node, *inputs)

    def pullback(upstream: tf.Tensor, *inputs: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            computed = compute(kernel, node, *inputs)
        pulled = tape.gradient(computed, variables, upstream, unconnected_gradients="zero")
        return [tf.convert_to_tensor(own) for own in pulled]

    upstream = tf.TensorSpec([None] * len(inputs), inputs[0].dtype)
    return _Graphs(
        tf.function(value, input_signature=inputs, autograph=False),
        tf.function(pullback, input_signature=[upstream, *inputs], autograph=False),
    )


def signal_matrix(kernel: Kernel, node: Node, X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
    """The kernel matrix [n1, n2] without noise, which GPflow has only where X2 is not given."""
    return kernel(X1, X2)


def signal_variance(kernel: Kernel, node: Node, X: tf.Tensor) -> tf.Tensor:
    """The diagonal [n] without noise."""
    return _variance(kernel, node, X).signal


def noise_variance(kernel: Kernel, node: Node, X: tf.Tensor) -> tf.Tensor:
    """The variances [n] that white noise adds to the diagonal, but for the likelihood's own."""
    return _variance(kernel, node, X).noise


@dataclass(frozen=True, eq=False)
class _Variance:
    """Variances at some inputs, of the function and of white noise apart: [n] each."""

    signal: tf.Tensor
    noise: tf.Tensor

    def __mul__(self, other: _Variance) -> _Variance:
        noise = self.signal * other.noise + self.noise * (other.signal + other.noise)
        return _Variance(self.signal * other.signal, noise)


def _variance(kernel: Any, node: Node, X: tf.Tensor) -> _Variance:
    """The diagonal of a kernel at X, without the noise that is the likelihood's own."""
    if isinstance(node.expression, Leaf):
        return _leaf_variance(kernel, node, X)
    pairs = zip(kernel.kernels, node.operands, strict=True)
    parts = [_variance(part, operand, X) for part, operand in pairs]
    if isinstance(node.expression, Product):
        return reduce(mul, parts)
    factors = _factors(kernel, node, X)
    return _Variance(
        tf.add_n([factor * part.signal for factor, part in zip(factors, parts, strict=True)]),
        tf.add_n([factor * part.noise for factor, part in zip(factors, parts, strict=True)]),
    )


def _leaf_variance(kernel: Kernel, node: Node, X: tf.Tensor) -> _Variance:
    whole = kernel(X, full_cov=False)
    if node.scale == NOISE_SLOT:
        return _Variance(tf.zeros_like(whole), tf.zeros_like(whole))
    if type(kernel) is White:
        return _Variance(tf.zeros_like(whole), whole)
    if not any(isinstance(part, White) for part in (kernel, *kernel.submodules)):
        return _Variance(whole, tf.zeros_like(whole))
    # White noise somewhere inside an opaque kernel is what a matrix with others lacks.
    signal = tf.linalg.diag_part(kernel(X, X))
    return _Variance(signal, whole - signal)


def _factors(kernel: Any, node: Node, X: tf.Tensor) -> list[Any]:
    """What multiplies the variances of the operands of a sum, or of a change, at X."""
    if isinstance(node.expression, ChangePoint | ChangeWindow):
        gates = zip(kernel._shares(), kernel._gates(X), strict=True)
        return [share * gate**2 for share, gate in gates]
    return [1.0] * len(node.operands) if node.weights is None else list(kernel._shares())
