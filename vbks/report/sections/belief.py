"""How sure the choice is: the best kernels, what was nearly as good, how the belief moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.errors import DataError
from vbks.report.labels import Labels, told_candidate
from vbks.report.values import Lines, numbers
from vbks.selection.plot_data import trace_of
from vbks.selection.record import SelectionRecord
from vbks.words.numerals import counted, percent

MOST_ROWS = 8
"""Kernels that are shown one by one."""

LEAST_SHOWN = 0.001
"""Kernels with less of the belief are only counted."""

NEAR_TIE = 3.0
"""Kernels that are less than this many times less probable than the best were nearly as good."""

MOST_LINES = 4
"""Kernels whose belief is followed as data came in."""


@dataclass(frozen=True)
class BeliefRow:
    """A kernel, what it says in words, and how probable it is."""

    reading: str
    expression: str
    warp: str
    probability: float


@dataclass(frozen=True)
class Belief:
    """Sentences about the belief, the most probable kernels, and how many others there are."""

    sentences: tuple[str, ...]
    rows: tuple[BeliefRow, ...]
    num_others: int
    others: float
    history: Lines | None = None


def belief_of(record: SelectionRecord, labels: Labels) -> Belief:
    """The kernels that hold the belief, best first."""
    fitted = [k for k, fit in enumerate(record.fits) if fit.status == "fitted"]
    order = sorted(fitted, key=lambda k: -record.probabilities[k])
    shown = [k for k in order[:MOST_ROWS] if record.probabilities[k] >= LEAST_SHOWN]
    rows = tuple(
        BeliefRow(
            told_candidate(record.fits[k], record, labels),
            str(record.fits[k].expression),
            record.fits[k].warp.name,
            float(record.probabilities[k]),
        )
        for k in shown
    )
    others = max(0.0, 1.0 - sum(row.probability for row in rows))
    num_others = len(order) - len(rows)
    return Belief(_sentences(rows, num_others, others), rows, num_others, others, _history(record))


def _sentences(rows: tuple[BeliefRow, ...], num_others: int, others: float) -> tuple[str, ...]:
    best = rows[0]
    first = f"The most probable kernel holds {percent(best.probability)} of the belief."
    near = [row for row in rows[1:] if row.probability * NEAR_TIE > best.probability]
    if best.probability > 0.95:
        second = "No other comes near it."
    elif near:
        noun = "kernel is" if len(near) == 1 else "kernels are"
        second = (
            f"{counted(len(near)).capitalize()} more {noun} nearly as good, so the formula itself "
            "should not be read as the truth; predictions are averaged over all of them."
        )
    else:
        second = "Others are clearly less probable, and count little in predictions."
    third = (
        f"{counted(num_others).capitalize()} others hold {percent(others)} together."
        if num_others and others >= 0.01
        else ""
    )
    return tuple(filter(None, (first, second, third)))


def _history(record: SelectionRecord) -> Lines | None:
    """The belief as rows came in, or with the steps of training, where the fit has kept it."""
    try:
        trace = trace_of(record)
    except DataError:  # no trace was asked for
        return None
    if len(trace) < 2:
        return None
    led = trace.max().sort_values(ascending=False, kind="stable").index[:MOST_LINES]
    of_steps = trace.index.name == "step"
    return Lines(
        "steps of training" if of_steps else "share of the rows seen",
        "probability",
        numbers(np.asarray(trace.index, float)),
        tuple(name if warp == "identity" else f"{name}, {warp}" for name, warp in led),
        tuple(numbers(trace[pair].to_numpy()) for pair in led),
        "number" if of_steps else "probability",
        "probability",
    )
