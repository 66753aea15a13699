"""The forecasts that every other has to beat: the last value, and that of a season ago."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from vbks.arrays import Array, Rows
from vbks.errors import DataError


@dataclass(frozen=True, eq=False)
class NormalForecast:
    """Means and standard deviations [H] of normal targets."""

    mean: Array
    sd: Array

    def quantiles(self, levels: Array) -> Array:
        """Quantiles [H, Q] at levels [Q]."""
        return np.asarray(self.mean[:, np.newaxis] + np.outer(self.sd, norm.ppf(levels)))

    def log_density(self, y: Array) -> Array:
        """Log densities of targets [H], under which those without any spread are very unlikely."""
        least = np.finfo(float).tiny ** 0.25
        return np.asarray(norm.logpdf(y, self.mean, np.maximum(self.sd, least)))


def naive_forecast(series: Array, ahead: Rows) -> NormalForecast:
    """The last value of a series [T], for as many periods ahead [H] as are asked for.

    It is that of a random walk, so that variances grow with every period. Missing values are NaN;
    a difference over several periods has their variance.
    """
    return seasonal_forecast(series, ahead, 1)


def seasonal_forecast(series: Array, ahead: Rows, season: int) -> NormalForecast:
    """The last value of the same place in the season, for periods ahead [H].

    Each place of the season is a random walk of its own, with one variance for all.
    """
    variance = _variance(series, season)
    last, known = _last_of_places(series, season)
    place = len(series) - 1 + np.asarray(ahead)
    source = last[place % season]
    if np.any(source < 0):
        raise DataError(f"some of the {season} places of a season have no value yet.")
    seasons = (place - source) // season
    return NormalForecast(known[place % season], np.sqrt(variance * seasons))


def _last_of_places(series: Array, season: int) -> tuple[Rows, Array]:
    """Where the last value of each place of the season is, -1 for none, and the values."""
    found, values = np.full(season, -1), np.full(season, np.nan)
    present = np.flatnonzero(np.isfinite(series))
    found[present % season] = present
    values[present % season] = series[present]
    return found, values


def _variance(series: Array, season: int) -> float:
    """Mean square of changes over a season; the square over k seasons is divided by k."""
    squares = []
    for place in range(season):
        own = series[place::season]
        present = np.flatnonzero(np.isfinite(own))
        squares.extend(np.diff(own[present]) ** 2 / np.diff(present))
    if not squares:
        raise DataError(f"no two values are a season of {season} periods apart.")
    return float(np.mean(squares))
