"""K144 evaluated with gradients by the bank, beside a loop over compiled GPflow kernels.

Both compute the same kernel matrices, which is checked, and pull the same random matrix back to the
parameters. They take turns, and the least of several repeats counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.door.figure import Context, Figure
from benchmarks.door.memory import peak_memory
from benchmarks.door.pairs import draw_pairs
from benchmarks.door.record import Line
from vbks.arrays import Array
from vbks.grammar.expression import Expression, num_leaves
from vbks.grammar.space import K144
from vbks.kernels.bank.bank import Bank, num_traces
from vbks.kernels.gpflow.conversion import to_gpflow

REPEATS = 20

Evaluation = Callable[[], tuple[tf.Tensor, Any]]


@dataclass(frozen=True)
class Problem:
    """Kernels, inputs and the gradient to pull back, for M inducing points and batches of B."""

    expressions: Sequence[Expression]
    theta: Array
    X1: tf.Tensor
    X2: tf.Tensor
    upstream: tf.Tensor


@dataclass(frozen=True)
class Timing:
    """Seconds until the first result and per evaluation, and the result itself."""

    first: float
    best: float
    kernels: Array


def run(context: Context) -> list[Figure]:
    """Times at M=100, B=128 and M=16, B=32."""
    expressions = K144[::12] if context.quick else K144
    large, small = (_problem(expressions, M, B, context.seed) for M, B in ((100, 128), (16, 32)))
    before = peak_memory()
    bank_large = _first_result(partial(_bank_evaluation, large))
    memory = peak_memory() - before
    traces = num_traces()
    bank_small = _first_result(partial(_bank_evaluation, small))
    new_traces = num_traces() - traces
    loop_large = _first_result(partial(_loop_evaluation, large))
    loop_small = _first_result(partial(_loop_evaluation, small))
    a, b = _race(bank_large, loop_large, large)
    c, d = _race(bank_small, loop_small, small)
    elements = sum(num_leaves(e) for e in expressions) * large.X1.shape[0] * large.X2.shape[0]
    others = f"the loop: {b.best * 1e3:.0f} ms"
    return [
        _at_least("times faster per evaluation, M=100 B=128", b.best / a.best, 4, others),
        _at_least(
            "times faster per evaluation, M=16 B=32",
            d.best / c.best,
            15,
            f"the loop: {d.best * 1e3:.0f} ms",
        ),
        _at_least(
            "times faster to the first result, M=100 B=128",
            b.first / a.first,
            30,
            f"the loop: {b.first:.0f} s",
        ),
        _at_most("nanoseconds per leaf element, M=100 B=128", a.best / elements * 1e9, "ns", 10),
        Figure("one evaluation, M=100 B=128", a.best * 1e3, "ms"),
        Figure("one evaluation by the loop, M=100 B=128", b.best * 1e3, "ms"),
        Figure("one evaluation, M=16 B=32", c.best * 1e3, "ms"),
        Figure("one evaluation by the loop, M=16 B=32", d.best * 1e3, "ms"),
        Figure("first result, M=100 B=128", a.first * 1e3, "ms"),
        Figure("first result by the loop, M=100 B=128", b.first * 1e3, "ms"),
        _at_most("graphs traced for the second size", new_traces, "", 0),
        Figure("memory that the bank added, M=100 B=128", memory, "MB"),
        Figure("peak memory of the process", peak_memory(), "MB"),
    ]


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: milliseconds of the bank and of the loop, side by side."""
    draw_pairs(lines[-1], "ms", "K144 with gradients", path)


def _problem(expressions: Sequence[Expression], M: int, B: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    num_slots = Bank(expressions).num_slots
    return Problem(
        expressions,
        0.3 * rng.normal(size=(len(expressions), num_slots)),
        tf.constant(rng.normal(size=(M, 1))),
        tf.constant(rng.normal(size=(B, 1))),
        tf.constant(rng.normal(size=(len(expressions), M, B))),
    )


def _bank_evaluation(problem: Problem) -> Evaluation:
    bank = Bank(problem.expressions)
    theta = tf.constant(problem.theta)

    @tf.function(autograph=False)
    def evaluate() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(theta)
            kernels = bank(theta, problem.X1, problem.X2)
        return kernels, tape.gradient(kernels, theta, output_gradients=problem.upstream)

    return evaluate  # type: ignore[no-any-return]


def _loop_evaluation(problem: Problem) -> Evaluation:
    bank = Bank(problem.expressions)
    evaluations = []
    for i, expression in enumerate(problem.expressions):
        theta = problem.theta[i, : len(bank.layouts[i])]
        kernel = to_gpflow(expression, theta=theta)
        evaluations.append(_kernel_evaluation(kernel, problem, problem.upstream[i]))

    def evaluate() -> tuple[tf.Tensor, Any]:
        results = [one() for one in evaluations]
        return [kernel for kernel, _ in results], [gradient for _, gradient in results]

    return evaluate


def _kernel_evaluation(kernel: Any, problem: Problem, upstream: tf.Tensor) -> Evaluation:
    variables = kernel.trainable_variables

    @tf.function(autograph=False)
    def evaluate() -> tuple[tf.Tensor, Any]:
        with tf.GradientTape() as tape:
            value = kernel(problem.X1, problem.X2)
        return value, tape.gradient(value, variables, output_gradients=upstream)

    return evaluate  # type: ignore[no-any-return]


def _first_result(make: Callable[[], Evaluation]) -> tuple[Evaluation, float]:
    start = time.perf_counter()
    evaluate = make()
    evaluate()
    return evaluate, time.perf_counter() - start


def _race(
    bank: tuple[Evaluation, float], loop: tuple[Evaluation, float], problem: Problem
) -> tuple[Timing, Timing]:
    times = np.array([[_seconds(bank[0]), _seconds(loop[0])] for _ in range(REPEATS)])
    timings = [
        Timing(first, best, np.stack(evaluate()[0]))
        for (evaluate, first), best in zip((bank, loop), times.min(axis=0), strict=True)
    ]
    np.testing.assert_allclose(timings[0].kernels, timings[1].kernels, rtol=0, atol=1e-8)
    return timings[0], timings[1]


def _seconds(evaluate: Evaluation) -> float:
    start = time.perf_counter()
    evaluate()
    return time.perf_counter() - start


def _at_least(name: str, value: float, asked: float, others: str) -> Figure:
    return Figure(name, value, "times", f"at least {asked}", others, bool(value >= asked))


def _at_most(name: str, value: float, unit: str, asked: float) -> Figure:
    return Figure(name, value, unit, f"at most {asked}", met=bool(value <= asked))
