"""Kernels of any expression as graphs of θ, which can be saved as a part of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.errors import GraphError
from vbks.grammar.expression import Expression
from vbks.kernels.bank.bank import Bank
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.compiled import Computation, noise_variance, signal_matrix, signal_variance
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.kernels.layout import NOISE_SLOT, lay_out
from vbks.predict.models.substitution import ParameterVector


def graph_bank_of(
    expressions: Sequence[Expression], num_inputs: int, *, ard: bool, differentiable: bool = False
) -> Bank | KernelGraphs:
    """A bank that graphs can be made of: a `Bank` if all of its expressions can be batched.

    That of a `Bank` has gradients for inputs only where these are asked for.
    """
    if all(is_batchable(expression, num_inputs) for expression in expressions):
        return Bank(expressions, num_inputs, ard=ard, differentiable_inputs=differentiable)
    return KernelGraphs(expressions, num_inputs, ard=ard)


class KernelGraphs:
    """GPflow kernels of expressions, each a graph that is given its θ with the inputs."""

    def __init__(self, expressions: Sequence[Expression], num_inputs: int, *, ard: bool) -> None:
        own = {text: _KernelGraph(text, num_inputs, ard) for text in dict.fromkeys(expressions)}
        self._kernels = [own[expression] for expression in expressions]
        self.num_slots = max(kernel.num_slots for kernel in self._kernels)
        self.variables = [variable for kernel in own.values() for variable in kernel.variables]
        """What the kernels have that is not in θ."""

    def __call__(self, theta: Any, X1: Any, X2: Any = None) -> tf.Tensor:
        """Kernel matrices without noise at θ [R, H]: [R, n1, n2]; without X2, of X1 alone."""
        return self._evaluate(signal_matrix, theta, X1, X1 if X2 is None else X2)

    def diag(self, theta: Any, X: Any) -> tf.Tensor:
        """Diagonals of the kernel matrices without noise: [R, n]."""
        return self._evaluate(signal_variance, theta, X)

    def noise(self, theta: Any, X: Any) -> tf.Tensor:
        """Noise variances, from the likelihood and from white noise: [R, n]."""
        own = tf.exp(tf.cast(theta, gpflow.default_float())[:, NOISE_SLOT, tf.newaxis])
        return own + self._evaluate(noise_variance, theta, X)

    def _evaluate(self, compute: Computation, theta: Any, *inputs: Any) -> tf.Tensor:
        runs = [(kernel, len(list(run))) for kernel, run in groupby(self._kernels)]
        rows = tf.split(tf.cast(theta, gpflow.default_float()), [size for _, size in runs])
        pairs = zip(runs, rows, strict=True)
        return tf.concat([kernel(compute, own, *inputs) for (kernel, _), own in pairs], axis=0)


class _KernelGraph:
    """The GPflow kernel of an expression as graphs of θ [R, H] and inputs, each made once."""

    def __init__(self, expression: Expression, num_inputs: int, ard: bool) -> None:
        layout = lay_out(expression, num_inputs, ard)
        self._expression, self._node = expression, layout.root
        self._kernel = to_gpflow(expression, num_inputs, ard=ard)
        gpflow.set_trainable(self._kernel, False)
        bound = list(bindings(self._kernel, layout))
        self._vector = ParameterVector({str(n): part.parameter for n, part in enumerate(bound)})
        self._slots = np.array([slot for part in bound for slot in part.slots], np.int32)
        self._offsets = np.array([part.offset for part in bound for _ in part.slots])
        self._inputs = tf.TensorSpec([None, num_inputs], gpflow.default_float())
        self._graphs: dict[Computation, Callable[..., tf.Tensor]] = {}
        self.num_slots = len(layout)
        self.variables: tuple[tf.Variable, ...] = self._kernel.variables

    def __call__(self, compute: Computation, theta: tf.Tensor, *inputs: tf.Tensor) -> tf.Tensor:
        if compute not in self._graphs:
            self._graphs[compute] = self._traced(compute, len(inputs))
        graph, rows = self._graphs[compute], theta[:, : self.num_slots]
        return tf.map_fn(lambda row: graph(row, *inputs), rows, fn_output_signature=theta.dtype)

    def _traced(self, compute: Computation, num_inputs: int) -> Callable[..., tf.Tensor]:
        def evaluate(theta: tf.Tensor, *inputs: tf.Tensor) -> tf.Tensor:
            values = tf.gather(theta, self._slots) - tf.constant(self._offsets, theta.dtype)
            with self._vector.at(values):
                return compute(self._kernel, self._node, *inputs)

        theta = tf.TensorSpec([self.num_slots], gpflow.default_float())
        signature = [theta, *[self._inputs] * num_inputs]
        graph = tf.function(evaluate, input_signature=signature, autograph=False)
        try:
            graph.get_concrete_function()
        except Exception as error:
            raise GraphError(
                f"'{self._expression}' cannot be exported or differentiated: no graph can be made "
                f"of its kernel ({first_line(error)}). Leave it out of the belief, or write the "
                "kernel in operations of TensorFlow."
            ) from error
        return graph  # type: ignore[no-any-return]


def first_line(error: BaseException) -> str:
    """The first line of what another library says, or its kind where it says nothing."""
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
