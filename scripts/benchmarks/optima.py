"""The kernels that the authors' programs chose for airline, mauna and solar, fitted from scratch.

Scores are on the authors' scale, 2·NLL + p log n in raw units with their count p, lower being
better, on the first nine tenths of each series. Targets are only scaled where scores are held
against theirs: both programs ran with a mean of zero on targets as they are. Their records in
jamesrobertlloyd/gpss-research say mean=MeanZero(), for ABCD in results/2013-12-16-extrap-GPSS-full
and for CKS in results/2014-03-19-GPSS-orig, and print the values of the parameters, at which the
likelihood of targets that are not centred is theirs to a hundredth of a nat: 471.83 for CKS on
airline, −279.97 for CKS and −481.34 for ABCD-accuracy on solar. Scores of centred targets, which is
how vbks.fit has them, are shown beside: they are no comparison where the mean is far from zero, as
a constant costs up to 2 log(mean / sd) there, 17 for each on solar. The authors' LINold is a line
with a constant. Each start of the first look is also climbed from alone, on all rows, and those
that reach the optimum of the fit are named, be it only after one of several changes was moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.airline_mauna_solar import ALLOWED, METHODS, SERIES, as_expression
from benchmarks.door.figure import Context, Figure
from benchmarks.door.telling import tell
from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.evaluator import fit_candidates
from vbks.inference.moves import move_parts
from vbks.inference.objectives.log_posterior import maximise
from vbks.inference.result import LocalFit
from vbks.inference.rungs import screening_plan
from vbks.inference.settings import FitSettings
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.first_steps import start_scales
from vbks.kernels.starts.starts import (
    candidate_rng,
    draw_starts,
    start_names,
)

SAME = 0.5
"""Nats within which a start has reached the optimum."""


def run(context: Context) -> list[Figure]:
    """Scores of the authors' kernels, beside the authors' own."""
    series = SERIES[:1] if context.quick else SERIES
    reference = context.file("reference/abcd_selected_kernels.csv")
    files = {name: context.file(f"time_series/{name}_train.csv") for name in series}
    if reference is None:
        return []
    chosen = pd.read_csv(reference)
    return [
        _figure(name, label, path, row, centred, context.seed)
        for name, path in files.items()
        if path is not None
        for label, row in _rows_of(chosen, name)
        for centred in (False, True)
    ]


def _rows_of(chosen: pd.DataFrame, name: str) -> Iterator[tuple[str, pd.Series]]:
    for label in METHODS:
        own = chosen[(chosen["run"] == f"{label} extrap90") & (chosen["dataset"] == name)]
        yield label, own.iloc[0]


def _figure(
    name: str, label: str, path: Path, reference: pd.Series, centred: bool, seed: int
) -> Figure:
    """One kernel fitted to one series, whose targets are centred or not."""
    rows = pd.read_csv(path)
    X, y = rows[["x"]].to_numpy(float), rows["y"].to_numpy(float)
    scale = float(np.std(y))
    data = prepare((X, y)) if centred else prepare((X, y / scale), standardise_targets=False)
    expression = _with_constants(as_expression(str(reference["kernel"]), label), label)
    (fit,) = fit_candidates(
        [expression], data, inference="exact", posterior="point", prior="flat", prune=False,
        seed=seed,
    )  # fmt: skip
    num_rows, theirs = len(rows), float(reference["bic"])
    nll = num_rows * math.log(scale) - fit.modes[0].log_likelihood
    score = 2.0 * nll + float(reference["eff_params"]) * math.log(num_rows)
    starts = ", ".join(_found_by(fit, data, seed)) or "none alone"
    others = f"{expression}; authors {theirs:.1f}; starts: {starts}"
    where = f"{name}, {label}, {'centred' if centred else 'as the authors'}"
    tell(f"{where}: {score:.1f}, {others}")
    if centred:
        return Figure(f"{where}: score", score, "", others=others)
    limit = theirs + ALLOWED
    return Figure(f"{where}: score", score, "", f"at most {limit:.1f}", others, score <= limit)


def _with_constants(expression: Expression, label: str) -> Expression:
    """CKS's line has a constant, which its count of parameters includes."""
    return parse(str(expression).replace("LIN", "(C + LIN)")) if label == "CKS" else expression


def _found_by(fit: LocalFit, data: TrainingData, seed: int) -> Iterator[str]:
    """Names of the starts from which a climb on all rows reaches the optimum of the fit."""
    comparison, _ = make_context(
        data, 1, FitSettings(inference="exact", posterior="point", prior="flat", seed=seed)
    )
    layout = lay_out(fit.expression)
    rungs = comparison.screening.rungs
    num, _ = screening_plan(layout, comparison, rungs[0])
    rng = candidate_rng(seed, fit.expression)
    starts = draw_starts(layout, comparison.summaries, num, rng)
    names = start_names(layout, comparison.summaries, num)
    evidence = comparison.final_evidence(comparison.jitter)
    posterior = comparison.log_posterior([fit.expression] * num, evidence)
    scales = start_scales(layout, comparison.summaries, starts)
    found = maximise(posterior, starts, rungs[-1].evaluations, None, scales)
    wanted = fit.modes[0].log_likelihood + fit.modes[0].log_prior - SAME
    for row, (theta, value) in enumerate(zip(found.x, -found.loss, strict=True)):
        name = f"{names[row]} ({row})"
        if value >= wanted:
            yield name
        elif _with_a_change_moved(fit.expression, theta, value, comparison) >= wanted:
            yield f"{name}, then a change elsewhere"


def _with_a_change_moved(
    expression: Expression, theta: Array, value: float, comparison: FitContext
) -> float:
    """The log posterior that is reached from θ [H], of this value, with a change moved."""
    candidate = make_candidate(expression, comparison, None)
    candidate = replace(candidate, thetas=theta[np.newaxis], values=np.array([value]))
    evidence = comparison.final_evidence(comparison.jitter)
    (moved,) = move_parts([candidate], comparison, evidence)
    return moved.best
