"""The two-sample test of Lloyd and Ghahramani (2015): data and replicates, with their inputs.

The maximum mean discrepancy between pairs of inputs and residuals, and pairs of the same inputs and
N(0, 1), under a product of Gaussian kernels. It sees that residuals have another distribution
somewhere, whatever it is.
"""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array
from vbks.criticism.checks.check import Measured
from vbks.criticism.whitening import Residuals

BANDWIDTH = 0.15
"""The kernel over ranks of an input, from 0 to 1, has this lengthscale; over several inputs it is
longer by the root of their number."""

WIDTH = 1.0
"""The kernel over residuals has this lengthscale: their standard deviation under the model."""

GRID = np.linspace(-6.0, 6.0, 25)
"""A Gaussian kernel is an integral of products of bumps, which a sum over these places is to 1e-6
of it; residuals beyond count as if they were at the ends."""

LEAST_EIGENVALUE = 1e-6
"""Directions of the kernel over inputs with less than this share of the largest are left out."""


def measure_two_sample(residuals: Residuals) -> Measured:
    """The squared discrepancy, times the number of rows, and where it is largest."""
    bumps = features(np.clip(residuals.z, GRID[0], GRID[-1]))
    kernel = kernel_of_inputs(residuals.rows.ranks)
    values, vectors = np.linalg.eigh(kernel)
    kept = values > LEAST_EIGENVALUE * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    sums = np.einsum("ir,sig->srg", root, bumps, optimize=True)
    witness = np.linalg.norm(kernel @ bumps[0], axis=1)
    place = int(np.argmax(witness))
    return Measured(
        np.sum(sums**2, axis=(1, 2)) / len(kernel),
        "residuals differ from what the model draws (maximum mean discrepancy), most of all "
        f"{residuals.rows.where(place)}",
    )


def kernel_of_inputs(ranks: Array) -> Array:
    """exp(−|x − x'|²/2b²) of ranks [n, D]: [n, n]."""
    squares = np.sum((ranks[:, np.newaxis] - ranks) ** 2, axis=-1)
    return np.asarray(np.exp(-0.5 * squares / (ranks.shape[1] * BANDWIDTH**2)))


def features(z: Array) -> Array:
    """Features of residuals [...] less their expectations under N(0, 1): [..., G].

    Their products add up to exp(−(z − z')²/2w²): bumps have the lengthscale w/√2.
    """
    narrow = 0.5 * WIDTH**2
    scale = np.sqrt((GRID[1] - GRID[0]) * np.sqrt(2.0 / np.pi) / WIDTH)
    bumps = np.exp(-0.5 * (z[..., np.newaxis] - GRID) ** 2 / narrow)
    wide = narrow + 1.0
    expected = np.sqrt(narrow / wide) * np.exp(-0.5 * GRID**2 / wide)
    return np.asarray(scale * (bumps - expected))
