"""Laplace's approximation: a Gaussian posterior of θ from the curvature where it is highest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Mask, Rows
from vbks.inference.objectives.log_posterior import LogPosterior
from vbks.kernels.priors import Priors

STEP = 1e-4
"""Differences of gradients are over this step on a logarithmic scale: a numerical constant. The
curvature is off by about its square, and by rounding errors divided by it."""

LEAST_PRECISION = 1e-2
"""Curvatures below this, or below the prior's least if that is more, are taken as that: data seldom
tell less than the prior, and a negative curvature is a saddle. It is a numerical constant."""


@dataclass(frozen=True)
class Laplace:
    """Gaussians N(mean, factor factorᵀ) of θ, and log ∫ p(y|θ) p(θ) dθ under them.

    [R, H], [R, H, H] (zero where θ is not used), the precisions (one on the diagonal there), which
    entries are used, the log posterior at the mean and ½ log|2πΣ|.
    """

    mean: Array
    factor: Array
    precision: Array
    used: Mask
    value: Array
    log_volume: Array

    @property
    def log_evidence(self) -> Array:
        """log p(y) by Laplace's approximation: [R]."""
        return self.value + self.log_volume


def approximate(posterior: LogPosterior, theta: Array) -> Laplace:
    """Laplace's approximation at the maxima θ [R, H] of all rows."""
    rows = np.arange(len(theta))
    value, _ = posterior(rows, theta)
    return from_precision(theta, -_hessians(posterior, rows, theta), value, posterior.priors)


def from_precision(theta: Array, precision: Array, value: Array, priors: Priors) -> Laplace:
    """Gaussians around θ [R, H] from precisions [R, H, H], mended where they are not positive.

    A row whose value or precision is not finite has a volume that is not a number.
    """
    used = priors.used
    # Unused entries get precision 1, so that they leave determinants and inverses alone.
    both = used[:, :, np.newaxis] & used[:, np.newaxis, :]
    precision = np.where(both, precision, np.eye(theta.shape[1]))
    finite = np.isfinite(precision).all(axis=(1, 2)) & np.isfinite(value)
    precision = np.where(finite[:, None, None], precision, np.eye(theta.shape[1]))
    eigenvalues, vectors = np.linalg.eigh(precision)
    least = np.where(priors.precision > 0, priors.precision, np.inf).min(axis=1)
    floor = np.maximum(np.where(np.isfinite(least), least, 0.0), LEAST_PRECISION)
    eigenvalues = np.maximum(eigenvalues, np.minimum(floor, 1.0)[:, np.newaxis])
    # A lower triangle, in which each entry of θ has its own column, also beside unused ones.
    roots = np.swapaxes(vectors / np.sqrt(eigenvalues)[:, np.newaxis, :], 1, 2)
    factor = np.swapaxes(np.linalg.qr(roots, mode="r"), 1, 2)
    # Eigenvectors have any sign, which would show in samples that are made with the factor.
    factor = factor * np.where(np.einsum("rhh->rh", factor) < 0.0, -1.0, 1.0)[:, np.newaxis]
    mended = (vectors * eigenvalues[:, np.newaxis, :]) @ np.swapaxes(vectors, 1, 2)
    volume = 0.5 * used.sum(axis=1) * np.log(2 * np.pi) - 0.5 * np.log(eigenvalues).sum(axis=1)
    volume = np.where(finite, volume, np.nan)
    return Laplace(theta, np.where(both, factor, 0.0), mended, used, value, volume)


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
