"""SKC on 38,070 hours of electric load: are its day and its year found, and in what time?

SKC with 160 inducing inputs bounds the evidence of its contenders from above with all pairs of
rows, a few of each round, as a product with the covariance of all rows takes seconds. Beside it are
SKC-LB, which does without, and CKS on random subsets of the rows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.memory import peak_memory
from benchmarks.door.record import Line
from benchmarks.door.telling import tell
from vbks.arrays import Array
from vbks.kernels.layout import lay_out
from vbks.search.methods import CKS, SKC
from vbks.selection.selection import Selection

FILE = "large/gefcom_zone1.csv"

NUM_INDUCING = 160

DAY, WITHIN = 1.0, 0.01
"""The period that has to be found, and how close."""

YEAR = 365.25

YEARS = ((150.0, 220.0), (330.0, 400.0))
"""Periods near half a year and near a year, in days."""

ASKED_HOURS = 4.0


@dataclass(frozen=True)
class Size:
    """Rows, depth of SKC, contenders of a round with an upper bound, and subsets for CKS."""

    rows: int
    depth: int
    uppers: int
    subsets: tuple[int, ...]
    subset_depth: int


FULL = Size(10**9, depth=5, uppers=2, subsets=(320, 640, 1280, 2560), subset_depth=2)
QUICK = Size(1500, depth=1, uppers=1, subsets=(200,), subset_depth=1)


def run(context: Context) -> list[Figure]:
    """Periods that are found, with their times and memory."""
    size = QUICK if context.quick else FULL
    path = context.file(FILE)
    if path is None:
        return []
    X, y = _read(path, size.rows)
    figures: list[Figure] = []
    for label, uppers in (("SKC", size.uppers), ("SKC-LB", 0)):
        method = SKC(max_depth=size.depth, buffer=1, uppers=uppers)
        figures += _search(label, method, X, y, context.seed, is_asked=label == "SKC")
    rng = np.random.default_rng(context.seed)
    for num in size.subsets:
        few = np.sort(rng.choice(len(y), min(num, len(y)), replace=False))
        method_on_few = CKS(max_depth=size.subset_depth)
        label = f"CKS on {len(few):,} rows"
        figures += _search(label, method_on_few, X[few], y[few], context.seed)
    figures.append(Figure("most memory", peak_memory() / 1000, "GB"))
    return figures


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: periods that each search has found, beside a day, half a year and a year."""
    figures = {figure.name: figure for figure in lines[-1].figures}
    distances = {
        n: f
        for n, f in figures.items()
        if n.endswith(": distance of the nearest period from a day")
    }
    canvas = Canvas(figsize=(10, 4), layout="constrained")
    panel = canvas.subplots()
    labels = []
    for place, (name, figure) in enumerate(distances.items()):
        label = name.partition(":")[0]
        kernel, texts, *_ = (figure.others or "").split("; ")
        found = [float(text) for text in re.findall(r"[\d.]+", texts)]
        panel.plot(found, [place] * len(found), "o", color="tab:blue")
        labels.append(f"{label}\n{kernel}, {60 * figures[f'{label}: time'].value:.0f} min")
    for period in (DAY, YEAR / 2, YEAR):
        panel.axvline(period, color="tab:red", linestyle=":")
    panel.set_xscale("log")
    panel.set_yticks(range(len(labels)), labels, fontsize="small")
    panel.invert_yaxis()
    panel.set_xlabel("periods of the chosen kernel in days; dotted: a day, half a year, a year")
    canvas.suptitle(
        f"38,070 hours of electric load, {lines[-1].cores} cores, {lines[-1].date[:10]}"
    )
    canvas.savefig(path, dpi=120)


def _read(path: Path, rows: int) -> tuple[Array, Array]:
    table = pd.read_csv(path).iloc[:rows]
    return table[["day"]].to_numpy(float), table["load"].to_numpy(float)


def _search(
    label: str, method: CKS | SKC, X: Array, y: Array, seed: int, is_asked: bool = False
) -> Iterator[Figure]:
    began = time.perf_counter()
    selection = vbks.fit(
        X, y, method=method, num_inducing=min(NUM_INDUCING, len(y)), seed=seed, progress=False,
        families=("SE", "LIN", "PER"),
    )  # fmt: skip
    hours = (time.perf_counter() - began) / 3600
    found = periods_of(selection)
    day = min((abs(period - DAY) for period in found), default=np.inf)
    in_years = any(low < period < high for period in found for low, high in YEARS)
    texts = ", ".join(f"{period:.4g}" for period in found) or "none"
    others = f"{selection.best.expression}; periods {texts}; {len(selection.fits)} kernels"
    tell(f"{label}: {others}, {hours:.2f} h")
    asked = f"at most {WITHIN:g}" if is_asked else None
    met = bool(day <= WITHIN) if is_asked else None
    yield Figure(
        f"{label}: distance of the nearest period from a day", day, "d", asked, others, met
    )
    asked = "1 (yes)" if is_asked else None
    met = in_years if is_asked else None
    yield Figure(
        f"{label}: a period near half a year or a year", float(in_years), "", asked, met=met
    )
    asked = f"at most {ASKED_HOURS:g}" if is_asked else None
    met = hours <= ASKED_HOURS if is_asked else None
    yield Figure(f"{label}: time", hours, "h", asked, met=met)


def periods_of(selection: Selection) -> list[float]:
    """Periods of the chosen kernel in the units of the input."""
    fit = selection.best
    layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
    scale = float(selection.units.x_scale[0])
    values = zip(layout.slots, fit.theta, strict=True)
    return [scale * float(np.exp(v)) for slot, v in values if slot.parameter.name == "period"]
