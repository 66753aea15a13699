"""Are the parts that are found those that series were made of? Thirty sums of drawn functions.

Each series has 100 to 150 monthly rows: two or three functions, drawn from Gaussian processes with
drawn hyperparameters, and noise with a tenth of the variance of their sum. The functions are a
trend (a line, what moves over a quarter of the rows or more, or both), a cycle (that stays, grows,
or slowly changes its shape) and a wobble (what moves over three to six months). A trend is one part
here, since nobody can tell a line from a slow drift beside it. Series are drawn again until their
parts can be told apart at all: by the posterior under the kernels and the noise that they were
drawn with, correlations are above 0.97.

Series are fitted by `vbks.fit(X, y, budget=...)` and nothing else, and what is found is told apart
by a rule that knows nothing of what was drawn: cycles that are seen at least twice are the cycle;
curves that move within a tenth of the rows are the wobble; all else but the level is the trend. The
found parts of each kind are added up, as they are averaged with the belief, and compared with the
drawn function by their correlation over the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array
from vbks.parts.components import Component, Components

PartKind = Literal["trend", "cycle", "wobble"]

KINDS: tuple[PartKind, ...] = ("trend", "cycle", "wobble")

COMBINATIONS: tuple[tuple[PartKind, ...], ...] = (
    ("trend", "cycle"),
    ("trend", "wobble"),
    ("cycle", "wobble"),
    ("trend", "cycle", "wobble"),
    ("trend", "cycle", "wobble"),
)
"""Which functions series have, in turn."""

SIGNAL_TO_NOISE = 10.0

KNOWABLE = 0.97
"""So well are the parts found of which the kernels are known."""

MOST_DRAWS = 1000
"""A series is drawn again at most this often."""

LEAST_SHARE = 0.05
"""Parts with more of the variance of the targets are to be found."""

ASKED = 0.95
"""The correlation that is asked for with each of them."""

FAST = 0.1
"""Curves whose lengthscale is a smaller share of the range are wobbles."""

FEWEST_CYCLES = 2.0
"""What comes back less often within the data is no cycle that anybody sees."""


@dataclass(frozen=True)
class Size:
    """How many series there are, and the seconds for each."""

    num_series: int
    budget: float


FULL, QUICK = Size(30, 15.0), Size(1, 2.0)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A function [N] and the kernel [N, N] that it was drawn with."""

    values: Array
    kernel: Array

    def scaled(self, variance: float) -> Drawn:
        """The same without its mean, with a variance over the rows."""
        values = self.values - self.values.mean()
        factor = np.sqrt(variance) / values.std()
        return Drawn(factor * values, factor**2 * self.kernel)


@dataclass(frozen=True, eq=False)
class Series:
    """Targets [N] at months from 0 on, and the functions [N] that they are the sum of.

    ``kernels`` are those that the functions were drawn with, ``noise`` is its variance.
    """

    months: Array
    y: Array
    parts: dict[PartKind, Array]
    kernels: dict[PartKind, Array]
    noise: float

    def best(self) -> dict[PartKind, Array]:
        """Means of the parts by those who know the kernels and the noise, but not the level."""
        total = np.sum([*self.kernels.values()], axis=0)
        level = 100.0 * self.y.var()
        alpha = np.linalg.solve(total + level + self.noise * np.eye(len(self.y)), self.y)
        return {kind: kernel @ alpha for kind, kernel in self.kernels.items()}

    @property
    def shares(self) -> dict[PartKind, float]:
        """The share of each part in the variance of the targets."""
        return {kind: float(own.var() / self.y.var()) for kind, own in self.parts.items()}


@dataclass(frozen=True)
class Outcome:
    """Correlations of found with drawn parts, shares of these, and the kernel believed most."""

    correlations: dict[PartKind, float]
    shares: dict[PartKind, float]
    kernel: str
    seconds: float


