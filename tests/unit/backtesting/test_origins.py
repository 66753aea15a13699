"""Tests of periods and folds of rows."""

import numpy as np
import pandas as pd
import pytest

from vbks.backtesting.origins import make_folds, read_timed_rows, usual_horizon
from vbks.errors import DataError, SettingsError


def months(num=48, seed=0):
    """Months out of their order, one of them missing and one twice."""
    table = pd.DataFrame(
        {"month": pd.date_range("2019-01-01", periods=num, freq="MS"), "y": np.arange(num) % 7.0}
    )
    table = pd.concat([table.drop(index=5), table.iloc[[20]].assign(y=10.0)])
    return table.sample(frac=1.0, random_state=seed)


def test_timed_rows__know_their_periods_in_any_order():
    table = months()
    rows = read_timed_rows(table[["month"]], table["y"])
    assert (rows.num_periods, rows.season, rows.step) == (48, 12, "month")
    assert (rows.time_name, rows.target_name, rows.notices) == ("month", "y", ())
    expected = 12 * (table["month"].dt.year - 2019) + table["month"].dt.month - 1
    np.testing.assert_array_equal(rows.periods, expected)
    series = rows.series(np.flatnonzero(rows.periods < 30))
    naive = np.arange(30) % 7.0
    naive[5], naive[20] = np.nan, (20 % 7 + 10) / 2
    np.testing.assert_array_equal(series, naive)


def test_timed_rows__take_the_dates_among_several_inputs():
    table = months()
    X = table[["month"]].assign(price=1.0 + np.arange(len(table)))
    rows = read_timed_rows(X[["price", "month"]], table["y"])
    assert (rows.time_name, rows.season) == ("month", 12)
    with pytest.raises(DataError, match="2 inputs, of which 0 have dates"):
        read_timed_rows(np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0))


def test_timed_rows__that_are_uneven_are_counted():
    x = np.cumsum(np.random.default_rng(0).exponential(1.0, 40))
    rows = read_timed_rows(x[::-1], np.arange(40.0))
    np.testing.assert_array_equal(rows.periods, np.arange(40)[::-1])
    assert (rows.season, rows.step) == (1, "row")
    assert "Horizons are counted in rows, as rows are not evenly spaced" in rows.notices[0]
    assert "Give season=" in rows.notices[1]
    assert read_timed_rows(x, np.arange(40.0), season=5).season == 5
    with pytest.raises(SettingsError, match=r"season is 1\.5"):
        read_timed_rows(x, np.arange(40.0), season=1.5)


def test_folds__train_before_an_origin_and_test_after_it():
    table = months()
    rows = read_timed_rows(table[["month"]], table["y"])
    folds = make_folds(rows, horizon=6, folds=3, step=4)
    assert [rows.periods[fold.train].max() for fold in folds] == [33, 37, 41]
    for fold, origin in zip(folds, (33, 37, 41), strict=True):
        np.testing.assert_array_equal(fold.horizons, rows.periods[fold.test] - origin)
        assert sorted(fold.horizons) == list(range(1, 7))
        assert (rows.periods[fold.train] <= origin).all()
        assert len(fold.train) == np.sum(rows.periods <= origin)


def test_folds__that_leave_too_few_rows_are_refused():
    table = months()
    rows = read_timed_rows(table[["month"]], table["y"])
    with pytest.raises(DataError, match=r"12 apart, leave 11 of 48 rows .* and 13 are needed"):
        make_folds(rows, horizon=12, folds=3, step=12)
    for wrong in ({"horizon": 0}, {"folds": 1.5}, {"step": -1}):
        with pytest.raises(SettingsError, match=f"{next(iter(wrong))} is .* whole number"):
            make_folds(rows, **{"horizon": 6, "folds": 2, "step": 6} | wrong)
    x = np.concatenate([np.arange(30.0), np.arange(50.0, 60.0)])
    with pytest.raises(DataError, match=r"no rows in the 5 steps after 29.0"):
        make_folds(read_timed_rows(x, x % 3, season=1), horizon=5, folds=3, step=10)


def test_usual_horizon__is_a_season_or_a_tenth():
    table = months(84)
    monthly = read_timed_rows(table[["month"]], table["y"])
    assert usual_horizon(monthly, 3) == 12
    assert usual_horizon(monthly, 6) == 8
    short = read_timed_rows(np.arange(12.0), np.arange(12.0))
    assert usual_horizon(short, 3) == 1
