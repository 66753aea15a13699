"""Forecasts of a fold beside what came, and those of baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from vbks.arrays import Array
from vbks.backtesting.baselines import Baseline
from vbks.backtesting.metrics import LEVELS, quantile_name, seasonal_scale
from vbks.backtesting.origins import Fold, TimedRows
from vbks.backtesting.results import Backtest
from vbks.backtesting.stats_models import QuantileForecast


def baseline_forecasts(
    others: dict[str, Baseline], rows: TimedRows, fold: Fold
) -> tuple[dict[str, QuantileForecast], dict[str, str]]:
    """What the baselines expect in a fold, and why some have failed."""
    series = rows.series(fold.train)
    ahead = rows.periods[fold.test] - rows.periods[fold.train].max()
    found, reasons = {}, {}
    for name, baseline in others.items():
        try:
            found[name] = baseline(series, ahead, rows.season)
        except Exception as error:  # what models of other packages raise
            reasons[name] = " ".join(str(error).split()) or type(error).__name__
    return found, reasons


def prediction_table(
    name: str, number: int, rows: TimedRows, fold: Fold, mean: Array, quantiles: Array
) -> pd.DataFrame:
    """Predictions of one model in one fold, a row each."""
    columns = {
        "model": name,
        "fold": number,
        "origin": rows.times[fold.train].max(),
        "time": rows.times[fold.test],
        "horizon": fold.horizons,
        "observed": rows.y[fold.test],
        "scale": seasonal_scale(rows.series(fold.train), rows.season),
        "mean": mean,
    }
    named = zip(map(quantile_name, LEVELS), quantiles.T, strict=True)
    return pd.DataFrame({**columns, **dict(named)})


def backtest_of(
    rows: TimedRows,
    horizon: int,
    predictions: Sequence[pd.DataFrame],
    fits: Sequence[dict[str, Any]],
    notices: tuple[str, ...],
    failures: dict[tuple[str, int], str],
) -> Backtest:
    """The tables of all folds together, beside the rows that they are of."""
    return Backtest(
        pd.concat(predictions, ignore_index=True),
        pd.DataFrame(fits),
        pd.DataFrame({rows.time_name: rows.times, rows.target_name: rows.y}),
        horizon,
        rows.season,
        rows.step,
        notices,
        failures,
    )
