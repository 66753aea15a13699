"""What a fitted candidate does not explain, where its children look for new periods."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from vbks.data.signals.summaries import summarise_inputs
from vbks.inference.context import FitContext
from vbks.inference.result import LocalFit
from vbks.inference.seeds import Seed
from vbks.kernels.gpflow.bank import bank_of
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.inheritance import Parent


def as_parent(fit: LocalFit, context: FitContext) -> Parent:
    """The fit as the parent of others: its θ, and the periods in what it leaves unexplained."""
    layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
    rows = context.some_data(context.screening.residual_rows, Seed.RESIDUAL_ROWS)
    X, y = rows.arrays()
    targets = context.likelihood.pseudo_targets(y)
    bank = bank_of([fit.expression], fit.num_inputs, ard=fit.ard)
    theta = fit.theta[np.newaxis]
    noise = bank.noise(theta, X)[0]
    if rows.known_noise is not None:
        noise += rows.known_noise
    covariance = bank(theta, X)[0]
    covariance = tf.linalg.set_diag(covariance, tf.linalg.diag_part(covariance) + noise)
    root = tf.linalg.cholesky(covariance)
    residuals = noise * tf.linalg.cholesky_solve(root, targets[:, np.newaxis])[:, 0]
    if not np.isfinite(residuals).all():
        return Parent(layout, fit.theta)
    summaries = summarise_inputs(X, residuals.numpy(), context.starts.signals)
    return Parent(layout, fit.theta, summaries)
