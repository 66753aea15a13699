"""What Python's calls take beside arrays: series, names of columns, tables of other libraries."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.selections import make_dated, make_table

import vbks
from vbks.data.training import prepare

MONTHS = pd.date_range("2014-01-01", periods=24, freq="MS")
SOLD = 10 + np.sin(np.arange(24)) + 0.1 * np.arange(24)
TABLE = pd.DataFrame({"month": MONTHS, "price": np.cos(np.arange(24.0)), "sold": SOLD})
QUICK = {"space": "LIN", "warps": "identity", "restarts": 1, "progress": False}


@pytest.fixture
def fitted_rows(monkeypatch):
    """What a call has read of its rows, without a fit."""

    def read(*given, **settings):
        found = []

        def select(X, y, config):
            found.append(prepare((X, y)))
            return make_dated()

        monkeypatch.setattr("vbks.selecting.select_kernels", select)
        selection = vbks.fit(*given, progress=False, **settings)
        return found[0], selection

    return read


@pytest.mark.parametrize(
    "given",
    [
        (TABLE, "sold"),
        (TABLE.set_index("month"), "sold"),
        (TABLE[["month", "price"]], TABLE["sold"]),
        (TABLE.assign(month=MONTHS.strftime("%Y-%m")), "sold"),
        (TABLE.assign(month=MONTHS.to_period("M")), "sold"),
        (pl.from_dict({name: TABLE[name].to_numpy() for name in TABLE}), "sold"),
    ],
)
def test_fit__takes_tables_with_the_name_of_a_target(fitted_rows, given):
    rows, _ = fitted_rows(*given)
    assert (rows.feature_names, rows.target_name) == (("month", "price"), "sold")
    assert rows.time_inputs == (0,)
    np.testing.assert_array_equal(rows.source.y, SOLD)


@pytest.mark.parametrize("index", [MONTHS, MONTHS.to_period("M")])
def test_fit__takes_a_series(fitted_rows, index):
    rows, _ = fitted_rows(pd.Series(SOLD, index, name="sold"))
    assert (rows.feature_names, rows.target_name) == (("time",), "sold")
    assert rows.time_inputs == (0,)


def test_fit__tells_what_it_took_for_an_input(fitted_rows):
    _, selection = fitted_rows(pd.Series(SOLD))
    assert selection.notices[0].startswith("The series has no dates")
    assert selection.notices[1:] == make_dated().notices


def test_fit__refuses_indexes_that_differ():
    with pytest.raises(vbks.DataError, match="X and y have different indexes"):
        vbks.fit(TABLE[["price"]], TABLE["sold"].shift(1, freq=None).set_axis(range(1, 25)))


def test_fit__several_names_are_several_targets():
    found = vbks.fit(TABLE[["month", "sold", "price"]], ["sold", "price"], **QUICK)
    assert list(found) == ["sold", "price"]


def test_series__is_forecast_at_its_dates():
    series = pd.Series(SOLD, MONTHS.to_period("M"), name="sold")
    selection = vbks.fit(series, **QUICK)
    table = selection.forecast(3).table
    assert table["time"].tolist() == [*pd.date_range("2016-01-01", periods=3, freq="MS")]
    by_text, _ = selection.predict_y(["2016-01", "2016-02", "2016-03"])
    np.testing.assert_allclose(by_text, table["mean"], rtol=1e-9)
    by_period, _ = selection.predict_y(pd.period_range("2016-01", periods=3, freq="M"))
    np.testing.assert_array_equal(by_period, by_text)


def test_backtest_and_compare__take_the_same(monkeypatch):
    monkeypatch.setattr("vbks.backtesting.baselines.MODELS", ())
    series = pd.Series(SOLD, MONTHS, name="sold")
    found = vbks.backtest(series, horizon=3, folds=1, **QUICK)
    other = vbks.backtest(
        series.to_frame().rename_axis("time"), "sold", horizon=3, folds=1, **QUICK
    )
    pd.testing.assert_frame_equal(found.predictions, other.predictions)


@pytest.mark.parametrize(
    ("changes", "is_known"),
    [({}, True), ({"MOST_LEFT_OUT": 10}, False)],
)
def test_belief__computes_nothing_that_takes_long(monkeypatch, changes, is_known):
    for name, value in changes.items():
        monkeypatch.setattr(f"vbks.selection.record.{name}", value)
    selection = make_table()
    table = selection.belief
    assert ("left_out_densities" in vars(selection)) == is_known
    assert table["stacking"].notna().all() == is_known
    assert table["weight"].notna().all() == is_known
    assert table["probability"].sum() == pytest.approx(1)
    assert selection.weights.sum() == pytest.approx(1)
    again = make_table()
    again.weights  # noqa: B018  # asked for, so that the table has them
    assert again.belief["weight"].sum() == pytest.approx(1)
