"""`vbks.backtest`: forecasts as they would have been made in the past, beside simple ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from vbks.api import fit
from vbks.backtesting.baselines import BASELINES, make_baselines
from vbks.backtesting.metrics import LEVELS
from vbks.backtesting.origins import Fold, make_folds, read_timed_rows, usual_horizon
from vbks.backtesting.results import OWN, Backtest
from vbks.backtesting.rows import take_rows
from vbks.backtesting.stats_models import QuantileForecast
from vbks.backtesting.tables import backtest_of, baseline_forecasts, prediction_table
from vbks.data.given import inputs_and_targets
from vbks.errors import VbksError
from vbks.progress import Part, Progress, reporting

FOLDS = 3
"""Forecasts that are repeated: each takes a whole fit."""


def backtest(
    X: Any,
    y: Any = None,
    *,
    horizon: int | None = None,
    folds: int = FOLDS,
    step: int | None = None,
    freq: Any = None,
    season: int | None = None,
    baselines: Sequence[str] = BASELINES,
    tell: Callable[[str], None] = lambda text: None,
    progress: bool | Progress = True,
    **settings: Any,
) -> Backtest:
    """Forecast the last rows of a series from those before, several times, and score the forecasts.

    Each fold is a fit to all rows up to an origin, and a forecast of the ``horizon`` periods after
    it, beside what simple methods expect of them.

    Args:
        X: the times [N] of rows, or inputs [N, D] of which one has dates; others are taken as known
            in advance.
        y: targets [N], or the name of a column of X; both as `vbks.fit` takes them.
        horizon: periods to forecast from each origin; by default a season.
        folds: how many origins there are. The last is a horizon before the last row.
        step: periods from one origin to the next; by default a horizon.
        freq: the step from one period to the next, as in `Selection.forecast`.
        season: periods after which a cycle repeats, for seasonal naive forecasts and MASE; by
            default what the steps suggest: 12 for months, 24 for hours.
        baselines: some of "naive", "seasonal naive", "AutoETS" and "AutoARIMA", the latter two by
            the package `statsforecast`.
        tell: called with a line of text as each fold begins.
        progress: what is shown meanwhile, as in `vbks.fit`.
        settings: those of `vbks.fit`, such as ``budget``, which is that of each fold.
    """
    X, y, told = inputs_and_targets(X, y)
    rows = read_timed_rows(X, y, freq, season)
    horizon = usual_horizon(rows, folds) if horizon is None else horizon
    parts = make_folds(rows, horizon, folds, horizon if step is None else step)
    others, notices = make_baselines(baselines, rows.season)
    predictions, fits = [], []
    failures: dict[tuple[str, int], str] = {}
    with reporting(progress) as report:
        for number, fold in enumerate(parts, start=1):
            origin = rows.times[fold.train].max()
            known = f"{len(fold.train)} rows up to {_told(origin)}"
            tell(f"fold {number} of {len(parts)}: {known} ...")
            report.part(known, number, len(parts))
            found: dict[str, QuantileForecast] = {}
            try:
                found[OWN], what = _forecast(X, y, fold, {"progress": Part(report), **settings})
                fits.append({"fold": number, "origin": origin, **what})
            except VbksError as error:
                failures[OWN, number] = str(error)
            report.start(0, "Forecasting by simple methods")
            simple, reasons = baseline_forecasts(others, rows, fold)
            found |= simple
            failures |= {(name, number): reason for name, reason in reasons.items()}
            predictions += [
                prediction_table(name, number, rows, fold, *found[name]) for name in found
            ]
    if not fits:
        raise VbksError(f"no fold gave a forecast. {failures[OWN, 1]}")
    said = (*told, *rows.notices, *notices)
    return backtest_of(rows, horizon, predictions, fits, said, failures)


def _forecast(
    X: Any, y: Any, fold: Fold, settings: dict[str, Any]
) -> tuple[QuantileForecast, dict[str, Any]]:
    """What a fit to the rows of a fold expects of those after, and what it has chosen."""
    noise, known = settings.pop("noise_variance", None), {}
    if noise is not None:
        settings["noise_variance"] = take_rows(noise, fold.train)
        known["noise_variance"] = take_rows(noise, fold.test)
    began = time.perf_counter()
    selection = fit(take_rows(X, fold.train), take_rows(y, fold.train), **settings)
    what = {
        "rows": len(fold.train),
        "kernel": str(selection.best.expression),
        "warp": selection.best.warp.name,
        "probability": float(selection.probabilities.max()),
        "seconds": time.perf_counter() - began,
    }
    Xnew = take_rows(X, fold.test)
    mean, _ = selection.predict_y(Xnew, **known)
    return (mean, selection.predict_quantiles(Xnew, LEVELS, **known)), what


def _told(time: Any) -> str:
    return f"{pd.Timestamp(time):%Y-%m-%d}" if isinstance(time, np.datetime64) else f"{time:g}"
