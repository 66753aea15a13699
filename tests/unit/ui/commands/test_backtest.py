import json

import numpy as np
import pandas as pd
import pytest

import vbks


@pytest.fixture
def sales(tmp_path, monkeypatch):
    """A file of 40 months, and fits that take no time."""
    months = pd.date_range("2015-01-01", periods=40, freq="MS").strftime("%Y-%m-%d")
    sold = 5 + 0.1 * np.arange(40) + np.random.default_rng(0).normal(0, 0.1, 40)
    pd.DataFrame({"month": months, "sold": sold}).to_csv(tmp_path / "sales.csv", index=False)

    def fit(X, y, **settings):
        assert settings["budget"] == 7.0
        return vbks.fit(X, y, space=["LIN"], warps="identity", restarts=1, progress=False)

    monkeypatch.setattr("vbks.backtesting.rolling.fit", fit)
    monkeypatch.setattr("vbks.backtesting.baselines.MODELS", ())


def test_backtest__shows_scores_beside_baselines(run, sales, tmp_path):
    chosen = ("--horizon", 6, "--folds", 2, "--budget", 7)
    files = ("--out", "past.csv", "--plot", "past.png")
    code, output, errors = run("backtest", "sales.csv", *chosen, *files)
    assert code == 0, errors
    for text in (
        "40 rows: sold explained by month",
        "2 forecasts of 6 × month",
        "seasonal naive",
        "MAE by months ahead",
        "MAE of vbks is",
        "Written to past.png.",
    ):
        assert text in output
    predictions = pd.read_csv(tmp_path / "past.csv")
    assert set(predictions["model"]) >= {"vbks", "naive", "seasonal naive"}
    assert len(predictions[predictions["model"] == "vbks"]) == 12
    code, output, _ = run("backtest", "sales.csv", *chosen, "--json")
    found = json.loads(output)
    assert (found["horizon"], found["step"], len(found["fits"])) == (6, "month", 2)
    own = predictions[predictions["model"] == "vbks"]
    (mae,) = (row["mae"] for row in found["scores"] if row["model"] == "vbks")
    assert mae == pytest.approx((own["q50"] - own["observed"]).abs().mean(), rel=1e-6)
