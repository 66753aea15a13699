"""ETS and ARIMA of `statsforecast`, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from vbks.arrays import Array, Rows
from vbks.backtesting.metrics import LEVELS

MODELS = ("AutoETS", "AutoARIMA")
"""Classes of `statsforecast.models` that choose their own orders."""

INSTALL = "pip install 'vbks[baselines]'"

QuantileForecast = tuple[Array, Array]
"""Means [H] and quantiles [H, Q] at `LEVELS`."""


def import_models() -> tuple[dict[str, Callable[..., Any]], str]:
    """The classes by their names, or none of them and the reason in a sentence."""
    try:
        module = import_module("statsforecast.models")
        return {name: getattr(module, name) for name in MODELS}, ""
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "statsforecast":
            return {}, f"{_both()} are not compared: statsforecast is not installed ({INSTALL})."
        reason: Exception = error
    except Exception as error:  # whatever a broken installation raises
        reason = error
    text = " ".join(str(reason).split()).rstrip(".")
    return {}, f"{_both()} are not compared: statsforecast cannot be imported: {text}."


def stats_forecast(
    model: Callable[..., Any], series: Array, ahead: Rows, season: int
) -> QuantileForecast:
    """What a model expects of a series [T] at periods ahead [H], gaps filled by straight lines."""
    filled = pd.Series(series).interpolate().to_numpy(np.float64)
    coverages = sorted({_coverage(level) for level in LEVELS} - {0})
    found = model(season_length=season).forecast(y=filled, h=int(ahead.max()), level=coverages)
    rows = np.asarray(ahead) - 1
    quantiles = [np.asarray(found[_column(level)], np.float64)[rows] for level in LEVELS]
    return np.asarray(found["mean"], np.float64)[rows], np.stack(quantiles, axis=1)


def _coverage(level: float) -> int:
    """Percent that an interval holds which ends at the quantile of a level."""
    return round(abs(200.0 * level - 100.0))


def _column(level: float) -> str:
    if level == 0.5:
        return "mean"
    return f"{'lo' if level < 0.5 else 'hi'}-{_coverage(level)}"


def _both() -> str:
    return " and ".join(MODELS)
