"""Figure 5: total time against iterations, for minibatches of 32 to 512 rows.

Steps of twelve kernels with 200 inducing points, where the paper has 144 with 800. The graph is
made before time is measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import linregress

import vbks
from benchmarks.door.figure import Figure
from benchmarks.door.telling import tell
from benchmarks.paper_experiments.training import Sizes, begun
from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.grammar.expression import Expression
from vbks.inference.paper.group import Group

STRAIGHT = 0.99
"""Share of the variance at least that a line explains if times lie on it."""


@dataclass(frozen=True)
class Size:
    """Rows, kernels, inducing points, rows of minibatches, and points of ``steps`` steps each."""

    rows: int
    space: Sequence[Expression]
    num_inducing: int
    batch_sizes: tuple[int, ...]
    points: int
    steps: int


USUAL = Size(10_000, vbks.K12, 200, (32, 64, 128, 256, 512), points=8, steps=25)
FULL = Size(100_000, vbks.K12, 800, (32, 64, 128, 256, 512), points=8, steps=25)
QUICK = Size(300, vbks.K12[:2], 16, (32, 64, 128), points=4, steps=5)


@dataclass(frozen=True)
class StraightLine:
    """The line of least squares through some points, and the share of variance it explains."""

    slope: float
    intercept: float
    r_squared: float


def line_through(x: Sequence[float], y: Sequence[float]) -> StraightLine:
    """The line of least squares."""
    found = linregress(x, y)
    return StraightLine(float(found.slope), float(found.intercept), float(found.rvalue**2))


def measure(size: Size, seed: int) -> Iterator[Figure]:
    """Lines through times for all minibatches, and how their slopes grow."""
    rows = prepare(_rows(size.rows, seed))
    slopes = []
    for batch_size in size.batch_sizes:
        steps, seconds = _times(rows, size, batch_size, seed)
        line = line_through(steps, seconds)
        slopes.append(1000.0 * line.slope)
        tell(f"B={batch_size}: {slopes[-1]:.1f} ms a step, R² {line.r_squared:.4f}")
        for count, elapsed in zip(steps, seconds, strict=True):
            yield Figure(point_name(batch_size, count), elapsed, "s")
        yield Figure(
            f"Figure 5, B={batch_size}: R² of a line",
            line.r_squared,
            "",
            f"a straight line, at least {STRAIGHT:g}",
            None,
            line.r_squared >= STRAIGHT,
        )
        yield Figure(f"Figure 5, B={batch_size}: time of a step", slopes[-1], "ms")
    growth = line_through(size.batch_sizes, slopes)
    yield Figure(
        "Figure 5: time of a step for each row of a minibatch",
        1000.0 * growth.slope,
        "µs",
        None,
        f"{growth.intercept:.3g} ms beside that; R² {growth.r_squared:.3f}",
    )


def _times(
    rows: TrainingData, size: Size, batch_size: int, seed: int
) -> tuple[list[int], list[float]]:
    """Steps so far and seconds since the first of them."""
    settings = vbks.PaperSettings()
    sizes = Sizes(size.num_inducing, batch_size)
    states, comparison = begun(rows, size.space, settings, sizes, seed)
    group = Group(states, comparison, settings)
    batches = rows.minibatches(batch_size, seed)
    group.take(size.steps, batches)
    began = time.perf_counter()
    steps, seconds = [], []
    for point in range(1, size.points + 1):
        group.take(size.steps, batches)
        steps.append(point * size.steps)
        seconds.append(time.perf_counter() - began)
    return steps, seconds


def _rows(num: int, seed: int) -> tuple[Array, Array]:
    """A noisy wave: times do not depend on what rows say."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 100.0, num)
    return x[:, np.newaxis], np.sin(x) + 0.1 * rng.normal(size=num)


def point_name(batch_size: int, steps: int) -> str:
    """The name of a point of the figure."""
    return f"Figure 5, B={batch_size}: time of {steps} steps"
