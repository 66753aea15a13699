"""Forecasts of the past as the report has them, checked against the predictions they are from."""

import numpy as np
import pytest
from support.selections import make_dated, make_table

from vbks.backtesting.metrics import quantile_name
from vbks.backtesting.without_refits import backtest_without_refits
from vbks.errors import DataError
from vbks.report.labels import labels_of
from vbks.report.sections.past import past_of


@pytest.fixture(scope="module")
def selection():
    return make_dated()


@pytest.fixture(scope="module")
def found(selection):
    return backtest_without_refits(selection, horizon=6, folds=3)


def test_past__scores_are_those_of_the_predictions(selection, found):
    past = past_of(selection, labels_of(selection), found)
    assert not past.is_refitted
    (own,) = (row for row in past.scores if row.name == "this model")
    table = found.predictions[found.predictions["model"] == "vbks"]
    errors = np.abs(table["observed"] - table[quantile_name(0.5)])
    assert own.mae == pytest.approx(errors.mean())
    inside = table["observed"].between(table[quantile_name(0.05)], table[quantile_name(0.95)])
    assert own.coverage_90 == pytest.approx(inside.mean())
    lines = past.by_horizon
    assert lines.names[0] == "this model" and lines.x == (1, 2, 3, 4, 5, 6)
    expected = errors.groupby(table["horizon"]).mean()
    assert lines.values[0] == pytest.approx([*expected])
    assert lines.input == "months ahead"


def test_past__is_told_beside_the_best_of_the_others(selection, found):
    sentence = past_of(selection, labels_of(selection), found).sentence
    assert sentence.startswith(
        "Forecasts made from three points in the past, 6 months ahead each, were off by"
    )
    assert "naive forecast were off by" in sentence


def test_past__of_rows_without_time_says_so():
    table = make_table()
    with pytest.raises(DataError, match="none of the inputs is known to be time"):
        past_of(table, labels_of(table))


def test_past__of_many_rows_is_left_to_backtests(selection, monkeypatch):
    monkeypatch.setattr("vbks.report.sections.past.MOST_ROWS", 10)
    with pytest.raises(DataError, match=r"selection\.report\(backtest=\.\.\.\) shows them"):
        past_of(selection, labels_of(selection))
