"""Forecasts of the past: errors by how far ahead, beside those of naive forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vbks.backtesting.results import OWN, Backtest
from vbks.backtesting.without_refits import NOT_REFITTED, backtest_without_refits
from vbks.errors import DataError
from vbks.report.labels import Labels, printable
from vbks.report.values import Lines, numbers
from vbks.selection.record import SelectionRecord
from vbks.words.numerals import counted, percent, rounded

MOST_ROWS = 1500
"""Of more rows, forecasts of the past take too long to be made for every report."""

MOST_LINES = 4
"""Forecasts whose errors are drawn: the best."""


@dataclass(frozen=True)
class Scored:
    """How well forecasts of one kind were: errors in the units of the target, and coverage."""

    name: str
    mae: float
    rmse: float
    coverage_50: float
    coverage_90: float


@dataclass(frozen=True)
class Past:
    """Scores of forecasts of the past, the best first, and errors by how far ahead."""

    sentence: str
    scores: tuple[Scored, ...]
    by_horizon: Lines | None
    notices: tuple[str, ...]
    is_refitted: bool
    """Whether kernels were chosen and fitted again for each forecast."""


def past_of(record: SelectionRecord, labels: Labels, backtest: Backtest | None = None) -> Past:
    """Scores of a backtest, or of forecasts without new fits where these are cheap."""
    if backtest is None and record.num_rows > MOST_ROWS:
        raise DataError(
            f"forecasts of the past take too long with {record.num_rows:,} rows to be part of "
            "every report. vbks.backtest makes them, and selection.report(backtest=...) shows them."
        )
    if backtest is None and record.num_inputs > 1 and len(record.time_inputs) != 1:
        raise DataError("none of the inputs is known to be time, so that nothing lies ahead.")
    found = backtest_without_refits(record) if backtest is None else backtest
    return past_shown(found, labels)


def past_shown(found: Backtest, labels: Labels) -> Past:
    """A backtest as the report shows it."""
    table = found.table
    scores = tuple(
        Scored(
            _shown_name(str(row["model"])), float(row["mae"]), float(row["rmse"]),
            float(row["coverage_50"]), float(row["coverage_90"]),
        )
        for _, row in table.iterrows()
    )  # fmt: skip
    return Past(
        _sentence(found, scores, labels),
        scores,
        _by_horizon(found, [str(name) for name in table["model"]], labels),
        tuple(map(printable, found.notices)),
        NOT_REFITTED not in found.notices,
    )


def _shown_name(model: str) -> str:
    """What a model is called on a page that is about forecasts of vbks."""
    return "this model" if model == OWN else model


def _sentence(found: Backtest, scores: Sequence[Scored], labels: Labels) -> str:
    """How far forecasts were off, and how that compares."""
    num = found.predictions["fold"].nunique()
    own = next((score for score in scores if score.name == _shown_name(OWN)), None)
    step = labels.year_step or found.step
    reach = f"{found.horizon} {step}s" if step[:1].isalpha() else f"{found.horizon} steps"
    origins = f"from {counted(num)} points in the past, {reach} ahead each"
    if own is None:
        return f"Forecasts were made {origins}; those of this model failed in some of them."
    off = (
        f"Forecasts made {origins}, were off by {labels.with_unit(rounded(own.mae, 2))} on average"
    )
    others = [score for score in scores if score is not own]
    if others:
        best = min(others, key=lambda score: score.mae)
        off += f"; those of the {best.name} forecast were off by {rounded(best.mae, 2)}"
    return f"{off}. Their 90 % intervals held {percent(own.coverage_90)} of what came."


def _by_horizon(found: Backtest, names: Sequence[str], labels: Labels) -> Lines | None:
    """Mean absolute errors by how many steps ahead, of the best forecasts."""
    table: pd.DataFrame = found.by_horizon.pivot(index="horizon", columns="model", values="mae")
    if len(table) < 2:
        return None
    shown = [OWN, *(name for name in names if name != OWN)][:MOST_LINES]
    shown = [name for name in shown if name in table]
    step = labels.year_step or found.step
    return Lines(
        f"{step}s ahead" if step[:1].isalpha() else "steps ahead",
        f"mean error, {labels.target}",
        numbers(np.asarray(table.index, float)),
        tuple(_shown_name(name) for name in shown),
        tuple(numbers(table[name].to_numpy()) for name in shown),
    )
