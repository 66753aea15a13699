"""Forecasts of the past by a selection as it is: from fewer rows, without fitting again.

Kernels, their weights and q(θ) are those of all rows, so that errors are a little smaller than
those of new forecasts will be. They cost what predictions do; `vbks.backtest` costs a fit for each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.backtesting.baselines import NAIVE, SEASONAL, make_baselines
from vbks.backtesting.metrics import LEVELS
from vbks.backtesting.origins import Fold, TimedRows, make_folds, read_timed_rows, usual_horizon
from vbks.backtesting.results import OWN, Backtest
from vbks.backtesting.tables import backtest_of, baseline_forecasts, prediction_table
from vbks.data.sources import ArraySource
from vbks.data.times import instants
from vbks.errors import DataError
from vbks.predict.models.mean_functions import mean_values
from vbks.selection.record import SelectionRecord

FOLDS = 6
"""Origins in the past that forecasts are made from."""

APART = 3
"""Origins are a horizon divided by this apart: forecasts overlap, as they cost little."""

NUM_SAMPLES = 8
"""Samples of θ in a forecast: errors hardly depend on it."""

NOT_REFITTED = (
    "Kernels and hyperparameters are those of all rows: only the rows after each origin were left "
    "out. vbks.backtest fits again from each origin."
)
"""What somebody who reads the scores has to know."""


def backtest_without_refits(
    record: SelectionRecord, *, horizon: int | None = None, folds: int = FOLDS
) -> Backtest:
    """Forecast the last rows of a selection from those before, and score the forecasts.

    It is for exact fits, of which rows can be taken away. The horizon is a season by default.
    """
    X, y = _rows(record)
    rows = read_timed_rows(_table(record, X), pd.Series(y, name=record.target_name))
    horizon = usual_horizon(rows, APART) if horizon is None else horizon
    parts = make_folds(rows, horizon, folds, max(1, round(horizon / APART)))
    baselines, _ = make_baselines((NAIVE, SEASONAL), rows.season)
    tables, fits = [], []
    failures: dict[tuple[str, int], str] = {}
    for number, fold in enumerate(parts, start=1):
        found = {OWN: _forecast(record, X, fold)}
        simple, reasons = baseline_forecasts(baselines, rows, fold)
        found |= simple
        failures |= {(name, number): reason for name, reason in reasons.items()}
        tables += [prediction_table(name, number, rows, fold, *found[name]) for name in found]
        fits.append(_told(record, rows, fold, number))
    return backtest_of(rows, horizon, tables, fits, (NOT_REFITTED, *rows.notices), failures)


def _rows(record: SelectionRecord) -> tuple[Array, Array]:
    """All rows [N, D] and [N] in the user's units, where rows can be taken away."""
    source = record.rows.source
    if not isinstance(source, ArraySource):
        raise DataError("the rows are not at hand, so that none of them can be forecast again.")
    if any(fit.bound != "exact" for fit, w in zip(record.fits, record.weights, strict=True) if w):
        raise DataError(
            "forecasts of the past without new fits need exact fits. vbks.backtest fits again."
        )
    X, y = np.asarray(source.X, np.float64), np.asarray(source.y, np.float64)
    mean = record.mean_function
    return X, y if mean is None else y + mean_values(mean, X)


def _table(record: SelectionRecord, X: Array) -> pd.DataFrame:
    """Inputs with their names, and dates where they were dates."""
    names = record.feature_names or tuple(f"input {n}" for n in range(1, X.shape[1] + 1))
    columns = [instants(own) if n in record.time_inputs else own for n, own in enumerate(X.T)]
    named = zip(columns, names, strict=True)
    return pd.concat([pd.Series(own, name=name) for own, name in named], axis=1)


def _forecast(record: SelectionRecord, X: Array, fold: Fold) -> tuple[Array, Array]:
    """Means and quantiles of the rows that are forecast, given those before the origin."""
    earlier = replace(
        record, data={warp: rows.part(fold.train) for warp, rows in record.data.items()}
    )
    mixture = earlier.mixture_of(record.fits, record.weights, NUM_SAMPLES)
    mean, _ = mixture.predict_y(X[fold.test])
    return np.ravel(mean), np.asarray(mixture.predict_quantiles(X[fold.test], LEVELS))


def _told(record: SelectionRecord, rows: TimedRows, fold: Fold, number: int) -> dict[str, object]:
    best = record.best
    return {
        "fold": number,
        "origin": rows.times[fold.train].max(),
        "rows": len(fold.train),
        "kernel": str(best.expression),
        "warp": best.warp.name,
        "probability": float(record.probabilities.max()),
        "seconds": 0.0,
    }
