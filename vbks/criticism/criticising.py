"""Model criticism: residuals under the models of an average, and what checks say of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from vbks.arrays import Array
from vbks.criticism.checks.order import autocorrelations
from vbks.criticism.checks.regressors import frequencies_of, periodogram
from vbks.criticism.coverage import Coverage
from vbks.criticism.judging import judge
from vbks.criticism.models import residuals_of
from vbks.criticism.result import Criticism, Curve
from vbks.criticism.sequence import RowSequence
from vbks.criticism.whitening import Residuals
from vbks.errors import SettingsError
from vbks.predict.posteriors.averaging import Average

NUM_REPLICATES = 999
"""Data sets drawn from the models, which the data are compared with."""

LEVEL = 0.05
"""The share of data sets of the model of which something would be said all the same."""

BAND = 0.95
"""Limits of curves are what this share of replicates stays below everywhere."""


def criticise(
    average: Average,
    rows: RowSequence,
    num_rows: int,
    *,
    notices: Sequence[str] = (),
    coverage: Sequence[Coverage] = (),
    r2: float = float("nan"),
    num_replicates: int = NUM_REPLICATES,
    level: float = LEVEL,
    seed: int = 0,
) -> Criticism:
    """Check the models of an average at rows of the data, of which there are ``num_rows``."""
    if num_replicates < 1 / level:
        raise SettingsError(
            f"num_replicates is {num_replicates}, with which no p-value is below the level of "
            f"{level:g}. Give at least {round(1 / level)}."
        )
    models = [*residuals_of(average, rows, num_replicates, seed)]
    return Criticism(
        checks=judge(models, level, seed),
        notices=tuple(notices),
        coverage=tuple(coverage),
        r2=r2,
        residuals=residual_table(models, rows),
        autocorrelation=_autocorrelation(models[0][0]),
        periodogram=_periodogram(models[0][0]),
        order_name=rows.order_name,
        num_replicates=num_replicates,
        num_rows=num_rows,
        about=_about(average, rows, num_rows),
    )


def residual_table(models: Sequence[tuple[Residuals, float]], rows: RowSequence) -> pd.DataFrame:
    """The rows that were checked, and their residuals under the mixture of the models."""
    weights = np.array([weight for _, weight in models])
    return pd.DataFrame(
        {
            "row": rows.numbers,
            "position": rows.positions,
            "residual": mixed(np.stack([own.z[0] for own, _ in models]), weights),
            "left_out": mixed(np.stack([own.left_out[0] for own, _ in models]), weights),
        }
    )


def mixed(z: Array, weights: Array) -> Array:
    """Φ⁻¹(Σ w Φ(z)) for z [K, n]: residuals of a mixture, from those of its members."""
    logarithms = np.log(weights)[:, np.newaxis]
    below = logsumexp(log_ndtr(z) + logarithms, axis=0)
    above = logsumexp(log_ndtr(-z) + logarithms, axis=0)
    return np.where(below < above, ndtri_exp(below), -ndtri_exp(above))


def _autocorrelation(residuals: Residuals) -> Curve:
    found = autocorrelations(residuals.z)
    limit = float(np.quantile(np.abs(found[1:]).max(axis=1), BAND))
    return Curve(np.arange(1.0, found.shape[1] + 1), found[0], limit)


def _periodogram(residuals: Residuals) -> Curve | None:
    if residuals.rows.along is None:
        return None
    frequencies = frequencies_of(residuals)
    if not len(frequencies):
        return None
    power = periodogram(residuals, frequencies)
    return Curve(frequencies, power[0], float(np.quantile(power[1:].max(axis=1), BAND)))


def _about(average: Average, rows: RowSequence, num_rows: int) -> str:
    """What residuals are, in a sentence or two."""
    if average.likelihood.is_gaussian:
        said = (
            "Residuals are errors of predictions one row ahead, in the order of "
            f"{rows.order_name}, over their standard deviations."
        )
        if any(fit.bound != "exact" for fit, _ in average.members):
            said += " They are those of the kernels without the approximation by inducing inputs."
    else:
        said = (
            "Residuals are those given one function drawn from the posterior, approximate as this "
            "is, with ties broken at random."
        )
    if len(rows) < num_rows:
        said += f" {len(rows):,} of {num_rows:,} rows were checked."
    return said
