"""Tests of backtests, with fits of a moment."""

import numpy as np
import pandas as pd
import pytest

import vbks
from vbks.backtesting import backtest, quantile_loss, scores, seasonal_scale
from vbks.backtesting.metrics import LEVELS, quantile_name
from vbks.errors import DataError, SettingsError, VbksError

QUICK = {"space": ["LIN"], "warps": "identity", "restarts": 1}
NAIVE = ("naive", "seasonal naive")


def quarters(num=32):
    """A rising series of quarters, its rows not in their order."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "quarter": pd.date_range("2015-01-01", periods=num, freq="QS"),
            "sold in $": 5.0 + 0.1 * np.arange(num) + rng.normal(0, 0.3, num),
        }
    )
    return table.sample(frac=1.0, random_state=0)


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def found(told):
    table = quarters()
    return backtest(
        table[["quarter"]], table["sold in $"], horizon=4, folds=2, baselines=NAIVE,
        tell=told.append, **QUICK,
    )  # fmt: skip


def test_backtest__predicts_what_a_fit_to_the_rows_before_does(found):
    table = quarters().sort_values("quarter")
    fold = found.predictions[lambda t: (t["model"] == "vbks") & (t["fold"] == 2)]
    fold = fold.sort_values("time")
    known, future = table[:28], table[28:]
    selection = vbks.fit(known[["quarter"]], known["sold in $"], progress=False, **QUICK)
    X = future[["quarter"]]
    np.testing.assert_allclose(fold["mean"], selection.predict_y(X)[0], rtol=1e-6)
    names = [quantile_name(level) for level in LEVELS]
    np.testing.assert_allclose(fold[names], selection.predict_quantiles(X, LEVELS), rtol=1e-6)
    np.testing.assert_array_equal(fold["observed"], future["sold in $"])
    np.testing.assert_array_equal(fold["horizon"], [1, 2, 3, 4])
    scale = seasonal_scale(known["sold in $"].to_numpy(), 4)
    np.testing.assert_allclose(fold["scale"], scale)
    assert set(fold["origin"]) == {pd.Timestamp("2021-10-01")}


def test_backtest__has_baselines_of_the_same_rows(found):
    table = quarters().sort_values("quarter")["sold in $"].to_numpy()
    for name, expected in (("naive", np.repeat(table[27], 4)), ("seasonal naive", table[24:28])):
        fold = found.predictions[lambda t, own=name: (t["model"] == own) & (t["fold"] == 2)]
        np.testing.assert_array_equal(fold.sort_values("time")["mean"], expected)
    assert set(found.predictions["model"]) == {"vbks", *NAIVE}


def test_backtest__tables_are_scores_of_its_predictions(found):
    table = found.table.set_index("model")
    assert table["mae"].is_monotonic_increasing
    assert (table["rows"] == 8).all()
    own = found.predictions[found.predictions["model"] == "vbks"]
    assert table.loc["vbks", "mae"] == pytest.approx((own["observed"] - own["q50"]).abs().mean())
    deciles = np.arange(1, 10) / 10
    loss = quantile_loss(
        own["observed"].to_numpy(), own[[quantile_name(u) for u in deciles]].to_numpy(), deciles
    )
    assert table.loc["vbks", "wql"] == pytest.approx(loss.sum() / own["observed"].abs().sum())
    pd.testing.assert_frame_equal(
        found.by_horizon[found.by_horizon["model"] == "vbks"].reset_index(drop=True),
        scores(own.sort_values("horizon"), ["model", "horizon"]),
    )


def test_backtest__says_what_it_found(found, told):
    assert [line.split(":")[0] for line in told] == ["fold 1 of 2", "fold 2 of 2"]
    assert told[1] == "fold 2 of 2: 28 rows up to 2021-10-01 ..."
    assert list(found.fits["kernel"]) == ["LIN", "LIN"]
    assert list(found.fits["rows"]) == [24, 28]
    best = found.table[found.table["model"] != "vbks"].iloc[0]
    assert f"that of the best baseline, {best['model']}, {best['mae']:.4g}." in found.summary
    assert "50, 80 and 90 % of 8 values" in found.summary
    assert repr(found).startswith("<Backtest: 2 forecasts of 4 × quarter. MAE of vbks is ")
    assert "<table" in found._repr_html_()
    assert not found.failures


def test_plot__has_the_forecasts_errors_and_coverage(found):
    canvas = found.plot()
    series, errors, coverage = canvas.axes
    assert (series.get_xlabel(), series.get_ylabel()) == ("quarter", r"sold in \$")
    data, *medians = [line for line in series.lines if len(line.get_xdata()) > 2]
    assert len(medians) == 2
    assert np.all(np.diff(data.get_xdata()) > np.timedelta64(0))
    labels = [text.get_text() for text in errors.get_legend().get_texts()]
    assert sorted(labels) == ["naive", "seasonal naive", "vbks"]
    held = coverage.lines[1].get_ydata()
    first = found.table.iloc[0]
    assert list(held) == [100 * first[f"coverage_{n}"] for n in (50, 80, 90)]


def test_backtest__goes_on_without_what_fails(monkeypatch):
    table = quarters()
    real = vbks.backtesting.rolling.fit

    def fit(X, y, **settings):
        if len(y) < 28:
            raise VbksError("too few for this test")
        return real(X, y, **settings)

    def fail(series, ahead, season):
        raise ValueError("no\nway")

    monkeypatch.setattr(vbks.backtesting.rolling, "fit", fit)
    monkeypatch.setattr(vbks.backtesting.rolling, "make_baselines", lambda *_: ({"bad": fail}, ()))
    found = backtest(table[["quarter"]], table["sold in $"], horizon=4, folds=2, **QUICK)
    assert found.failures == {
        ("vbks", 1): "too few for this test",
        ("bad", 1): "no way",
        ("bad", 2): "no way",
    }
    assert set(found.predictions["model"]) == {"vbks"}
    with pytest.raises(VbksError, match=r"no fold gave a forecast\. too few"):
        backtest(table[["quarter"]], table["sold in $"], horizon=8, folds=1, **QUICK)


def test_backtest__leaves_out_models_that_have_not_all_rows(found):
    some = found.predictions[lambda t: (t["model"] != "naive") | (t["fold"] == 1)]
    partial = vbks.backtesting.Backtest(
        some, found.fits, found.observed, 4, 4, "quarter", failures={("naive", 2): "broken"}
    )
    assert set(partial.table["model"]) == {"vbks", "seasonal naive"}
    assert set(partial.by_horizon["model"]) == {"vbks", "seasonal naive"}


def test_backtest__refuses_before_any_fit():
    table = quarters()
    with pytest.raises(DataError, match="and 10 are needed"):
        backtest(table[["quarter"]], table["sold in $"], horizon=12, folds=3)
    with pytest.raises(SettingsError, match="horizon is 0"):
        backtest(table[["quarter"]], table["sold in $"], horizon=0)
    with pytest.raises(SettingsError, match="baselines have 'arima'"):
        backtest(table[["quarter"]], table["sold in $"], baselines=["arima"])
