"""Tests of naive forecasts, against values that are copied one by one."""

import numpy as np
import pytest
from scipy.stats import norm

from vbks.backtesting.naive import naive_forecast, seasonal_forecast
from vbks.errors import DataError


def copied(series, ahead, season):
    """Means and variances by stepping back a season at a time to a value that is there."""
    squares, found = [], []
    for t in range(len(series)):
        source = t - season
        while source >= 0 and np.isnan(series[source]):
            source -= season
        if source >= 0 and np.isfinite(series[t]):
            squares.append((series[t] - series[source]) ** 2 / ((t - source) / season))
    for h in ahead:
        place = len(series) - 1 + h
        source = place - season
        while source >= len(series) or np.isnan(series[source]):
            source -= season
        found.append((series[source], np.mean(squares) * (place - source) / season))
    return np.array(found).T


@pytest.mark.parametrize("season", [1, 4, 5])
@pytest.mark.parametrize("missing", [[], [3, 9, 10, 22], [0, 23]])
def test_seasonal_forecast__copies_the_last_of_the_same_place(season, missing):
    series = np.random.default_rng(0).normal(size=25)
    series[missing] = np.nan
    ahead = np.array([1, 2, 3, 7, 11])
    found = seasonal_forecast(series, ahead, season)
    mean, variance = copied(series, ahead, season)
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.sd**2, variance)


def test_naive_forecast__is_a_random_walk():
    series = np.random.default_rng(0).normal(size=25)
    found = naive_forecast(series, np.arange(1, 4))
    np.testing.assert_array_equal(found.mean, series[-1])
    step = np.mean(np.diff(series) ** 2)
    np.testing.assert_allclose(found.sd**2, step * np.arange(1, 4))


def test_normal_forecast__has_quantiles_and_densities():
    found = naive_forecast(np.array([0.0, 1.0, 0.0]), np.array([1, 4]))
    np.testing.assert_allclose(found.quantiles(np.array([0.5, 0.9])), [
        [0.0, norm.ppf(0.9)],
        [0.0, 2 * norm.ppf(0.9)],
    ])  # fmt: skip
    y = np.array([0.3, -1.0])
    np.testing.assert_allclose(found.log_density(y), norm.logpdf(y, 0.0, [1.0, 2.0]))
    assert np.isfinite(naive_forecast(np.zeros(4), np.array([1])).log_density(np.ones(1))).all()


def test_seasonal_forecast__refuses_series_that_are_too_short():
    with pytest.raises(DataError, match="no two values are a season of 12 periods apart"):
        seasonal_forecast(np.arange(12.0), np.array([1]), 12)
    series = np.array([1.0, np.nan, 2.0, np.nan, 3.0])
    with pytest.raises(DataError, match="some of the 2 places of a season have no value"):
        seasonal_forecast(series, np.array([1]), 2)