def run(context: Context) -> list[Figure]:
    """Correlations of found parts with drawn ones."""
    size = QUICK if context.quick else FULL
    task = partial(_one, context.seed, size.budget)
    if context.quick:
        return _figures([task(number) for number in range(size.num_series)])
    with one_for_each_core() as pool:
        outcomes = []
        for number, outcome in enumerate(pool.map(task, range(size.num_series))):
            tell(f"{number}: {_told(outcome)}; {outcome.kernel}, {outcome.seconds:.0f} s")
            outcomes.append(outcome)
    return _figures(outcomes)


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: correlations of each kind of part, sorted."""
    canvas = Canvas(figsize=(6.5, 4.0), layout="constrained")
    panel = canvas.subplots()
    for kind, marker in zip(KINDS, "osD", strict=True):
        start = f"{kind} of series"
        values = sorted(f.value for f in lines[-1].figures if f.name.startswith(start))
        panel.plot(np.linspace(0, 1, len(values)), values, f"{marker}-", label=kind, ms=4)
    panel.axhline(ASKED, color="tab:gray", linestyle=":")
    panel.set_xlabel("share of the series")
    panel.set_ylabel("correlation of the found part with the drawn one")
    panel.legend()
    canvas.suptitle(f"Parts of series made of known parts, {lines[-1].date[:10]}")
    canvas.savefig(path, dpi=120)


def draw_series(seed: int, number: int) -> Series:
    """A series with the functions of its turn that can be told apart."""
    rng = np.random.default_rng([seed, number])
    for _ in range(MOST_DRAWS):
        series = _draw(COMBINATIONS[number % len(COMBINATIONS)], rng)
        best = series.best()
        if all(_correlation(best[kind], own) > KNOWABLE for kind, own in series.parts.items()):
            return series
    raise RuntimeError(f"no series {number} was drawn whose parts can be told apart.")


def _draw(kinds: Sequence[PartKind], rng: np.random.Generator) -> Series:
    months = np.arange(float(rng.integers(100, 151)))
    sizes = np.exp(rng.uniform(-1.2, 1.2, len(kinds)))
    drawn = {
        kind: DRAWN[kind](months, rng).scaled(size) for kind, size in zip(kinds, sizes, strict=True)
    }
    signal = np.sum([own.values for own in drawn.values()], axis=0)
    sd = signal.std() / np.sqrt(SIGNAL_TO_NOISE)
    return Series(
        months,
        signal + sd * rng.normal(size=len(months)),
        {kind: own.values for kind, own in drawn.items()},
        {kind: own.kernel for kind, own in drawn.items()},
        float(sd**2),
    )


def _trend(t: Array, rng: np.random.Generator) -> Drawn:
    share = rng.choice([0.0, 0.5, 1.0])
    line = (t - t.mean()) / t.std()
    curve = _smooth(t, rng.uniform(0.25, 0.6) * float(np.ptp(t)))
    return _sample(share * np.outer(line, line) + (1.0 - share) * curve, rng)


def _cycle(t: Array, rng: np.random.Generator) -> Drawn:
    """One of a year in half of the cases, and of eight months to three years in others."""
    period = 12.0 if rng.random() < 0.5 else np.exp(rng.uniform(np.log(8.0), np.log(36.0)))
    kernel = _periodic(t, period, rng.uniform(0.6, 1.5))
    form = rng.choice(["steady", "growing", "changing"])
    if form == "changing":
        kernel = kernel * _smooth(t, rng.uniform(0.8, 2.0) * float(np.ptp(t)))
    if form == "growing":
        growth = 1.0 + rng.uniform(1.0, 3.0) * t / np.ptp(t)
        kernel = kernel * np.outer(growth, growth)
    return _sample(kernel, rng)


def _wobble(t: Array, rng: np.random.Generator) -> Drawn:
    return _sample(_smooth(t, rng.uniform(3.0, 6.0)), rng)


DRAWN: dict[PartKind, Callable[[Array, np.random.Generator], Drawn]] = {
    "trend": _trend,
    "cycle": _cycle,
    "wobble": _wobble,
}


def _smooth(t: Array, lengthscale: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((t[:, np.newaxis] - t) / lengthscale) ** 2))


def _periodic(t: Array, period: float, lengthscale: float) -> Array:
    """The periodic kernel without its mean over a period, so that waves have no level."""

    def kernel(lag: Array) -> Array:
        return np.asarray(np.exp(-2.0 * (np.sin(np.pi * lag / period) / lengthscale) ** 2))

    mean = kernel(np.linspace(0.0, period, 1000, endpoint=False)).mean()
    return np.asarray(kernel(t[:, np.newaxis] - t) - mean)


def _sample(kernel: Array, rng: np.random.Generator) -> Drawn:
    values, vectors = np.linalg.eigh(kernel)
    drawn = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.normal(size=len(kernel)))
    return Drawn(drawn, kernel)


def _one(seed: int, budget: float, number: int) -> Outcome:
    series = draw_series(seed, number)
    began = time.perf_counter()
    table = pd.DataFrame({"month": series.months})
    selection = vbks.fit(table, pd.Series(series.y, name="sales"), budget=budget, progress=False)
    found = parts_found(selection.components(), float(np.ptp(series.months)))
    correlations = {kind: _correlation(found[kind], own) for kind, own in series.parts.items()}
    best = selection.best
    name = f"{best.expression} ({100 * selection.probabilities.max():.0f} %)"
    return Outcome(correlations, series.shares, name, time.perf_counter() - began)


def parts_found(components: Components, reach: float) -> dict[PartKind, Array]:
    """The sum of the found parts of each kind, from their means [N] at the rows."""
    found = {kind: np.zeros(len(components[0].mean)) for kind in KINDS}
    for part in components.main.components:
        kind = kind_found(part, reach)
        if kind is not None:
            found[kind] += part.mean
    return found


def kind_found(part: Component, reach: float) -> PartKind | None:
    """What a found part is: the wave of a period, or a curve, by its lengthscale; no level."""
    if part.kind.startswith(("level", "mean", "rest")):
        return None
    values = [own for factor in part.part.factors for own in factor.values]
    periods = [own.period.value for own in values if own.period]
    if part.kind.startswith("cycle") and min(periods) <= reach / FEWEST_CYCLES:
        return "cycle"
    scales = [own.lengthscale.value for own in values if own.lengthscale and not own.period]
    return "wobble" if scales and min(scales) < FAST * reach else "trend"


def _correlation(found: Array, drawn: Array) -> float:
    """None at all of a part that was not found."""
    return float(np.corrcoef(found, drawn)[0, 1]) if found.std() > 1e-9 * drawn.std() else 0.0


def _told(outcome: Outcome) -> str:
    return ", ".join(
        f"{kind} {own:.3f} of {100 * outcome.shares[kind]:.0f} %"
        for kind, own in outcome.correlations.items()
    )


def _figures(outcomes: Sequence[Outcome]) -> list[Figure]:
    asked = [
        (kind, own)
        for outcome in outcomes
        for kind, own in outcome.correlations.items()
        if outcome.shares[kind] > LEAST_SHARE
    ]
    reached = [own > ASKED for _, own in asked]
    values = np.array([own for _, own in asked])
    return [
        Figure(
            f"parts with a correlation above {ASKED:g}",
            float(np.mean(reached)),
            "",
            f"all with more than {100 * LEAST_SHARE:.0f} % of the variance",
            others=f"{sum(reached)} of {len(reached)} parts of {len(outcomes)} series",
            met=all(reached),
        ),
        Figure("correlation, median", float(np.median(values)), ""),
        Figure("correlation, lowest tenth", float(np.quantile(values, 0.1)), ""),
        *_of_kinds(asked),
        *_of_series(outcomes),
    ]


def _of_kinds(asked: Sequence[tuple[PartKind, float]]) -> Iterator[Figure]:
    for kind in KINDS:
        own = [value for name, value in asked if name == kind]
        if own:
            reached = sum(value > ASKED for value in own)
            others = f"median; {reached} of {len(own)} above {ASKED:g}, lowest {min(own):.3f}"
            yield Figure(f"correlation of each {kind}", float(np.median(own)), "", others=others)


def _of_series(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    for number, outcome in enumerate(outcomes):
        for kind, own in outcome.correlations.items():
            others = f"{100 * outcome.shares[kind]:.0f} % of the variance; {outcome.kernel}"
            yield Figure(f"{kind} of series {number}", own, "", others=others)
