"""Forecasts of the past without new fits: the exact GP's given the rows before."""

from dataclasses import replace

import gpflow
import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated, make_table

from vbks.backtesting.metrics import quantile_name
from vbks.backtesting.without_refits import NOT_REFITTED, backtest_without_refits
from vbks.errors import DataError


@pytest.fixture(scope="module")
def found():
    return backtest_without_refits(make_dated(), horizon=6, folds=3)


def test_backtest__is_of_the_last_rows_and_beside_naive_forecasts(found):
    table = found.predictions
    assert set(table["model"]) == {"vbks", "naive", "seasonal naive"}
    own = table[table["model"] == "vbks"]
    assert own.groupby("fold")["horizon"].apply(list).tolist() == [[1, 2, 3, 4, 5, 6]] * 3
    assert [str(day)[:7] for day in found.fits["origin"]] == ["2017-06", "2017-08", "2017-10"]
    assert found.notices[0] == NOT_REFITTED
    assert found.observed.columns.tolist() == ["month", "sold"]
    assert own["time"].max() == pd.Timestamp("2018-04-01")


def test_backtest__is_that_of_gpflow_with_fewer_rows():
    selection = make_dated()
    only = replace(selection, fits=selection.fits[:1])
    table = backtest_without_refits(only, horizon=6, folds=3).predictions
    fold = table[(table["model"] == "vbks") & (table["fold"] == 2)]
    rows = only.rows
    X, y = rows.arrays()
    num = 32
    model = gpflow.models.GPR(
        (X[:num], y[:num, np.newaxis]),
        gpflow.kernels.SquaredExponential(),
        noise_variance=np.exp(-1),
    )
    mean, variance = (np.ravel(part) for part in model.predict_y(X[num : num + 6]))
    units = rows.units
    expected = units.y_mean + units.y_scale * mean
    np.testing.assert_allclose(fold["mean"], expected, rtol=1e-6)
    sd = units.y_scale * np.sqrt(variance)
    np.testing.assert_allclose(
        fold[quantile_name(0.95)], expected + 1.6448536269514722 * sd, rtol=1e-5
    )


def test_backtest__of_inputs_that_are_no_time_says_so():
    with pytest.raises(DataError, match="3 inputs"):
        backtest_without_refits(make_table())
