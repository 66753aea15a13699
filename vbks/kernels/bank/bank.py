"""The bank: many kernels evaluated at once, by one graph that serves any list of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Mask
from vbks.errors import DataError, GrammarError
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.kernels.bank.evaluation import evaluate, evaluate_diag, evaluate_noise
from vbks.kernels.bank.structure import DenseKind, DenseTable, Structure, structure_of
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.registry import forget_on_change

CHUNK_ELEMENTS = 4_000_000
"""Numbers in one array over all terms. A call that needs more goes through its candidates in
pieces: 32 MB is what the allocator reuses instead of asking the system for fresh pages, and a
gradient needs a handful of such arrays."""


class Bank:
    """Kernels of many expressions, evaluated together.

    θ is [K, H], row k holding the unconstrained values of expression k in the order of its layout
    (``layouts[k]``, the logarithm of the noise variance first) and anything behind them; or
    [K, S, H] for S samples or restarts of each. All lists run on one graph, as long as the same
    families (if any) are computed by formula: your own, LIN on more than four inputs, and PER0 on
    several at once.

    Gradients flow to θ; to inputs only with ``differentiable_inputs``, which computes every leaf by
    its formula and takes several times longer.
    """

    def __init__(
        self,
        expressions: Sequence[Expression | str],
        num_inputs: int = 1,
        *,
        ard: bool = True,
        differentiable_inputs: bool = False,
        _kinds: tuple[DenseKind, ...] = (),
    ) -> None:
        if isinstance(expressions, str):
            raise GrammarError(f"a bank takes a list of expressions, got the text {expressions!r}.")
        if not expressions:
            raise GrammarError("a bank needs at least one expression.")
        self.expressions = tuple(parse(expression) for expression in expressions)
        self.num_inputs = num_inputs
        self.ard = ard
        self.differentiable_inputs = differentiable_inputs
        self.layouts: tuple[Layout, ...] = tuple(
            lay_out(expression, num_inputs, ard) for expression in self.expressions
        )
        self.num_slots = max(len(layout) for layout in self.layouts)
        arrays, self._dense_kinds = structure_of(
            self.layouts, self.num_slots, differentiable_inputs, _kinds
        )
        # A bank may be made while a graph is traced, and outlives it.
        with tf.init_scope():
            self._structure: Structure = tf.nest.map_structure(tf.constant, arrays)
        self._num_terms = np.bincount(arrays.term_candidate, minlength=len(self.expressions))
        self._pieces: dict[int, tuple[Bank, ...]] = {}

    def __len__(self) -> int:
        return len(self.expressions)

    @property
    def mask(self) -> Mask:
        """Which entries of θ are used: [K, H]."""
        sizes = np.array([len(layout) for layout in self.layouts])
        return np.asarray(np.arange(self.num_slots) < sizes[:, np.newaxis])

    def __call__(self, theta: Any, X1: Any, X2: Any = None) -> tf.Tensor:
        """Kernel matrices without noise: [K, n1, n2] or [K, S, n1, n2]; without X2, of X1 alone."""
        theta, has_samples = self._checked_theta(theta)
        X1 = self._checked_inputs(X1)
        X2 = X1 if X2 is None else self._checked_inputs(X2)
        pieces = self.split(self._num_pieces(theta, X1, X2))
        if len(pieces) == 1:
            kernels = self._run(_KERNELS, theta, X1, X2)
        else:
            kernels = _in_pieces(pieces, theta, X1, X2)
        return kernels if has_samples else kernels[:, 0]

    def diag(self, theta: Any, X: Any) -> tf.Tensor:
        """Diagonals of the kernel matrices without noise: [K, n] or [K, S, n]."""
        theta, has_samples = self._checked_theta(theta)
        diagonals = self._run(_DIAGONALS, theta, self._checked_inputs(X))
        return diagonals if has_samples else diagonals[:, 0]

    def noise(self, theta: Any, X: Any) -> tf.Tensor:
        """Noise variances, from the likelihood and from white noise: [K, n] or [K, S, n]."""
        theta, has_samples = self._checked_theta(theta)
        noise = self._run(_NOISE, theta, self._checked_inputs(X))
        return noise if has_samples else noise[:, 0]

    def with_gradient(
        self, objective: Objective, theta: tf.Tensor, *tensors: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """``objective(kernels, θ, *tensors)`` for θ [K, S, H], and its gradient, as one graph.

        ``kernels`` are called as the bank is. What the objective sums up per candidate and sample
        has one graph for all banks, which saves most of the time where matrices are small.
        """
        ranks = tuple(tensor.shape.rank for tensor in tensors)
        kind = (self._dense_kinds, self.differentiable_inputs, theta.dtype)
        with _LOCK:
            function = _make_objective(objective, ranks, *kind)
        return function(self._structure, theta, *tensors)

    def run(self, function: Callable[..., Any], *tensors: Any) -> Any:
        """``function(kernels, *tensors)`` as one graph, which is the same for all banks.

        Tensors may be nested, and of any size in the next call. The function must be the same
        object each time.
        """
        shapes = tf.nest.map_structure(
            lambda tensor: tf.TensorSpec([None] * tensor.shape.rank, tensor.dtype), tensors
        )
        kind = (self._dense_kinds, self.differentiable_inputs)
        with _LOCK:
            compiled = _make_graph(function, shapes, *kind)
        return compiled(self._structure, *tensors)

    def num_pieces(self, num_samples: int, num_rows: int, num_columns: int) -> int:
        """In how many pieces kernel matrices of a size keep all arrays small."""
        elements = int(self._num_terms.sum()) * num_samples * num_rows * num_columns
        return -(-elements // CHUNK_ELEMENTS)

    def split(self, num_pieces: int) -> tuple[Bank, ...]:
        """Banks of consecutive candidates with about equally many terms, which is equal work."""
        if num_pieces <= 1:
            return (self,)
        num_pieces = min(num_pieces, len(self))
        if num_pieces not in self._pieces:
            self._pieces[num_pieces] = self._make_split(num_pieces)
        return self._pieces[num_pieces]

    def _make_split(self, num_pieces: int) -> tuple[Bank, ...]:
        work = np.cumsum(np.maximum(self._num_terms, 1))
        cuts = np.searchsorted(work, work[-1] * np.arange(1, num_pieces) / num_pieces)
        bounds = np.unique([0, *cuts, len(self)])
        return tuple(
            Bank(
                self.expressions[start:stop],
                self.num_inputs,
                ard=self.ard,
                differentiable_inputs=self.differentiable_inputs,
                _kinds=self._dense_kinds,
            )
            for start, stop in pairwise(bounds)
        )

    def _num_pieces(self, theta: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor) -> int:
        """How many pieces keep arrays small; one when sizes are not known while tracing."""
        sizes = (theta.shape[1], X1.shape[0], X2.shape[0])
        return 1 if None in sizes else self.num_pieces(*sizes)

    def _run(self, kind: str, *arguments: tf.Tensor) -> tf.Tensor:
        function = _compiled(
            kind, self._dense_kinds, self.differentiable_inputs, arguments[0].dtype
        )
        return function(self._structure, *arguments)

    def _checked_theta(self, theta: Any) -> tuple[tf.Tensor, bool]:
        theta = tf.cast(theta, gpflow.default_float())
        K, H = len(self), self.num_slots
        if (
            theta.shape.rank not in (2, 3)
            or theta.shape[0] not in (K, None)
            or theta.shape[-1] not in (H, None)
        ):
            raise DataError(f"θ must be [{K}, {H}] or [{K}, S, {H}], got {theta.shape}.")
        has_samples = theta.shape.rank == 3
        theta = theta if has_samples else theta[:, tf.newaxis]
        return tf.ensure_shape(theta, [K, None, H]), has_samples

    def _checked_inputs(self, X: Any) -> tf.Tensor:
        X = tf.cast(X, gpflow.default_float())
        wrong = X.shape.rank != 2 or X.shape[1] not in (self.num_inputs, None)
        if wrong or X.shape[0] == 0:
            raise DataError(
                f"inputs must be [N, {self.num_inputs}] with at least one row, got {X.shape}."
            )
        return tf.ensure_shape(X, [None, self.num_inputs])


class TracedKernels:
    """The kernels of a bank's structure while a graph is traced, for θ [K, S, H]."""

    def __init__(
        self, structure: Structure, dense_kinds: tuple[DenseKind, ...], by_formula: bool
    ) -> None:
        self._structure, self._kinds, self._by_formula = structure, dense_kinds, by_formula

    def __call__(self, theta: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor | None = None) -> tf.Tensor:
        """Kernel matrices without noise: [K, S, n1, n2]."""
        X2 = X1 if X2 is None else X2
        return evaluate(self._structure, self._kinds, self._by_formula, theta, X1, X2)

    def diag(self, theta: tf.Tensor, X: tf.Tensor) -> tf.Tensor:
        """Their diagonals: [K, S, n]."""
        return evaluate_diag(self._structure, self._kinds, theta, X)

    def noise(self, theta: tf.Tensor, X: tf.Tensor) -> tf.Tensor:
        """Noise variances: [K, S, n]."""
        return evaluate_noise(self._structure, self._kinds, theta, X)


