"""Figures 3 and 4, tables 2 and 3: belief during training, and errors against time, on real data.

In each run another random fifth of the rows is held out, the same for all methods. The belief over
K144 is learned once, from the rows that no run holds out, and the ten structures that it puts first
are then trained in each run: by the paper all of K144 would be, which takes hours a run on two
cores. The time of that first training counts in that of VBKS. VBKS averages over the ten with q(g)
optimised again, VBKS-s predicts with the one that it believes in most. Bayesian optimisation and
the random kernel have all of K144 to choose from, and no test rows either. All train by the same
steps with the authors' learning rate, but for the usual size far fewer of them than the 15,000 of
the authors, with 200 inducing points and 128 rows in a minibatch.

The Swissgrid rows are of later years than the paper's. The file of the Intel lab has half-hourly
readings and no places of the sensors, so that its inputs are the time and the sensor's number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import vbks
from benchmarks.averaging import Table
from benchmarks.door.figure import Figure
from benchmarks.door.telling import tell
from benchmarks.paper_experiments.searches import (
    Training,
    bayesian_optimisation,
    random_choice,
)
from benchmarks.paper_experiments.training import Sizes, Stop
from vbks.arrays import Array, Rows
from vbks.data.training import prepare
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression
from vbks.search.paper import BeliefRecord
from vbks.selection.selection import Selection

HELD_OUT = 5
"""One row in so many, at random."""

NUM_SHOWN = 6
"""Kernels at most whose belief is shown, of those that were ever among ..."""

TOP = 3
"""... so many that the belief puts first, as in the paper's figures."""

VBKS, SINGLE, BO, RANDOM = METHODS = ("VBKS", "VBKS-s", "BO", "random")

NUMBERS = {"Swissgrid": (3, 2), "Intel lab": (4, 3)}
"""Numbers of the paper's figure and table."""


@dataclass(frozen=True)
class Size:
    """Rows at most, runs, space, members that are averaged, and how long all are trained.

    ``value_batches`` are those over which local ELBOs of the whole space are averaged, of which
    ``records`` are made on the way; by default the 100 or more of the authors.
    """

    rows: int
    runs: int
    space: Sequence[Expression]
    members: int
    sizes: Sizes
    first_steps: int
    value_batches: int | None
    records: int
    counts: tuple[int, ...]
    bo_rounds: int
    bo_steps: int


USUAL = Size(
    rows=10**9,
    runs=5,
    space=vbks.K144,
    members=10,
    sizes=Sizes(200, 128),
    first_steps=300,
    value_batches=30,
    records=6,
    counts=(250, 500, 1_000),
    bo_rounds=6,
    bo_steps=300,
)
FULL = replace(
    USUAL,
    runs=10,
    first_steps=15_000,
    value_batches=None,
    records=30,
    counts=(500, 1_500, 5_000, 15_000),
    bo_rounds=20,
    bo_steps=3_000,
)
QUICK = replace(
    USUAL,
    rows=400,
    runs=2,
    space=vbks.K12[:6],
    members=2,
    sizes=Sizes(16, 32),
    first_steps=20,
    value_batches=4,
    records=2,
    counts=(10, 20),
    bo_rounds=2,
    bo_steps=10,
)


@dataclass(frozen=True)
class Point:
    """An error after so many seconds."""

    seconds: float
    rmse: float


Run = dict[str, list[Point]]
"""Errors of each method on its way."""


def measure(size: Size, table: Table | None, seed: int) -> list[Figure]:
    """Beliefs and errors on a data set, if it is there."""
    return [] if table is None else list(_measure(table, size, seed))


def _measure(table: Table, size: Size, seed: int) -> Iterator[Figure]:
    rng = np.random.default_rng(seed)
    if len(table.y) > size.rows:
        table = table.take(rng.choice(len(table.y), size.rows, replace=False))
    tests = held_out(len(table.y), size.runs, rng)
    first = _first_training(table, tests, size, seed)
    yield from _belief_figures(table.name, first.belief_history)
    kernels = list(structures(first.belief["expression"]))[: size.members]
    started = first.belief_history[-1].seconds
    tell(f"{table.name}, {started:.0f} s: {', '.join(map(str, kernels))}")
    runs = []
    for number, test in enumerate(tests):
        runs.append(_run(table, test, kernels, size, started, number))
        ends = ", ".join(
            f"{m} {p[-1].rmse:.4g} in {p[-1].seconds:.0f} s" for m, p in runs[-1].items()
        )
        tell(f"{table.name}, run {number + 1}: {ends}")
    yield from _error_figures(table, runs)
    yield from _table_figures(table, runs)


def held_out(num_rows: int, runs: int, rng: np.random.Generator) -> list[Rows]:
    """Places of the rows that each run holds out."""
    num = num_rows // HELD_OUT
    return [np.sort(rng.choice(num_rows, num, replace=False)) for _ in range(runs)]


def never_held_out(num_rows: int, tests: Sequence[Rows]) -> Rows:
    """Places of the rows that all runs may learn from."""
    return np.setdiff1d(np.arange(num_rows), np.concatenate(tests))


