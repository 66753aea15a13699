"""Extrapolation of seven series by K144 and by growing, beside ten published methods.

The first nine tenths of each series are fitted and the rest is predicted, as in the ABCD papers;
warps are those that the data allow. Others' figures are recomputed from the authors' stored
predictions; one of the ten has no densities. All three beliefs are scored on the same fits: the
goals are about the one that is the default, and the others show whether it should be. Growing has
no budget, so it ends after the usual time: with 160 seconds, log evidences rise by less than one,
and densities do not. Seconds are those of one fit on the cores that the record names.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.scores import Scores, score
from benchmarks.door.telling import tell
from benchmarks.door.weighings import DEFAULT, WEIGHINGS
from vbks.arrays import Array
from vbks.config import Space
from vbks.selection.selection import Selection

ASKED_RATIO = 1.1
"""RMSE over that of the best of the others, in the median over series."""

ASKED_BEST = 4
"""Series on which NLPD is below that of all others."""

ASKED_SECONDS = 180.0
"""For each fit on two cores."""

NUM_TOLD = 3
"""Candidates of each fit that are named while it runs."""


@dataclass(frozen=True)
class Size:
    """Which series, which spaces under which names, and seconds for growing (None: the usual)."""

    series: tuple[str, ...]
    spaces: dict[str, Space]
    budget: float | None = None


FULL = Size(
    ("airline", "solar", "mauna", "wheat", "temperature", "internet", "call_centre"),
    {"K144": vbks.K144, "grow": "grow"},
)
QUICK = Size(("airline",), {"K12": vbks.K12, "grow": "grow"}, budget=10.0)


@dataclass(frozen=True)
class Others:
    """Figures of the published methods on one series."""

    rmse: pd.Series[float]
    nlpd: pd.Series[float]


@dataclass(frozen=True)
class Result:
    """One series with one space."""

    series: str
    space: str
    scores: dict[str, Scores]
    others: Others
    seconds: float

    @property
    def own(self) -> Scores:
        """Scores of the default weights."""
        return self.scores[DEFAULT]

    @property
    def ratio(self) -> float:
        """RMSE over that of the best of the others."""
        return self.own.rmse / float(self.others.rmse.min())

    def is_best(self, kind: str = DEFAULT) -> bool:
        """Whether NLPD is below that of all others."""
        return self.scores[kind].nlpd < float(self.others.nlpd.min())


def run(context: Context) -> list[Figure]:
    """RMSE, NLPD and seconds of every series with both spaces."""
    size = QUICK if context.quick else FULL
    results = [
        result
        for name in size.series
        for space in size.spaces
        if (result := _one(name, space, size, context)) is not None
    ]
    figures = [_best_rival(results)] if results else []
    for space in size.spaces:
        own = [result for result in results if result.space == space]
        if own:
            figures += [*_goals(space, own), *_beliefs(space, own), *_each(own)]
    return figures


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: RMSE over the best of the others, and NLPD less the best of theirs."""
    newest = lines[-1]
    values = {figure.name: figure.value for figure in newest.figures}
    canvas = Canvas(figsize=(9, 4), layout="constrained")
    left, right = canvas.subplots(1, 2)
    for place, space in enumerate(FULL.spaces):
        known = [s for s in FULL.series if _name(space, s, "RMSE over the best") in values]
        at = np.arange(len(known)) + 0.4 * place - 0.2
        ratios = [values[_name(space, s, "RMSE over the best")] for s in known]
        gaps = [values[_name(space, s, "NLPD less the best")] for s in known]
        left.barh(at, ratios, 0.38, label=space)
        right.barh(at, gaps, 0.38, label=space)
    for panel, limit, title in (
        (left, 1.0, "RMSE over that of the best of ten"),
        (right, 0.0, "NLPD less that of the best of nine"),
    ):
        panel.axvline(limit, color="tab:red", linestyle=":")
        panel.set_yticks(range(len(known)), known)
        panel.invert_yaxis()
        panel.set_title(f"{title} (left is better)", fontsize="medium")
    left.set_xscale("log")
    left.legend(loc="center right")
    canvas.suptitle(f"Extrapolation of seven series, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def _one(name: str, space: str, size: Size, context: Context) -> Result | None:
    rows = [_read(f"time_series/{name}_{part}.csv", context) for part in ("train", "test")]
    others = _read_others(name, context)
    if rows[0] is None or rows[1] is None or others is None:
        return None
    began = time.perf_counter()
    selection = vbks.fit(
        *rows[0],
        space=size.spaces[space],
        budget=size.budget if space == "grow" else None,
        seed=context.seed,
        progress=False,
    )
    seconds = time.perf_counter() - began
    scores = {
        kind: score(selection.with_belief(**settings), *rows[1])
        for kind, settings in WEIGHINGS.items()
    }
    result = Result(name, space, scores, others, seconds)
    _tell(result, selection)
    return result


def _read(file: str, context: Context) -> tuple[Array, Array] | None:
    path = context.file(file)
    if path is None:
        return None
    table = pd.read_csv(path)
    return table[["x"]].to_numpy(float), table["y"].to_numpy(float)


def _read_others(series: str, context: Context) -> Others | None:
    tables = []
    for measure in ("rmse", "nlpd"):
        path = context.file(f"reference/abcd_extrapolation_{measure}.csv")
        if path is None:
            return None
        tables.append(pd.read_csv(path, index_col=0).T[series.replace("_", "-")])
    return Others(*tables)


def _tell(result: Result, selection: Selection) -> None:
    others = result.others
    best = f"RMSE {others.rmse.min():.4g} ({others.rmse.idxmin()})"
    best += f" NLPD {others.nlpd.min():.3f} ({others.nlpd.idxmin()})"
    tell(f"{result.series}, {result.space}: {result.seconds:.0f} s; best of the others {best}")
    for kind, scores in result.scores.items():
        tell(f"    {kind:9} {scores}")
    for row in selection.belief.head(NUM_TOLD).itertuples():
        under = "" if row.warp == "identity" else f" of {row.warp}"
        shares = f"bayes {row.bayes:.2f} vbks {row.vbks:.2f} stacking {row.stacking:.2f}"
        tell(f"    {row.expression}{under}: {shares}, log evidence {row.log_evidence:.1f}")
    for notice in selection.notices:
        tell(f"    {notice}")


def _goals(space: str, results: Sequence[Result]) -> Iterator[Figure]:
    num = len(results)
    median = float(np.median([result.ratio for result in results]))
    yield Figure(
        f"{space}: RMSE over the best of ten, median over {num} series",
        median,
        "",
        f"at most {ASKED_RATIO:g}",
        met=median <= ASKED_RATIO,
    )
    count = sum(result.is_best() for result in results)
    yield Figure(
        f"{space}: series with NLPD below all nine",
        count,
        f"of {num}",
        f"at least {ASKED_BEST}",
        _ranks(results),
        count >= ASKED_BEST,
    )
    slowest = max(results, key=lambda result: result.seconds)
    yield Figure(
        f"{space}: time for the slowest series",
        slowest.seconds,
        "s",
        f"at most {ASKED_SECONDS:g} on two cores",
        slowest.series,
        slowest.seconds <= ASKED_SECONDS,
    )


def _best_rival(results: Sequence[Result]) -> Figure:
    """How far the best single one of the published methods is from the best of all of them."""
    gaps = pd.concat([r.others.nlpd - r.others.nlpd.min() for r in results], axis=1).mean(axis=1)
    name = "the best of the nine alone: NLPD less the best of nine, mean over series"
    return Figure(name, float(gaps.min()), "nats", others=str(gaps.idxmin()))


def _ranks(results: Sequence[Result]) -> str:
    """How many of our rivals have a lower NLPD, series by series."""
    below = (f"{r.series} {int((r.others.nlpd < r.own.nlpd).sum())}" for r in results)
    return f"rivals below ours: {', '.join(below)}"


def _beliefs(space: str, results: Sequence[Result]) -> Iterator[Figure]:
    for kind in WEIGHINGS:
        gaps = [r.scores[kind].nlpd - float(r.others.nlpd.min()) for r in results]
        ratios = [r.scores[kind].rmse / float(r.others.rmse.min()) for r in results]
        yield Figure(
            f"{space}, {kind}: NLPD less the best of nine, mean over series",
            float(np.mean(gaps)),
            "nats",
            others=f"median {np.median(gaps):.3f}; below all nine on "
            f"{sum(r.is_best(kind) for r in results)}; median RMSE ratio {np.median(ratios):.3f}",
        )


def _each(results: Sequence[Result]) -> Iterator[Figure]:
    for result in results:
        rmse, nlpd = result.others.rmse, result.others.nlpd
        kinds = ", ".join(f"{kind} {scores.nlpd:.3f}" for kind, scores in result.scores.items())
        yield Figure(
            _name(result.space, result.series, "RMSE over the best"),
            result.ratio,
            "",
            others=f"ours {result.own.rmse:.4g}, {rmse.idxmin()} {rmse.min():.4g}",
        )
        yield Figure(
            _name(result.space, result.series, "NLPD less the best"),
            result.own.nlpd - float(nlpd.min()),
            "nats",
            others=f"{kinds}; {nlpd.idxmin()} {nlpd.min():.3f}; {result.seconds:.0f} s",
        )


def _name(space: str, series: str, measure: str) -> str:
    return f"{space}, {series}: {measure}"