Objective = Callable[..., tf.Tensor]
"""``objective(kernels, θ, *tensors)`` is [K, S], where ``kernels`` are a bank or traced ones."""


@cache
def _make_objective(
    objective: Objective,
    ranks: tuple[int, ...],
    dense_kinds: tuple[DenseKind, ...],
    by_formula: bool,
    dtype: tf.DType,
) -> Callable[..., tuple[tf.Tensor, tf.Tensor]]:
    """The graph of an objective and its gradient, for tensors of any size."""

    def run(structure: Structure, theta: tf.Tensor, *tensors: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(theta)
            value = objective(TracedKernels(structure, dense_kinds, by_formula), theta, *tensors)
        return value, tape.gradient(value, theta)

    specs = [tf.TensorSpec([None] * rank, dtype) for rank in (3, *ranks)]
    signature = [_structure_spec(len(dense_kinds)), *specs]
    compiled = tf.function(run, input_signature=signature, autograph=False)
    _FUNCTIONS.append(compiled)
    return compiled  # type: ignore[no-any-return]


@cache
def _make_graph(
    function: Callable[..., Any],
    shapes: tuple[Any, ...],
    dense_kinds: tuple[DenseKind, ...],
    by_formula: bool,
) -> Callable[..., Any]:
    """The graph of a function of kernels and tensors, for tensors of any size."""

    def run(structure: Structure, *tensors: Any) -> Any:
        return function(TracedKernels(structure, dense_kinds, by_formula), *tensors)

    signature = [_structure_spec(len(dense_kinds)), *shapes]
    compiled = tf.function(run, input_signature=signature, autograph=False)
    _FUNCTIONS.append(compiled)
    return compiled  # type: ignore[no-any-return]


def num_traces() -> int:
    """How many graphs all banks together have made so far."""
    return sum(function.experimental_get_tracing_count() for function in _FUNCTIONS)


_KERNELS, _PULLBACKS, _DIAGONALS, _NOISE = "kernels", "pullbacks", "diagonals", "noise"

_FUNCTIONS: list[Any] = []

_LOCK = Lock()


def _compiled(
    kind: str, dense_kinds: tuple[DenseKind, ...], by_formula: bool, dtype: tf.DType
) -> Callable[..., tf.Tensor]:
    """The graph of one computation, made by whoever needs it first."""
    with _LOCK:
        return _make_compiled(kind, dense_kinds, by_formula, dtype)


@cache
def _make_compiled(
    kind: str, dense_kinds: tuple[DenseKind, ...], by_formula: bool, dtype: tf.DType
) -> Callable[..., tf.Tensor]:
    """The graph of one computation, for structures and inputs of any size."""

    def kernels(structure: Structure, theta: Any, X1: Any, X2: Any) -> tf.Tensor:
        return evaluate(structure, dense_kinds, by_formula, theta, X1, X2)

    def pullbacks(structure: Structure, theta: Any, X1: Any, X2: Any, upstream: Any) -> Any:
        sources = [theta, X1, X2] if by_formula else [theta]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            value = evaluate(structure, dense_kinds, by_formula, theta, X1, X2)
        return tape.gradient(value, sources, output_gradients=upstream)

    def diagonals(structure: Structure, theta: Any, X: Any) -> tf.Tensor:
        return evaluate_diag(structure, dense_kinds, theta, X)

    def noise(structure: Structure, theta: Any, X: Any) -> tf.Tensor:
        return evaluate_noise(structure, dense_kinds, theta, X)

    theta, matrix = tf.TensorSpec([None] * 3, dtype), tf.TensorSpec([None] * 2, dtype)
    functions: dict[str, tuple[Callable[..., Any], list[tf.TensorSpec]]] = {
        _KERNELS: (kernels, [theta, matrix, matrix]),
        _PULLBACKS: (pullbacks, [theta, matrix, matrix, tf.TensorSpec([None] * 4, dtype)]),
        _DIAGONALS: (diagonals, [theta, matrix]),
        _NOISE: (noise, [theta, matrix]),
    }
    function, arguments = functions[kind]
    signature = [_structure_spec(len(dense_kinds)), *arguments]
    compiled = tf.function(function, input_signature=signature, autograph=False)
    _FUNCTIONS.append(compiled)
    return compiled  # type: ignore[no-any-return]


forget_on_change(_make_compiled.cache_clear)
forget_on_change(_make_objective.cache_clear)
forget_on_change(_make_graph.cache_clear)


def _structure_spec(num_dense: int) -> Structure:
    example, kinds = structure_of([lay_out(parse("C"))], num_slots=2)
    assert not kinds
    table = DenseTable(np.zeros([1, 1], np.int32), np.zeros([1, 1], np.int32))
    example = example._replace(dense=(table,) * num_dense)
    spec: Structure = tf.nest.map_structure(
        lambda array: tf.TensorSpec([None] * array.ndim, tf.int32), example
    )
    return spec


def _in_pieces(pieces: Sequence[Bank], theta: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
    """Evaluate pieces one after the other, and again for the gradient instead of keeping arrays."""

    def evaluate_piece(bank: Bank, theta: tf.Tensor) -> tf.Tensor:
        @tf.custom_gradient
        def evaluate_once(theta: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor) -> Any:
            def gradient(upstream: tf.Tensor) -> Any:
                pulled = bank._run(_PULLBACKS, theta, X1, X2, upstream)
                return pulled if bank.differentiable_inputs else (*pulled, None, None)

            return bank._run(_KERNELS, theta, X1, X2), gradient

        return evaluate_once(theta, X1, X2)

    starts = np.cumsum([0, *(len(bank) for bank in pieces)])
    return tf.concat(
        [
            evaluate_piece(bank, theta[start : start + len(bank), :, : bank.num_slots])
            for start, bank in zip(starts, pieces, strict=False)
        ],
        axis=0,
    )