def _first_training(table: Table, tests: Sequence[Rows], size: Size, seed: int) -> Selection:
    """The belief over the whole space, without any test row."""
    rows = table.take(never_held_out(len(table.y), tests))
    settings = vbks.PaperSettings(
        steps=size.first_steps,
        value_batches=size.value_batches,
        every=max(1, size.first_steps // size.records),
    )
    return vbks.fit(
        rows.X,
        rows.y,
        space=size.space,
        preset=settings,
        callback=lambda record: tell(f"{table.name}, step {record.step}: {record.best}"),
        num_inducing=size.sizes.num_inducing,
        batch_size=size.sizes.batch_size,
        seed=seed,
        progress=False,
    )


def _run(
    table: Table,
    test: Rows,
    kernels: Sequence[Expression],
    size: Size,
    started: float,
    number: int,
) -> Run:
    """Errors of all methods on one split."""
    train = np.setdiff1d(np.arange(len(table.y)), test)
    rows = prepare((table.X[train], table.y[train]))
    X, y = table.X[test], table.y[test]
    settings = vbks.PaperSettings(max_averaged=size.members)
    training = Training(settings, size.sizes, size.counts, number)
    averaged, single = [], []
    for stop in training.of(rows, kernels):
        seconds = started + stop.seconds
        averaged.append(Point(seconds, rmse(stop.selection, X, y)))
        best = replace(stop.selection, fits=(stop.selection.best,))
        single.append(Point(seconds, rmse(best, X, y)))
    bo = bayesian_optimisation(rows, size.space, training, size.bo_rounds, size.bo_steps)
    return {
        VBKS: averaged,
        SINGLE: single,
        BO: _scored(bo, X, y),
        RANDOM: _scored(random_choice(rows, size.space, training), X, y),
    }


def _scored(stops: Iterator[Stop], X: Array, y: Array) -> list[Point]:
    return [Point(stop.seconds, rmse(stop.selection, X, y)) for stop in stops]


def rmse(selection: Selection, X: Array, y: Array) -> float:
    """Root mean squared error of averaged predictions at rows X [N, D], y [N]."""
    mean, _ = selection.predict_y(X)
    return float(np.sqrt(np.mean((mean - y) ** 2)))


def shown_kernels(history: Sequence[BeliefRecord]) -> list[str]:
    """Kernels that were ever among those of the highest belief, the highest at the end first."""
    ever: dict[str, float] = {}
    for record in history:
        for k in np.argsort(-record.probabilities)[:TOP]:
            ever[record.expressions[k]] = float(history[-1].probabilities[k])
    return sorted(ever, key=lambda name: -ever[name])[:NUM_SHOWN]


def _belief_figures(name: str, history: Sequence[BeliefRecord]) -> Iterator[Figure]:
    number, _ = NUMBERS[name]
    for kernel in shown_kernels(history):
        for record in history:
            belief = float(record.probabilities[record.expressions.index(kernel)])
            yield Figure(belief_name(number, kernel, record.step), belief, "")
    seconds = history[-1].seconds
    yield Figure(f"Figure {number}a: time of {history[-1].step} steps", seconds, "s")


def _error_figures(table: Table, runs: Sequence[Run]) -> Iterator[Figure]:
    number, _ = NUMBERS[table.name]
    for method in METHODS:
        curves = [run[method] for run in runs]
        for place in range(min(map(len, curves))):
            points = [curve[place] for curve in curves]
            errors = [point.rmse for point in points]
            where = error_name(number, method, place)
            sd = f"standard deviation {np.std(errors):.4g}" if len(errors) > 1 else None
            yield Figure(f"{where}: RMSE, mean", float(np.mean(errors)), table.unit, None, sd)
            seconds = float(np.mean([point.seconds for point in points]))
            yield Figure(f"{where}: time, mean", seconds, "s")


def _table_figures(table: Table, runs: Sequence[Run]) -> Iterator[Figure]:
    _, number = NUMBERS[table.name]
    pairs = [(run[VBKS][-1].rmse, run[SINGLE][-1].rmse) for run in runs]
    for place, (averaged, single) in enumerate(pairs, 1):
        name = f"Table {number}, {table.name}, run {place}: RMSE"
        yield Figure(name, averaged, table.unit, None, f"single {single:.4g}")
    better = sum(averaged < single for averaged, single in pairs)
    yield Figure(
        f"Table {number}, {table.name}: runs in which averaging is better",
        better,
        f"of {len(pairs)}",
        "all of them, as in the paper",
        None,
        better == len(pairs),
    )


def belief_name(number: int, kernel: str, step: int) -> str:
    """The name of a point of figure 3a or 4a."""
    return f"Figure {number}a, {kernel}: belief after {step} steps"


def error_name(number: int, method: str, place: int) -> str:
    """How names of a point of figure 3b or 4b begin."""
    return f"Figure {number}b, {method}, point {place + 1}"
