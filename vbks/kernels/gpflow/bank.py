"""A bank for expressions that cannot be batched: their GPflow kernels, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Mask
from vbks.errors import DataError, GrammarError, VbksError
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.kernels.bank.bank import Bank, Objective
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.compiled import (
    CompiledKernel,
    Computation,
    compiled_kernel,
    noise_variance,
    signal_matrix,
    signal_variance,
)
from vbks.kernels.layout import NOISE_SLOT, Layout, lay_out


class KernelBank(Protocol):
    """What `Bank` and `GPflowBank` have in common: the kernels of a list of expressions."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions, one for each row of θ."""
        ...

    @property
    def num_inputs(self) -> int:
        """How many columns inputs have."""
        ...

    @property
    def ard(self) -> bool:
        """Whether leaves on all inputs have a lengthscale and a period for each of them."""
        ...

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """What the numbers in each row of θ are."""
        ...

    @property
    def num_slots(self) -> int:
        """How many numbers a row of θ has, of which an expression may use fewer."""
        ...

    @property
    def mask(self) -> Mask:
        """Which entries of θ are used: [K, H]."""
        ...

    def __len__(self) -> int: ...

    def __call__(self, theta: Any, X1: Any, X2: Any = None) -> tf.Tensor:
        """Kernel matrices without noise: [K, n1, n2] or [K, S, n1, n2]; without X2, of X1 alone."""
        ...

    def diag(self, theta: Any, X: Any) -> tf.Tensor:
        """Diagonals of the kernel matrices without noise: [K, n] or [K, S, n]."""
        ...

    def noise(self, theta: Any, X: Any) -> tf.Tensor:
        """Noise variances, from the likelihood and from white noise: [K, n] or [K, S, n]."""
        ...

    def with_gradient(
        self, objective: Objective, theta: tf.Tensor, *tensors: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """``objective(kernels, θ, *tensors)`` for θ [K, S, H], and its gradient for θ."""
        ...

    def num_pieces(self, num_samples: int, num_rows: int, num_columns: int) -> int:
        """In how many pieces kernel matrices of a size keep all arrays small."""
        ...

    def split(self, num_pieces: int) -> tuple[KernelBank, ...]:
        """Banks of consecutive candidates."""
        ...


def bank_of(
    expressions: Sequence[Expression | str],
    num_inputs: int = 1,
    *,
    ard: bool = True,
    differentiable_inputs: bool = False,
) -> Bank | GPflowBank:
    """The fastest bank there is for a list: a `Bank` if all of its expressions can be batched."""
    parsed = _parsed(expressions)
    alone = [expression for expression in parsed if not is_batchable(expression, num_inputs)]
    if not alone:
        return Bank(parsed, num_inputs, ard=ard, differentiable_inputs=differentiable_inputs)
    if differentiable_inputs:
        raise GrammarError(
            f"'{alone[0]}' cannot be batched, and without that there is no gradient for inputs. "
            "Leave out differentiable_inputs, or the expression."
        )
    return GPflowBank(parsed, num_inputs, ard=ard)


class GPflowBank:
    """Kernels of expressions of any kind, each evaluated by its GPflow kernel.

    θ, matrices and noise are as for `Bank`, which is many times faster where it can be used. First
    derivatives flow to θ, none to inputs. It runs eagerly only, since a kernel is given one θ after
    the other; kernels are evaluated again for a gradient, so tapes keep nothing of them.
    """

    def __init__(
        self,
        expressions: Sequence[Expression | str],
        num_inputs: int = 1,
        *,
        ard: bool = True,
        _kernels: Mapping[Expression, CompiledKernel] | None = None,
    ) -> None:
        _check_eager()
        self.expressions = _parsed(expressions)
        self.num_inputs = num_inputs
        self.ard = ard
        self.layouts: tuple[Layout, ...] = tuple(
            lay_out(expression, num_inputs, ard) for expression in self.expressions
        )
        self.num_slots = max(len(layout) for layout in self.layouts)
        self._kernels = _kernels or {
            expression: compiled_kernel(expression, num_inputs, ard)
            for expression in dict.fromkeys(self.expressions)
        }
        self._pieces: dict[int, tuple[GPflowBank, ...]] = {}

    def __len__(self) -> int:
        return len(self.expressions)

    @property
    def mask(self) -> Mask:
        """Which entries of θ are used: [K, H]."""
        sizes = np.array([len(layout) for layout in self.layouts])
        return np.asarray(np.arange(self.num_slots) < sizes[:, np.newaxis])

    def __call__(self, theta: Any, X1: Any, X2: Any = None) -> tf.Tensor:
        """Kernel matrices without noise: [K, n1, n2] or [K, S, n1, n2]; without X2, of X1 alone."""
        X1 = self._checked_inputs(X1)
        X2 = X1 if X2 is None else self._checked_inputs(X2)
        return self._evaluate(signal_matrix, self._checked_theta(theta), X1, X2)

    def diag(self, theta: Any, X: Any) -> tf.Tensor:
        """Diagonals of the kernel matrices without noise: [K, n] or [K, S, n]."""
        return self._evaluate(signal_variance, self._checked_theta(theta), self._checked_inputs(X))

    def noise(self, theta: Any, X: Any) -> tf.Tensor:
        """Noise variances, from the likelihood and from white noise: [K, n] or [K, S, n]."""
        theta = self._checked_theta(theta)
        white = self._evaluate(noise_variance, theta, self._checked_inputs(X))
        return tf.exp(theta[..., NOISE_SLOT, tf.newaxis]) + white

    def with_gradient(
        self, objective: Objective, theta: tf.Tensor, *tensors: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """``objective(kernels, θ, *tensors)`` for θ [K, S, H], and its gradient for θ."""
        with tf.GradientTape() as tape:
            tape.watch(theta)
            value = objective(self, theta, *tensors)
        return value, tape.gradient(value, theta)

    def num_pieces(self, num_samples: int, num_rows: int, num_columns: int) -> int:
        """One, as kernels are evaluated one after the other anyway."""
        return 1

    def split(self, num_pieces: int) -> tuple[GPflowBank, ...]:
        """Banks of consecutive candidates, about equally many in each."""
        if num_pieces <= 1:
            return (self,)
        num_pieces = min(num_pieces, len(self))
        if num_pieces not in self._pieces:
            self._pieces[num_pieces] = self._make_split(num_pieces)
        return self._pieces[num_pieces]

    def _make_split(self, num_pieces: int) -> tuple[GPflowBank, ...]:
        bounds = np.arange(num_pieces + 1) * len(self) // num_pieces
        return tuple(
            GPflowBank(
                self.expressions[start:stop], self.num_inputs, ard=self.ard, _kernels=self._kernels
            )
            for start, stop in pairwise(bounds)
        )

    def _evaluate(self, compute: Computation, theta: tf.Tensor, *inputs: tf.Tensor) -> tf.Tensor:
        """What a computation gives for every kernel at each of its θ, differentiable in θ."""
        points = [tf.stop_gradient(X) for X in inputs]
        rows = tf.reshape(theta, [-1, self.num_slots])
        samples = range(len(rows) // len(self))
        kernels = [self._kernels[expression] for expression in self.expressions for _ in samples]

        @tf.custom_gradient
        def evaluate(theta: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            rows = theta.numpy()

            def gradient(upstream: tf.Tensor) -> tf.Tensor:
                _check_eager()
                parts = zip(kernels, rows, upstream, strict=True)
                return tf.stack([k.pullback(compute, row, up, *points) for k, row, up in parts])

            parts = zip(kernels, rows, strict=True)
            return tf.stack([k.value(compute, row, *points) for k, row in parts]), gradient

        values = evaluate(rows)
        return tf.reshape(values, [*theta.shape[:-1], *values.shape[1:]])

    def _checked_theta(self, theta: Any) -> tf.Tensor:
        _check_eager()
        theta = tf.cast(theta, gpflow.default_float())
        K, H = len(self), self.num_slots
        if theta.shape.rank not in (2, 3) or (theta.shape[0], theta.shape[-1]) != (K, H):
            raise DataError(f"θ must be [{K}, {H}] or [{K}, S, {H}], got {theta.shape}.")
        return theta

    def _checked_inputs(self, X: Any) -> tf.Tensor:
        X = tf.cast(X, gpflow.default_float())
        if X.shape.rank != 2 or X.shape[1] != self.num_inputs or X.shape[0] == 0:
            raise DataError(
                f"inputs must be [N, {self.num_inputs}] with at least one row, got {X.shape}."
            )
        return X


def _parsed(expressions: Sequence[Expression | str]) -> tuple[Expression, ...]:
    if isinstance(expressions, str):
        raise GrammarError(f"a bank takes a list of expressions, got the text {expressions!r}.")
    if not expressions:
        raise GrammarError("a bank needs at least one expression.")
    return tuple(parse(expression) for expression in expressions)


def _check_eager() -> None:
    if not tf.executing_eagerly():
        raise VbksError(
            "a GPflowBank cannot be part of a graph, since its kernels are given one θ after the "
            "other. Call it outside of tf.function, and use Bank where expressions can be batched."
        )
