"""Tests of scores against loops over rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from vbks.backtesting.metrics import (
    DECILES,
    LEVELS,
    MEASURES,
    quantile_loss,
    quantile_name,
    scores,
    seasonal_scale,
)


def pinball(y, quantile, level):
    return level * (y - quantile) if y >= quantile else (1 - level) * (quantile - y)


def make_predictions(seed=0):
    """Two models, two folds and three horizons of random normal forecasts."""
    rng = np.random.default_rng(seed)
    rows = []
    for model in ("b", "a"):
        for fold in (1, 2):
            for horizon in (1, 2, 3):
                mean, sd = rng.normal(), rng.uniform(0.5, 2)
                row = {"model": model, "fold": fold, "horizon": horizon, "mean": mean + 0.1}
                row |= {"observed": rng.normal(), "scale": 0.5 * fold}
                row |= {quantile_name(level): mean + sd * norm.ppf(level) for level in LEVELS}
                rows.append(row)
    return pd.DataFrame(rows)


def naive_scores(rows):
    """Scores by a loop over rows, from their definitions."""
    errors = [abs(row["observed"] - row["q50"]) for row in rows]
    losses = [
        2 * np.mean([pinball(row["observed"], row[quantile_name(u)], u) for u in DECILES])
        for row in rows
    ]
    scales = [row["scale"] for row in rows]
    return {
        "rows": len(rows),
        "mae": np.mean(errors),
        "rmse": np.sqrt(np.mean([(row["observed"] - row["mean"]) ** 2 for row in rows])),
        "mase": np.mean([e / s for e, s in zip(errors, scales, strict=True)]),
        "sql": np.mean([e / s for e, s in zip(losses, scales, strict=True)]),
        "wql": np.sum(losses) / np.sum([abs(row["observed"]) for row in rows]),
        "coverage_50": np.mean([row["q25"] <= row["observed"] <= row["q75"] for row in rows]),
        "coverage_80": np.mean([row["q10"] <= row["observed"] <= row["q90"] for row in rows]),
        "coverage_90": np.mean([row["q05"] <= row["observed"] <= row["q95"] for row in rows]),
    }


@pytest.mark.parametrize("by", [["model"], ["model", "horizon"]])
def test_scores__equal_those_of_a_loop(by):
    predictions = make_predictions()
    found = scores(predictions, by)
    assert list(found.columns) == [*by, "rows", *MEASURES]
    assert found["model"].iloc[0] == "b"
    for _, row in found.iterrows():
        own = predictions[(predictions[by] == row[by]).all(axis=1)].to_dict("records")
        expected = naive_scores(own)
        assert dict(row[list(expected)]) == pytest.approx(expected, rel=1e-12)


def test_quantile_loss__of_a_point_is_its_absolute_error():
    y = np.array([1.0, -2.0, 3.0])
    point = np.repeat([[0.5], [1.0], [3.0]], len(DECILES), axis=1)
    np.testing.assert_allclose(quantile_loss(y, point, DECILES), [0.5, 3.0, 0.0])


def test_quantile_loss__over_many_levels_is_the_crps():
    """That of a normal target is σ [z (2Φ(z) − 1) + 2φ(z) − 1/√π]."""
    levels, sd, y = (np.arange(4000) + 0.5) / 4000, 1.7, np.array([-1.0, 0.3, 4.0])
    quantiles = np.tile(sd * norm.ppf(levels), (3, 1))
    z = y / sd
    crps = sd * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    np.testing.assert_allclose(quantile_loss(y, quantiles, levels), crps, rtol=1e-3)


def test_seasonal_scale__is_the_error_of_the_seasonal_naive_forecast():
    y = np.random.default_rng(0).normal(size=30)
    y[[4, 17]] = np.nan
    gaps = [abs(y[t] - y[t - 4]) for t in range(4, 30)]
    expected = np.mean([gap for gap in gaps if np.isfinite(gap)])
    assert seasonal_scale(y, 4) == pytest.approx(expected)
    assert np.isnan(seasonal_scale(np.ones(10), 4))
    assert np.isnan(seasonal_scale(np.arange(4.0), 4))


def test_scores__of_targets_that_are_zero_have_no_wql():
    predictions = make_predictions().assign(observed=0.0, scale=np.nan)
    found = scores(predictions, ["model"])
    assert found[["wql", "mase", "sql"]].isna().all().all()
    assert found["mae"].gt(0).all()
