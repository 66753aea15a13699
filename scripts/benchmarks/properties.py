"""How often cycles are there, and periods in their intervals, beside what properties say of them.

The structure of each series is one of a list of which half have a periodic leaf, all alike in
probability; its θ, noise included, is drawn from the priors that fits have, as in `calibration`. A
series has a cycle if its kernel has a periodic leaf whose period is between two spacings and the
range, which is what `vbks.properties` calls one; its period is that of the leaf with most variance.
So both the probability of a cycle and the interval of its period are calibrated exactly if
evidences and the posterior of θ are.

The gap is the mean probability of a cycle less how often there is one. By fifths of the series,
ordered by this probability, is the mean absolute gap of the fifths, beside what it is on average
where the probabilities are right. Periods are judged in series that have a cycle, as far as it has
a probability of at least a tenth.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

from benchmarks.calibration import draw_model, fit_structures, tenths
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line, newest
from benchmarks.door.telling import tell
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array, Mask
from vbks.data.signals.summaries import measure_inputs
from vbks.data.training import TrainingData
from vbks.data.warps import Identity
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression
from vbks.grammar.space import space
from vbks.kernels.layout import lay_out
from vbks.parts.values import Samples
from vbks.properties.periods import periods_of, strongest
from vbks.properties.results import Cycle
from vbks.selection.selection import Selection

STRUCTURES = tuple(structures(space(level=2, families=("SE", "LIN", "PER"))))

SERIES, ROWS = 400, 40

ASKED_GAP = 0.05

ASKED_COVERAGE = (0.86, 0.94)

LEAST_PROBABILITY = 0.1

FIFTHS = 5

DRAWS = 2000
"""Truths drawn from the probabilities, for the gap by fifths where they are right."""

CURVE = "cycle: share of series that have one where the mean probability is "


@dataclass(frozen=True)
class Outcome:
    """What was true of one series and what was said: a period of NaN is no cycle."""

    period: float
    probability: float
    interval: tuple[float, float] | None
    seconds: float

    @property
    def has_cycle(self) -> bool:
        """Whether there is a cycle."""
        return not math.isnan(self.period)

    @property
    def is_judged(self) -> bool:
        """Whether its interval counts."""
        return (
            self.has_cycle and self.probability >= LEAST_PROBABILITY and self.interval is not None
        )

    @property
    def is_covered(self) -> bool:
        """Whether the period is in its interval."""
        low, high = self.interval or (math.nan, math.nan)
        return low <= self.period <= high


def run(context: Context) -> list[Figure]:
    """Calibration over drawn series, on as many cores as there are."""
    return list(_figures(list(_outcomes(context))))


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest record: the share of series with a cycle, against the mean probability."""
    figures = [figure for figure in newest(lines, (CURVE,)) if figure.name.startswith(CURVE)]
    canvas = Canvas(figsize=(5.0, 5.2), layout="constrained")
    panel = canvas.subplots()
    panel.plot([0, 1], [0, 1], ":", color="tab:gray", label="as often as said")
    means = [float(figure.name.removeprefix(CURVE)) for figure in figures]
    panel.plot(means, [figure.value for figure in figures], "o-", ms=4, lw=1, label="cycles")
    panel.set_xlabel("probability of a cycle, mean of each tenth")
    panel.set_ylabel("share of series that have one")
    panel.legend(loc="upper left", fontsize="small")
    canvas.suptitle(f"Properties, {lines[-1].date[:10]}")
    canvas.savefig(path, dpi=120)


def true_period(expression: Expression, theta: Array, rows: TrainingData) -> float:
    """The period of the strongest cycle of a kernel at θ [H], NaN if it has none."""
    layout, samples = lay_out(expression), Samples(theta[np.newaxis], np.ones(1))
    X, _ = rows.arrays()
    summary = measure_inputs(rows.units.restore_inputs(X))[0]
    periods = periods_of(layout, samples, rows.units, 0, summary)
    return float(strongest(periods, layout, samples, X, 0)[0])


def gap_by_fifths(probabilities: Array, truths: Mask) -> float:
    """The mean absolute gap of fifths of the series, ordered by probability: both [n]."""
    order = np.argsort(probabilities, kind="stable")
    fifths = np.array_split(order, min(FIFTHS, len(order)))
    gaps = [abs(probabilities[own].mean() - truths[own].mean()) * len(own) for own in fifths]
    return float(sum(gaps) / len(order))


