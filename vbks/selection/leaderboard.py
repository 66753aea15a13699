"""Candidates and their average beside each other, with what they cost and how well they predict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.inference.result import LocalFit
from vbks.predict.mixture import KernelMixture
from vbks.selection.axes import axes_of
from vbks.selection.new_inputs import read_new_inputs
from vbks.selection.readings import reading_of
from vbks.selection.record import SelectionRecord

AVERAGE = "averaged"
"""What the average of all candidates is called among them."""

RANKS = ("fitted", "dropped", "failed")
"""Candidates that were not fitted to the end come after those that were."""


def leaderboard(record: SelectionRecord, data: tuple[Any, Any] | None = None) -> pd.DataFrame:
    """A row for the average and for each candidate, best first."""
    table = _candidates(record)
    average: dict[str, Any] = {"reading": AVERAGE, "expression": AVERAGE, "status": "fitted"}
    average |= {"weight": 1.0, "seconds": table["seconds"].sum()}
    if record.has_cheap_left_out:
        densities = record.left_out_densities
        table["left_out"] = [_finite(value) for value in densities.mean(axis=0)]
        average["left_out"] = logsumexp(densities, axis=1, b=record.weights).mean()
    by, is_ascending = ["rank", "probability", "log_evidence"], [True, False, False]
    if data is not None:
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise DataError("held-out rows are inputs and targets. Give them as (X, y).")
        X, y = read_new_inputs(record, data[0]), np.asarray(data[1], float).reshape(-1)
        scored = [_scores(record, fit, X, y) for fit in record.fits]
        table["rmse"], table["nlpd"] = zip(*scored, strict=True)
        average["rmse"], average["nlpd"] = errors_of(record.mixture, X, y)
        by, is_ascending = ["rank", "nlpd"], [True, True]
    columns = [*table.columns.drop("seconds"), "seconds"]
    whole = pd.concat([pd.DataFrame([average]), table], ignore_index=True)[columns]
    order = whole.assign(rank=whole["status"].map(RANKS.index)).sort_values(
        by, ascending=is_ascending, kind="stable", na_position="first"
    )
    return whole.loc[order.index].reset_index(drop=True)


def _candidates(record: SelectionRecord) -> pd.DataFrame:
    """What is known of each candidate, in the order of the fits."""
    axes, units = axes_of(record), record.rows.units
    correction = record.belief_settings.correction
    return pd.DataFrame(
        {
            "reading": [reading_of(fit, axes, units) for fit in record.fits],
            "expression": [str(fit.expression) for fit in record.fits],
            "warp": [fit.warp.name for fit in record.fits],
            "status": [fit.status for fit in record.fits],
            "probability": record.probabilities,
            "weight": record.weights_at_hand,
            "log_evidence": [_finite(fit.log_evidence(correction)) for fit in record.fits],
            "seconds": [fit.seconds for fit in record.fits],
        }
    )


def _scores(record: SelectionRecord, fit: LocalFit, X: Array, y: Array) -> tuple[float, float]:
    """Errors of one candidate, where it was fitted to the end."""
    if fit.status != "fitted":
        return math.nan, math.nan
    return errors_of(record.mixture_of((fit,), [1.0]), X, y)


def errors_of(mixture: KernelMixture, X: Array, y: Array) -> tuple[float, float]:
    """Root mean squared error of means, and mean negative log density, of targets y [N] at X."""
    mean, _ = mixture.predict_y(X)
    density = mixture.predict_log_density((X, y[:, np.newaxis]))
    return float(np.sqrt(np.mean((mean.numpy()[:, 0] - y) ** 2))), -float(np.mean(density))


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan
