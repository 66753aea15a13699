"""How well naive forecasts do on rows that were held out at the end of a series."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from vbks.arrays import Rows
from vbks.backtesting.baselines import NAIVE, SEASONAL
from vbks.backtesting.naive import seasonal_forecast
from vbks.backtesting.origins import ROW, read_timed_rows
from vbks.errors import DataError


class Errors(NamedTuple):
    """Root mean squared error, and mean negative log density."""

    rmse: float
    nlpd: float


def naive_errors(X: Any, y: Any, train: Rows, test: Rows) -> dict[str, Errors]:
    """Errors of naive forecasts by their names; none where rows are not evenly spaced in time."""
    try:
        rows = read_timed_rows(X, y)
    except DataError:
        return {}
    ahead = rows.periods[test] - rows.periods[train].max()
    if rows.step == ROW or ahead.min() < 1:
        return {}
    found = {}
    for name, season in ((NAIVE, 1), (SEASONAL, rows.season)):
        if name == SEASONAL and season == 1:
            continue
        with suppress(DataError):  # there are too few seasons
            forecast = seasonal_forecast(rows.series(train), ahead, season)
            error = float(np.sqrt(np.mean((forecast.mean - rows.y[test]) ** 2)))
            found[name] = Errors(error, -float(np.mean(forecast.log_density(rows.y[test]))))
    return found