def _outcomes(context: Context) -> Iterator[Outcome]:
    task = partial(_one, context.seed)
    if context.quick:
        yield from map(task, range(3))
        return
    with one_for_each_core() as pool:
        found: list[Outcome] = []
        for outcome in pool.map(task, range(SERIES)):
            found.append(outcome)
            if len(found) % 20 == 0:
                _tell(found)
            yield outcome


def _one(seed: int, number: int) -> Outcome:
    rng = np.random.default_rng([seed, number])
    structure = STRUCTURES[int(rng.integers(len(STRUCTURES)))]
    rows, theta = draw_model(structure, ROWS, rng)
    began = time.perf_counter()
    cycle = _cycle(rows)
    seconds = time.perf_counter() - began
    period = true_period(structure, theta, rows)
    return Outcome(period, cycle.probability, cycle.interval, seconds)


def _cycle(rows: TrainingData) -> Cycle:
    fits = fit_structures(rows, STRUCTURES)
    return Selection(tuple(fits), {Identity(): rows}).properties().cycle


def _probabilities(outcomes: Sequence[Outcome]) -> tuple[Array, Mask]:
    probabilities = np.array([outcome.probability for outcome in outcomes])
    return probabilities, np.array([outcome.has_cycle for outcome in outcomes])


def _tell(outcomes: Sequence[Outcome]) -> None:
    probabilities, truths = _probabilities(outcomes)
    judged = [outcome.is_covered for outcome in outcomes if outcome.is_judged]
    seconds = np.mean([outcome.seconds for outcome in outcomes])
    gap = probabilities.mean() - truths.mean()
    covered = f"{sum(judged)} of {len(judged)} periods covered"
    tell(f"{len(outcomes)} series, {seconds:.1f} s each: gap {gap:+.3f}, {covered}")


def _figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    probabilities, truths = _probabilities(outcomes)
    errors = probabilities - truths
    gap, error = float(errors.mean()), float(errors.std() / math.sqrt(len(errors)))
    yield Figure(
        "cycle: mean probability less how often there is one",
        gap,
        "",
        f"at most {ASKED_GAP} from zero",
        others=f"standard error {error:.3f}; {truths.sum()} of {len(truths)} series have one",
        met=abs(gap) <= ASKED_GAP,
    )
    rng = np.random.default_rng(0)
    drawn = [
        gap_by_fifths(probabilities, rng.random(len(truths)) < probabilities) for _ in range(DRAWS)
    ]
    yield Figure(
        "cycle: mean absolute gap by fifths",
        gap_by_fifths(probabilities, truths),
        "",
        f"at most {ASKED_GAP}",
        others=f"{np.mean(drawn):.3f} on average if probabilities are right, "
        f"{np.quantile(drawn, 0.95):.3f} in one of twenty",
        met=gap_by_fifths(probabilities, truths) <= ASKED_GAP,
    )
    base = truths.mean()
    yield Figure(
        "cycle: Brier score",
        float(np.mean(errors**2)),
        "",
        others=f"{base * (1.0 - base):.3f} to know how many have one; lower is better",
    )
    yield from _of_periods(outcomes)
    seconds = float(np.mean([outcome.seconds for outcome in outcomes]))
    yield Figure("time for a series on one core", seconds, "s")
    for part in tenths(probabilities, truths):
        yield Figure(f"{CURVE}{part.mean:.4f}", part.share, "", others=f"{part.count} series")


def _of_periods(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    judged = [outcome for outcome in outcomes if outcome.is_judged]
    covered = np.array([outcome.is_covered for outcome in judged])
    share = float(covered.mean()) if len(covered) else math.nan
    low, high = ASKED_COVERAGE
    error = math.sqrt(0.9 * 0.1 / max(len(covered), 1))
    yield Figure(
        "period: share of 90 % intervals that hold it",
        share,
        "",
        f"{low} to {high}",
        others=f"of {len(covered)} series; the standard error of a right one is {error:.3f}",
        met=low <= share <= high,
    )
    below = [outcome.period < (outcome.interval or (0.0, 0.0))[0] for outcome in judged]
    yield Figure(
        "period: share of intervals that are above it",
        float(np.mean(below)) if below else math.nan,
        "",
        others="0.05 if they are right",
    )
    ratios = [outcome.interval[1] / outcome.interval[0] for outcome in judged if outcome.interval]
    yield Figure(
        "period: upper end in the lower end of its interval, median",
        float(np.median(ratios)) if ratios else math.nan,
        "",
    )
