"""CKS and ABCD on airline, mauna and solar beside the kernels that their authors' programs chose.

Scores are on the authors' scale, 2·NLL + p log n in raw units, lower being better, on the first
nine tenths of each series; CKS leaves the noise out of p. Beside the search, the authors' own
kernel is fitted, which tells a search that misses from a fit that does. Searches run side by side,
each on one core.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array
from vbks.data.training import prepare
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.evaluator import fit_candidates
from vbks.inference.result import LocalFit
from vbks.search.method import Method
from vbks.search.methods import ABCD, CKS

SERIES = ("airline", "mauna", "solar")

ALLOWED = 2.0
"""How much higher a score may be than the authors'."""

METHODS: dict[str, Method] = {
    "CKS": CKS(),
    "ABCD-accuracy": ABCD(variant="accuracy"),
    "ABCD-interpretability": ABCD(variant="interpretability"),
}


@dataclass(frozen=True)
class Size:
    """Series, methods and the depth of searches."""

    series: tuple[str, ...]
    methods: tuple[str, ...]
    depth: int


FULL = Size(SERIES, tuple(METHODS), 10)
QUICK = Size(("airline",), ("CKS",), 1)


def run(context: Context) -> list[Figure]:
    """Scores of what is found, beside the authors'."""
    size = QUICK if context.quick else FULL
    reference = context.file("reference/abcd_selected_kernels.csv")
    files = {name: context.file(f"time_series/{name}_train.csv") for name in size.series}
    known = {name: path for name, path in files.items() if path is not None}
    if reference is None or not known:
        return []
    cases = [(name, method) for name in known for method in size.methods]
    paths = [known[name] for name, _ in cases]
    one = partial(_one, pd.read_csv(reference), size.depth, context.seed)
    if len(cases) == 1:
        return one(*cases[0], paths[0])
    with one_for_each_core() as workers:
        # The last are the dearest, and begin first.
        found = list(workers.map(one, *zip(*cases[::-1], strict=True), paths[::-1]))
    return [figure for figures in found[::-1] for figure in figures]


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: how far each score is below the authors', and what was chosen."""
    figures = {figure.name: figure for figure in lines[-1].figures}
    scores = {n.removesuffix(": score"): f for n, f in figures.items() if n.endswith(": score")}
    canvas = Canvas(figsize=(11, 4.5), layout="constrained")
    panel = canvas.subplots()
    labels = []
    for place, (name, figure) in enumerate(scores.items()):
        ((chosen, theirs),) = re.findall(r"(.*); authors ([-\d.]+)", figure.others or "")
        less = figure.value - float(theirs)
        panel.barh(place, less, color="tab:blue" if less <= ALLOWED else "tab:red")
        labels.append(f"{name}\n{chosen}")
    panel.axvline(ALLOWED, color="tab:red", linestyle=":")
    panel.set_yticks(range(len(labels)), labels, fontsize="small")
    panel.invert_yaxis()
    panel.set_xlabel("2·NLL + p log n less that of the authors' choice; lower is better")
    canvas.suptitle(f"CKS and ABCD beside the programs of their authors, {lines[-1].date[:10]}")
    canvas.savefig(path, dpi=120)


def _one(
    chosen: pd.DataFrame, depth: int, seed: int, name: str, label: str, path: Path
) -> list[Figure]:
    """One method on one series."""
    rows = pd.read_csv(path)
    X, y = rows[["x"]].to_numpy(float), rows["y"].to_numpy(float)
    own = chosen[(chosen["run"] == f"{label} extrap90") & (chosen["dataset"] == name)]
    return list(_figures(name, label, X, y, own.iloc[0], depth, seed))


def _figures(
    name: str, label: str, X: Array, y: Array, reference: pd.Series, depth: int, seed: int
) -> Iterator[Figure]:
    method = METHODS[label]
    counts_noise = method.name != "cks"
    theirs = float(reference["bic"])
    began = time.perf_counter()
    selection = vbks.fit(
        X, y, method=type(method)(**{**vars(method), "max_depth": depth}), seed=seed,
        progress=False,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    score = raw_score(selection.best, y, counts_noise)
    where = f"{name}, {label}"
    others = f"{selection.best.expression}; authors {theirs:.1f}, {reference['kernel']}"
    yield Figure(
        f"{where}: score", score, "", f"at most {theirs + ALLOWED:.1f}", others,
        score <= theirs + ALLOWED,
    )  # fmt: skip
    yield Figure(f"{where}: time", seconds, "s", others=f"{len(selection.fits)} kernels")
    tell(f"{where}: {score:.1f} in {seconds:.0f} s, {others}")
    expression = as_expression(str(reference["kernel"]), label)
    (fit,) = fit_candidates(
        [expression], prepare((X, y)), inference="exact", posterior="point", prior="flat",
        restarts=30, prune=False, seed=seed,
    )  # fmt: skip
    again = raw_score(fit, y, counts_noise)
    yield Figure(
        f"{where}: score of the authors' kernel fitted here",
        again,
        "",
        others=f"authors {theirs:.1f}",
    )
    tell(f"{where}: the authors' kernel fitted here {again:.1f} (theirs {theirs:.1f})")


def raw_score(fit: LocalFit, y: Array, counts_noise: bool) -> float:
    """2·NLL + p log n of the targets in their own units."""
    n = len(y)
    log_likelihood = fit.modes[0].log_likelihood - n * math.log(np.std(y))
    p = fit.num_free - (0 if counts_noise else 1)
    return -2.0 * log_likelihood + p * math.log(n)


def as_expression(text: str, label: str) -> Expression:
    """An expression as the authors write it: CKS's old PER and LIN are ours, ABCD's PER is PER0."""
    if label == "CKS":
        return parse(text.replace("PERold", "PER").replace("LINold", "LIN"))
    return parse(re.sub(r"\bPER\b", "PER0", text))
