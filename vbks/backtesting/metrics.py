"""Scores of forecasts: errors, plain and scaled, and the shares of targets in intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from vbks.arrays import Array

DECILES = tuple(n / 10 for n in range(1, 10))
"""Levels over which quantile losses are averaged, which then are near the CRPS."""

COVERED = (0.5, 0.8, 0.9)
"""Shares of targets that intervals should hold."""

LEVELS = (0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95)
"""All levels that scores need: deciles, and the ends of the intervals."""

MEASURES = ("mae", "rmse", "mase", "sql", "wql", *(f"coverage_{100 * s:g}" for s in COVERED))
"""Columns of scores."""


def quantile_name(level: float) -> str:
    """The column of a quantile, such as q05."""
    return f"q{round(100 * level):02d}"


def seasonal_scale(series: Array, season: int) -> float:
    """Mean absolute difference of values [T] a season apart, those that are missing left out.

    It is what MASE divides by: the error of the seasonal naive forecast within the known rows.
    """
    gaps = np.abs(series[season:] - series[:-season])
    gaps = gaps[np.isfinite(gaps)]
    return float(np.mean(gaps)) if len(gaps) and np.any(gaps) else np.nan


def quantile_loss(y: Array, quantiles: Array, levels: Sequence[float]) -> Array:
    """Twice the pinball loss of quantiles [N, Q], averaged over levels [Q]: [N].

    Over many even levels this is the CRPS; of a point forecast it is the absolute error.
    """
    gaps = y[:, np.newaxis] - quantiles
    return np.asarray(2.0 * np.mean((np.asarray(levels) - (gaps < 0.0)) * gaps, axis=1))


def losses(predictions: pd.DataFrame) -> pd.DataFrame:
    """What each row of predictions adds to scores, beside its model and horizon.

    They have ``observed``, ``mean``, the ``scale`` of `seasonal_scale`, and quantiles at `LEVELS`.
    """
    y, scale = (predictions[name].to_numpy(float) for name in ("observed", "scale"))
    deciles = predictions[[quantile_name(level) for level in DECILES]].to_numpy(float)
    of_quantiles = quantile_loss(y, deciles, DECILES)
    absolute = np.abs(y - predictions[quantile_name(0.5)].to_numpy(float))
    columns = {
        "absolute": absolute,
        "squared": (y - predictions["mean"].to_numpy(float)) ** 2,
        "mase": absolute / scale,
        "sql": of_quantiles / scale,
        "of_quantiles": of_quantiles,
        "size": np.abs(y),
    }
    for share in COVERED:
        low, high = (predictions[quantile_name(0.5 + side * share / 2)] for side in (-1, 1))
        columns[f"coverage_{100 * share:g}"] = ((low <= y) & (y <= high)).to_numpy(float)
    return predictions[["model", "horizon"]].assign(**columns)


def scores(predictions: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Scores of predictions in groups, in the order in which they come.

    ``mae`` is of medians and ``rmse`` of means, in units of the target; ``mase`` and ``sql`` are
    absolute errors and quantile losses over the scale, ``wql`` the quantile loss over mean |y|;
    ``coverage_90`` is the share of targets within the 90 % interval.
    """
    groups = losses(predictions).groupby(list(by), sort=False)
    means = groups.mean(numeric_only=True)
    size = means["size"].where(means["size"] > 0.0)
    named = means.assign(
        mae=means["absolute"],
        rmse=np.sqrt(means["squared"]),
        wql=means["of_quantiles"] / size,
        rows=groups.size(),
    )
    return named[["rows", *MEASURES]].reset_index()
