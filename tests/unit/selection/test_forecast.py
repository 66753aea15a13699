"""Tests of forecasts and joint paths, with one small selection of months."""

import numpy as np
import pandas as pd
import pytest

import vbks
from vbks.errors import DataError, SettingsError

QUICK = {"space": ["LIN"], "warps": "identity", "restarts": 1, "progress": False}


def months(num):
    """A rising series of months, its rows not in their order."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "month": pd.date_range("2019-01-31", periods=num, freq="ME"),
            "sold in $": 5.0 + 0.1 * np.arange(num) + rng.normal(0, 0.2, num),
        }
    )
    return table.sample(frac=1.0, random_state=0)


@pytest.fixture(scope="module")
def selection():
    table = months(24)
    return vbks.fit(table[["month"]], table["sold in $"], **QUICK)


@pytest.fixture(scope="module")
def forecast(selection):
    return selection.forecast(6)


def test_forecast__goes_on_from_the_last_date(forecast):
    dates = pd.date_range("2021-01-31", periods=6, freq="ME")
    assert pd.DatetimeIndex(forecast.table["month"]).equals(dates.as_unit("us"))
    assert forecast.step == "month"
    assert len(forecast) == 6
    assert repr(forecast) == ("<Forecast of sold in $: 6 steps of month, 2021-01-31 to 2021-06-30>")


def test_forecast__is_what_the_selection_predicts_there(selection, forecast):
    table, X = forecast.table, forecast.table[["month"]]
    mean, variance = selection.predict_y(X)
    np.testing.assert_allclose(table["mean"], mean)
    np.testing.assert_allclose(table["sd"], np.sqrt(variance))
    levels = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    names = ["low_90", "low_80", "low_50", "median", "high_50", "high_80", "high_90"]
    np.testing.assert_allclose(table[names], selection.predict_quantiles(X, levels), rtol=1e-6)
    assert "<table" in forecast._repr_html_()


def test_forecast__has_the_rows_before_in_their_order(forecast):
    table = months(24).sort_values("month")
    assert list(forecast.observed.columns) == ["month", "sold in $"]
    np.testing.assert_array_equal(forecast.observed["sold in $"], table["sold in $"])
    assert forecast.observed["month"].is_monotonic_increasing


def test_forecast__has_the_levels_and_steps_that_are_asked_for(selection):
    found = selection.forecast(2, freq="D", levels=(0.975, 0.5)).table
    assert list(found.columns)[4:] == ["low_50", "high_50", "low_97.5", "high_97.5"]
    assert list(found["month"]) == list(pd.to_datetime(["2021-01-01", "2021-01-02"]))
    assert (found["low_97.5"] < found["low_50"]).all()


def test_forecast__after_loading_is_the_same(selection, forecast, tmp_path):
    selection.save(tmp_path / "saved")
    again = vbks.load(tmp_path / "saved").forecast(6)
    pd.testing.assert_frame_equal(again.table, forecast.table, rtol=1e-9)
    pd.testing.assert_frame_equal(again.observed, forecast.observed)


def test_forecast__of_numbers_has_numbers_and_names_that_differ():
    y = months(24)["sold in $"].to_numpy()
    table = pd.DataFrame({"mean": np.arange(1900, 1924), "y": y})
    years = vbks.fit(table[["mean"]], table["y"], **QUICK)
    assert list(years.forecast(2, freq=0.25).table["mean (input)"]) == [1923.25, 1923.5]
    found = years.forecast(3)
    assert list(found.table["mean (input)"]) == [1924, 1925, 1926]
    assert found.table["mean (input)"].dtype.kind == "i"
    assert repr(found) == "<Forecast of y: 3 steps of 1, 1924 to 1926>"


def test_forecast__refuses_what_it_cannot_go_on_from(selection):
    X = np.column_stack([np.arange(24.0), np.arange(24.0) ** 2])
    two = vbks.fit(pd.DataFrame(X, columns=["a", "b"]), np.sin(X[:, 0]), **QUICK)
    for refused in (two.forecast, two.simulate):
        with pytest.raises(DataError, match="one input, the time, and there are 2: a, b"):
            refused(3)
    for periods in (0, 1.5, True, "3"):
        with pytest.raises(SettingsError, match="expected a whole number of steps"):
            selection.forecast(periods)
    with pytest.raises(SettingsError, match="a level is 90, expected a share"):
        selection.forecast(3, levels=(90,))
    with pytest.raises(SettingsError, match="levels are empty"):
        selection.forecast(3, levels=())


def test_simulate__has_the_moments_of_the_forecast_and_is_joint(selection, forecast):
    num = 4000
    paths = selection.simulate(6, num)
    assert paths.shape == (6, num)
    assert (paths.index.name, paths.columns.name) == ("month", "path")
    assert list(paths.index) == list(forecast.table["month"])
    error = forecast.table["sd"].to_numpy() / np.sqrt(num)
    gaps = np.abs(paths.mean(axis=1).to_numpy() - forecast.table["mean"].to_numpy())
    assert np.all(gaps < 4 * error)
    _, covariance = (
        part.numpy()
        for part in selection.mixture.predict_y(forecast.table[["month"]], full_cov=True)
    )
    exact = covariance[0].sum()
    assert paths.sum().var() == pytest.approx(exact, rel=4 * np.sqrt(2 / num))
    assert exact > 1.2 * np.trace(covariance[0])


def test_simulate__takes_inputs_of_your_own(selection):
    X = pd.DataFrame({"month": pd.to_datetime(["2020-01-15", "2022-06-01"])})
    paths = selection.simulate(X, 3)
    assert paths.shape == (2, 3)
    assert list(paths.index) == list(X["month"])
    with pytest.raises(SettingsError, match="freq goes with a number of periods"):
        selection.simulate(X, 3, freq="M")
    with pytest.raises(DataError, match="num_samples is 0"):
        selection.simulate(2, 0)


def test_plot__shows_the_data_their_end_and_the_bands(forecast):
    ax = forecast.plot()
    _, labels = ax.get_legend_handles_labels()
    assert labels == ["90 %", "50 %", "median", "data", "data end"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("month", r"sold in \$")
    data = next(line for line in ax.lines if line.get_label() == "data")
    assert len(data.get_ydata()) == 24
    (end,) = (line for line in ax.lines if line.get_label() == "data end")
    assert end.get_xdata()[0] == pd.Timestamp("2020-12-31")
    low, high = ax.collections[0].get_datalim(ax.transData).get_points()[:, 1]
    assert low == pytest.approx(forecast.table["low_90"].min())
    assert high == pytest.approx(forecast.table["high_90"].max())


def test_plot__has_other_levels_fewer_rows_and_a_single_period(selection):
    ax = selection.forecast(1, levels=(0.75,)).plot(history=5)
    _, labels = ax.get_legend_handles_labels()
    assert labels == ["75 %", "median", "data", "data end"]
    assert len(next(line for line in ax.lines if line.get_label() == "data").get_ydata()) == 5
    assert len(ax.collections[0].get_segments()) == 1
