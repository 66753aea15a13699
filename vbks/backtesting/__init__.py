"""Forecasts as they would have been made in the past, their scores, and baselines for them."""

from vbks.backtesting.baselines import BASELINES, make_baselines
from vbks.backtesting.metrics import quantile_loss, scores, seasonal_scale
from vbks.backtesting.naive import NormalForecast, naive_forecast, seasonal_forecast
from vbks.backtesting.results import Backtest
from vbks.backtesting.rolling import backtest

__all__ = [
    "BASELINES",
    "Backtest",
    "NormalForecast",
    "backtest",
    "make_baselines",
    "naive_forecast",
    "quantile_loss",
    "scores",
    "seasonal_forecast",
    "seasonal_scale",
]
