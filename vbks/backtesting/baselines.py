"""Baselines by their names, each a forecast of one series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from vbks.arrays import Array, Rows
from vbks.backtesting.metrics import LEVELS
from vbks.backtesting.naive import NormalForecast, naive_forecast, seasonal_forecast
from vbks.backtesting.stats_models import MODELS, QuantileForecast, import_models, stats_forecast
from vbks.errors import SettingsError

NAIVE, SEASONAL = "naive", "seasonal naive"

BASELINES = (NAIVE, SEASONAL, *MODELS)
"""What forecasts are compared with, where it is installed."""

Baseline: TypeAlias = Callable[[Array, Rows, int], QuantileForecast]
"""From a series [T], NaN where values are missing, periods ahead [H] and the season, to means [H]
and quantiles [H, Q] at `LEVELS`."""


def make_baselines(
    names: Sequence[str], season: int
) -> tuple[dict[str, Baseline], tuple[str, ...]]:
    """Baselines of these names, and a sentence about those that there are not."""
    unknown = [name for name in names if name not in BASELINES]
    if isinstance(names, str) or unknown:
        wrong = names if isinstance(names, str) else unknown[0]
        known = ", ".join(f"'{name}'" for name in BASELINES)
        raise SettingsError(f"baselines have {wrong!r}, expected a list of some of {known}.")
    models, reason = import_models() if set(names) & {*MODELS} else ({}, "")
    found: dict[str, Baseline] = {}
    for name in dict.fromkeys(names):
        if name == NAIVE:
            found[name] = _naive
        elif name == SEASONAL and season > 1:
            found[name] = _seasonal
        elif name in models:
            found[name] = partial(stats_forecast, models[name])
    return found, (reason,) if reason else ()


def _naive(series: Array, ahead: Rows, season: int) -> QuantileForecast:
    return _quantiles(naive_forecast(series, ahead))


def _seasonal(series: Array, ahead: Rows, season: int) -> QuantileForecast:
    return _quantiles(seasonal_forecast(series, ahead, season))


def _quantiles(found: NormalForecast) -> QuantileForecast:
    return found.mean, found.quantiles(np.asarray(LEVELS))
