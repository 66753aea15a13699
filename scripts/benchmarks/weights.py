"""What predictions are best averaged with: probabilities, stacking, or stacking where it is clear.

Every data set is fitted once, over a fixed space, and its held-out rows are predicted with each of
the weights: the ends of monthly, quarterly and yearly series, the given test rows of regression
sets, and rows at random of two large sets. Differences of mean log densities of a row are taken
from those of the probabilities, so that higher is better. Series come from two halves, so that a
rule chosen on one can be seen on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import vbks
from benchmarks.averaging import read_intel_lab, read_swissgrid
from benchmarks.door.figure import Context, Figure
from benchmarks.door.telling import tell
from benchmarks.door.weighings import WEIGHINGS
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array

REGRESSION_SPACE = (
    "SE", "RQ", "LIN", "LIN + SE", "LIN + RQ", "LIN * SE", "SE + SE", "RQ + SE"
)  # fmt: skip

REFERENCE = "bayes"
"""The weights that others are compared with: the probabilities."""

MOST_ROWS = 300
"""Rows that regression sets are fitted to at most, so that all fits are exact."""

PERIODS = ("monthly", "quarterly", "yearly")


@dataclass(frozen=True)
class Size:
    """Series of each period in each half, splits of each regression set, rows of large sets."""

    series: int
    splits: int
    large: int


FULL = Size(series=14, splits=3, large=6000)
QUICK = Size(series=1, splits=1, large=0)


@dataclass(frozen=True)
class Problem:
    """Rows to learn from and rows to predict, and the kernels to do it with."""

    group: str
    name: str
    train: tuple[Array, Array]
    test: tuple[Array, Array]
    space: tuple[Any, ...]
    settings: tuple[tuple[str, Any], ...] = ()


def run(context: Context) -> list[Figure]:
    """Log densities of held-out rows under each of the weights, by groups of data sets."""
    size = QUICK if context.quick else FULL
    problems = [*_series(context, size), *_regression(context, size), *_large(context, size)]
    gains: dict[str, list[dict[str, float]]] = {}
    for problem, found in _scored(problems, context.quick):
        gains.setdefault(problem.group, []).append(found)
        told = ", ".join(f"{name} {value:+.3f}" for name, value in found.items())
        tell(f"{problem.group}, {problem.name}: {told}")
    return [figure for group, found in gains.items() for figure in _figures(group, found)]


def _scored(
    problems: Sequence[Problem], is_quick: bool
) -> Iterator[tuple[Problem, dict[str, float]]]:
    if is_quick:
        yield from zip(problems, map(_gains, problems), strict=True)
        return
    with one_for_each_core() as pool:
        yield from zip(problems, pool.map(_gains, problems), strict=True)


def _gains(problem: Problem) -> dict[str, float]:
    """Mean log density of a held-out row under each of the weights, less the reference's."""
    selection = vbks.fit(
        *problem.train, space=problem.space, progress=False, **dict(problem.settings)
    )
    scores = {
        name: float(selection.with_belief(**own).predict_log_density(problem.test).mean())
        for name, own in WEIGHINGS.items()
    }
    return {name: score - scores[REFERENCE] for name, score in scores.items() if name != REFERENCE}


def _figures(group: str, found: Sequence[dict[str, float]]) -> Iterator[Figure]:
    for name in found[0]:
        gains = np.array([own[name] for own in found])
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        num_above, num_below = int(np.sum(gains > 1e-9)), int(np.sum(gains < -1e-9))
        yield Figure(
            f"{group}: log density of a row by {name}, less that by probabilities",
            float(gains.mean()),
            "nats",
            others=f"standard error {error:.3f}, median {np.median(gains):+.3f}, above zero in "
            f"{num_above} and below in {num_below} of {len(gains)}",
        )


def _series(context: Context, size: Size) -> Iterator[Problem]:
    for file in ("m1", "tourism"):
        path = context.file(f"forecasting/{file}.csv")
        if path is None:
            continue
        table = pd.read_csv(path)
        for period in PERIODS:
            own = table[table["period"] == period].reset_index(drop=True)
            for half in (0, 1):
                # Evenly over the file, whose series are sorted by what they are about.
                rows = own.iloc[half::2]
                step = max(1, 2 * len(rows) // size.series)
                for _, row in rows.iloc[::step].iterrows():
                    yield _forecast(
                        f"{period} series, half {half + 1}", f"{file} {row['name']}", row
                    )


def _forecast(group: str, name: str, row: pd.Series[Any]) -> Problem:
    y, ynew = (np.array(row[part].split(";"), float) for part in ("train", "test"))
    x = np.arange(len(y) + len(ynew), dtype=float)[:, np.newaxis]
    return Problem(group, name, (x[: len(y)], y), (x[len(y) :], ynew), vbks.K12)


def _regression(context: Context, size: Size) -> Iterator[Problem]:
    for name in ("servo", "concrete"):
        for split in range(1, size.splits + 1):
            files = [f"regression/{name}_fold{split:02}_{part}.csv" for part in ("train", "test")]
            paths = [context.file(file) for file in files]
            if paths[0] is not None and paths[1] is not None:
                yield _tabular(f"{name} {split}", *map(_read, paths))  # type: ignore[arg-type]
    for name in ("yacht", "energy", "autompg", "airfoil", "wine"):
        path = context.file(f"uci/{name}.csv.gz")
        if path is None:
            continue
        table = pd.read_csv(path)
        inputs = [column for column in table if str(column).startswith("x")]
        X, y = table[inputs].to_numpy(float), table["y"].to_numpy(float)
        for split in range(1, size.splits + 1):
            test = table[f"test{split:02}"].to_numpy() == 1
            yield _tabular(f"{name} {split}", (X[~test], y[~test]), (X[test], y[test]))


def _tabular(name: str, train: tuple[Array, Array], test: tuple[Array, Array]) -> Problem:
    kept = np.random.default_rng(0).permutation(len(train[1]))[:MOST_ROWS]
    some = (train[0][kept], train[1][kept])
    settings = (("warps", ("identity",)),)
    return Problem("regression", name, some, test, REGRESSION_SPACE, settings)


def _read(path: Path) -> tuple[Array, Array]:
    table = pd.read_csv(path)
    return table.drop(columns="y").to_numpy(float), table["y"].to_numpy(float)


def _large(context: Context, size: Size) -> Iterator[Problem]:
    for read in (read_swissgrid, read_intel_lab):
        table = read(context)
        if table is None or not size.large:
            continue
        order = np.random.default_rng(0).permutation(len(table.y))
        train = table.take(order[: size.large])
        test = table.take(order[size.large : size.large + 2000])
        settings = (("warps", ("identity",)), ("inference", "stochastic"), ("num_inducing", 150))
        rows = (train.X, train.y), (test.X, test.y)
        yield Problem("large", table.name, *rows, vbks.K12, settings)
