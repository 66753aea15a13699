"""Predictions averaged over twelve kernels beside those of a single one, on two large data sets.

The twelve are the structures that a first run over K144 on a tenth of the rows ranks highest. In
each run another random fifth of the rows is held out, and the twelve are fitted to the rest by
minibatches, with point estimates of θ as in the VBKS paper. The single kernel is the one that the
same belief puts first. A belief that is sure of one kernel makes the two the same, which counts as
not worse; how sure each belief is stands beside it. "paper" is the belief of the authors' code:
bounds divided by half the number of minibatches, ten kernels, no correction for point estimates.

The Swissgrid rows are of later years than the paper's. The file of the Intel lab has no places of
the sensors, so that its inputs are the time and the sensor's number, which may say little about
where it is: two inputs, where the paper has three.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.scores import Scores, score
from benchmarks.door.telling import tell
from benchmarks.door.weighings import WEIGHINGS
from vbks.arrays import Array, Rows
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.paper.settings import PaperSettings
from vbks.selection.selection import Selection
from vbks.weights.settings import BeliefSettings, paper_settings

HELD_OUT = 5
"""One row in so many, at random."""

FIRST_SHARE = 10
"""One row in so many takes part in the first run over K144."""

PAPER_BATCHES = {"Swissgrid": 128, "Intel lab": 512}
"""Rows of a minibatch in the paper, by which its belief divides bounds."""

ASKED_SHARE = 0.9
"""Of the runs in which averaging is not worse."""

ROUNDING = 1e-6
"""Relative difference up to which two scores are the same."""

SINGLE = parse("SE")
"""What people use who do not choose."""

BELIEFS = (*WEIGHINGS, "paper")

MEASURES = ("RMSE", "NLPD")


@dataclass(frozen=True)
class Size:
    """Rows at most, runs, members of K144 to rank, kernels to average and inducing points."""

    rows: int
    runs: int
    ranked: Sequence[Expression]
    kernels: int
    num_inducing: int


FULL = Size(rows=10**9, runs=10, ranked=vbks.K144, kernels=12, num_inducing=200)
QUICK = Size(rows=2_000, runs=2, ranked=vbks.K144[::12], kernels=3, num_inducing=32)


@dataclass(frozen=True)
class Table:
    """A data set in its own units."""

    name: str
    unit: str
    X: Array
    y: Array

    def take(self, places: Rows) -> Table:
        """Some of the rows, in their order."""
        places = np.sort(places)
        return replace(self, X=self.X[places], y=self.y[places])


@dataclass(frozen=True)
class Pair:
    """Averaged and single scores under one belief, and the belief in the single kernel."""

    averaged: Scores
    single: Scores
    first: float


@dataclass(frozen=True)
class Run:
    """One run: pairs for all beliefs, and what kernels chosen without the data reach."""

    pairs: dict[str, Pair]
    random: Scores
    se: Scores
    seconds: float


def run(context: Context) -> list[Figure]:
    """RMSE and NLPD of averaged and single predictions over several splits of two data sets."""
    size = QUICK if context.quick else FULL
    figures: list[Figure] = []
    for read in (read_swissgrid, read_intel_lab):
        rows = read(context)
        if rows is not None:
            figures += _measure(rows, size, context.seed)
    return figures


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: by how much averaging is better than the single kernel, for each belief."""
    newest = lines[-1]
    values = {figure.name: figure.value for figure in newest.figures}
    names = [n for n in PAPER_BATCHES if _gain(n, BELIEFS[0], "RMSE") in values]
    canvas = Canvas(figsize=(4.5 * max(1, len(names)), 4), layout="constrained")
    panels = canvas.subplots(len(MEASURES), max(1, len(names)), squeeze=False)
    for row, measure in zip(panels, MEASURES, strict=True):
        for panel, name in zip(row, names, strict=False):
            gains = [values[_gain(name, belief, measure)] for belief in BELIEFS]
            panel.barh(BELIEFS, gains, color="tab:blue")
            panel.axvline(0.0, color="tab:gray")
            panel.invert_yaxis()
            unit = "%" if measure == "RMSE" else "nats a row"
            panel.set_title(f"{name}: {measure} lower by, {unit}", fontsize="medium")
    canvas.suptitle(f"Averaging beside the best single kernel, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def read_swissgrid(context: Context) -> Table | None:
    """Energy every 15 minutes against days."""
    path = context.file("large/swissgrid_15min_2019_2020.csv")
    if path is None:
        return None
    table = pd.read_csv(path, parse_dates=["time"])
    days = (table["time"] - table["time"].iloc[0]).dt.total_seconds().to_numpy() / 86_400
    return Table("Swissgrid", "MWh", days[:, np.newaxis], table["kwh"].to_numpy() / 1000)


def read_intel_lab(context: Context) -> Table | None:
    """Temperature against the hour and the number of the sensor."""
    path = context.file("large/intel_lab_30min.csv")
    if path is None:
        return None
    table = pd.read_csv(path)
    X = table[["hour", "sensor_row"]].to_numpy(float)
    return Table("Intel lab", "°C", X, table["temperature"].to_numpy())


def _measure(rows: Table, size: Size, seed: int) -> list[Figure]:
    rng = np.random.default_rng(seed)
    if len(rows.y) > size.rows:
        rows = rows.take(rng.choice(len(rows.y), size.rows, replace=False))
    kernels = _best_kernels(rows, size, rng, seed)
    runs = []
    for number in range(size.runs):
        runs.append(_run(rows, kernels, size, np.random.default_rng([seed, number]), number))
        _tell(rows, number, runs[-1])
    return list(_figures(rows, runs))


def _best_kernels(rows: Table, size: Size, rng: np.random.Generator, seed: int) -> list[Expression]:
    """The structures that a tenth of the rows favours."""
    few = rows.take(rng.choice(len(rows.y), len(rows.y) // FIRST_SHARE, replace=False))
    began = time.perf_counter()
    selection = _fit(few, size.ranked, size.num_inducing, seed, prune=True)
    ranked = list(structures(selection.belief["expression"]))[: size.kernels]
    seconds = time.perf_counter() - began
    tell(f"{rows.name}, {len(few.y)} rows, {seconds:.0f} s: {', '.join(map(str, ranked))}")
    return ranked


def _fit(
    rows: Table, space: Sequence[Expression], num_inducing: int, seed: int, prune: bool = False
) -> Selection:
    return vbks.fit(
        rows.X,
        rows.y,
        space=space,
        inference="stochastic",
        posterior="point",
        num_inducing=num_inducing,
        warps=("identity",),
        prune=prune,
        seed=seed,
        progress=False,
    )


def _run(
    rows: Table,
    kernels: Sequence[Expression],
    size: Size,
    rng: np.random.Generator,
    seed: int,
) -> Run:
    order = rng.permutation(len(rows.y))
    num_test = len(order) // HELD_OUT
    test, train = rows.take(order[:num_test]), rows.take(order[num_test:])
    began = time.perf_counter()
    together = _fit(train, list(dict.fromkeys([*kernels, SINGLE])), size.num_inducing, seed)
    seconds = time.perf_counter() - began
    chosen = tuple(fit for fit in together.fits if fit.expression in kernels)
    selection = replace(together, fits=chosen)
    pairs = {}
    for belief, settings in _settings(rows.name, len(train.y)).items():
        believed = replace(selection, belief_settings=settings)
        first = float(believed.probabilities.max())
        single = replace(believed, fits=(believed.best,))
        pairs[belief] = Pair(score(believed, test.X, test.y), score(single, test.X, test.y), first)
    usable = [fit for fit in chosen if fit.status == "fitted"]
    random = replace(selection, fits=(usable[int(rng.integers(len(usable)))],))
    se = replace(selection, fits=(together.fit_of(SINGLE),))
    return Run(pairs, score(random, test.X, test.y), score(se, test.X, test.y), seconds)


def _settings(name: str, num_rows: int) -> dict[str, BeliefSettings]:
    paper = paper_settings(PaperSettings(), num_rows, PAPER_BATCHES[name])
    return {**{kind: BeliefSettings(**own) for kind, own in WEIGHINGS.items()}, "paper": paper}


def _tell(rows: Table, number: int, result: Run) -> None:
    tell(f"{rows.name}, run {number + 1}: {result.seconds:.0f} s")
    for belief, pair in result.pairs.items():
        tell(f"    {belief:9} {pair.averaged}; the first ({pair.first:.3f}) {pair.single}")
    tell(f"    random    {result.random}\n    SE        {result.se}")


def _figures(rows: Table, runs: Sequence[Run]) -> Iterator[Figure]:
    measures: dict[str, Callable[[Scores], float]] = {
        "RMSE": lambda scores: scores.rmse,
        "NLPD": lambda scores: scores.nlpd,
    }
    for measure, of in measures.items():
        for belief in BELIEFS:
            pairs = [result.pairs[belief] for result in runs]
            yield from _compared(rows.name, belief, measure, of, pairs)
    for measure, of in measures.items():
        unit = rows.unit if measure == "RMSE" else "nats"
        for belief in BELIEFS:
            own = [of(result.pairs[belief].averaged) for result in runs]
            yield Figure(f"{rows.name}: {measure} averaged by {belief}", float(np.mean(own)), unit)
        single = [of(result.pairs[BELIEFS[0]].single) for result in runs]
        yield Figure(f"{rows.name}: {measure} of the first", float(np.mean(single)), unit)
        random = [of(result.random) for result in runs]
        yield Figure(f"{rows.name}: {measure} of a random one", float(np.mean(random)), unit)
        se = [of(result.se) for result in runs]
        yield Figure(f"{rows.name}: {measure} of SE", float(np.mean(se)), unit)
    seconds = float(np.mean([result.seconds for result in runs]))
    yield Figure(f"{rows.name}: time for a run", seconds, "s")


def _compared(
    name: str, belief: str, measure: str, of: Callable[[Scores], float], pairs: Sequence[Pair]
) -> Iterator[Figure]:
    averaged = np.array([of(pair.averaged) for pair in pairs])
    single = np.array([of(pair.single) for pair in pairs])
    slack = ROUNDING * np.abs(single)
    count = int((averaged <= single + slack).sum())
    better = int((averaged < single - slack).sum())
    first = float(np.mean([pair.first for pair in pairs]))
    yield Figure(
        f"{name}, {belief}: runs in which averaging is not worse, {measure}",
        count,
        f"of {len(pairs)}",
        f"at least {ASKED_SHARE:.0%} of them",
        f"better in {better}; mean belief in the first {first:.3f}",
        count >= ASKED_SHARE * len(pairs),
    )
    gains = 100 * (1 - averaged / single) if measure == "RMSE" else single - averaged
    yield Figure(_gain(name, belief, measure), float(gains.mean()), _gain_unit(measure))


def _gain(name: str, belief: str, measure: str) -> str:
    return f"{name}, {belief}: {measure} lower by averaging, mean"


def _gain_unit(measure: str) -> str:
    return "%" if measure == "RMSE" else "nats"
