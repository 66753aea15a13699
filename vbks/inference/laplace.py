"""Laplace's approximation: a Gaussian posterior of θ from the curvature where it is highest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Rows
from vbks.inference.posterior import LogPosterior

STEP = 1e-4
"""Step of the differences of gradients, on a logarithmic scale: the curvature is off by about its
square, and by rounding errors divided by it."""

LEAST_PRECISION = 1e-6
"""Curvatures below this are taken as this: a direction in which nothing is known, or a saddle."""


@dataclass(frozen=True)
class Laplace:
    """Gaussians N(mean, factor factorᵀ) of θ, and log ∫ p(y|θ) p(θ) dθ under them.

    [R, H], [R, H, H] (zero where θ is not used) and [R].
    """

    mean: Array
    factor: Array
    log_evidence: Array


def approximate(posterior: LogPosterior, theta: Array) -> Laplace:
    """Laplace's approximation at the maxima θ [R, H] of all rows."""
    rows = np.arange(len(theta))
    value, _ = posterior(rows, theta)
    used = posterior.prior_precision > 0
    precision = -_hessians(posterior, rows, theta)
    # Unused entries get precision 1, so that they leave determinants and inverses alone.
    both = used[:, :, np.newaxis] & used[:, np.newaxis, :]
    precision = np.where(both, precision, np.eye(theta.shape[1]))
    finite = np.isfinite(precision).all(axis=(1, 2)) & np.isfinite(value)
    eigenvalues, vectors = np.linalg.eigh(
        np.where(finite[:, None, None], precision, np.eye(theta.shape[1]))
    )
    eigenvalues = np.maximum(eigenvalues, LEAST_PRECISION)
    factor = vectors / np.sqrt(eigenvalues)[:, np.newaxis, :]
    factor = factor * used[:, :, np.newaxis]
    volume = 0.5 * used.sum(axis=1) * np.log(2 * np.pi) - 0.5 * np.log(eigenvalues).sum(axis=1)
    return Laplace(theta, factor, np.where(finite, value + volume, np.nan))


def _hessians(posterior: LogPosterior, rows: Rows, theta: Array) -> Array:
    """Second derivatives of the log posterior by central differences of gradients: [R, H, H]."""
    columns = []
    for slot in range(theta.shape[1]):
        step = np.zeros(theta.shape[1])
        step[slot] = STEP
        _, up = posterior(rows, theta + step)
        _, down = posterior(rows, theta - step)
        columns.append((up - down) / (2 * STEP))
    hessians = np.stack(columns, axis=2)
    return np.asarray(0.5 * (hessians + np.swapaxes(hessians, 1, 2)))
