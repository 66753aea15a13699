"""Tests of naive forecasts of rows that were held out."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from vbks.backtesting.held_out import naive_errors


def test_naive_errors__are_those_of_values_that_are_copied():
    y = np.random.default_rng(0).normal(size=40).cumsum()
    table = pd.DataFrame({"when": pd.date_range("2010-01-01", periods=40, freq="QS")})
    order = np.random.default_rng(1).permutation(40)
    places = np.argsort(order)
    train, test = np.sort(places[:34]), np.sort(places[34:])
    found = naive_errors(table.iloc[order], y[order], train, test)
    assert list(found) == ["naive", "seasonal naive"]
    truth = y[34:]
    mean = y[[30, 31, 32, 33, 30, 31]]
    sd = np.sqrt(np.mean((y[4:34] - y[:30]) ** 2) * np.array([1, 1, 1, 1, 2, 2]))
    rmse, nlpd = found["seasonal naive"]
    assert rmse == pytest.approx(np.sqrt(np.mean((mean - truth) ** 2)))
    assert nlpd == pytest.approx(-norm.logpdf(truth, mean, sd).mean())
    assert found["naive"].rmse == pytest.approx(np.sqrt(np.mean((y[33] - truth) ** 2)))


def test_naive_errors__are_only_of_even_series():
    rng = np.random.default_rng(0)
    train, test = np.arange(30), np.arange(30, 40)
    y = rng.normal(size=40)
    assert list(naive_errors(np.arange(40.0), y, train, test)) == ["naive"]
    assert naive_errors(np.cumsum(rng.exponential(size=40)), y, train, test) == {}
    assert naive_errors(rng.normal(size=(40, 2)), y, train, test) == {}
    months = pd.date_range("2010-01-01", periods=14, freq="MS")
    assert list(naive_errors(months, y[:14], np.arange(11), np.arange(11, 14))) == ["naive"]
