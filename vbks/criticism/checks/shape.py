"""Checks of the distribution of residuals: quantiles, tails, and coverage of intervals."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri

from vbks.arrays import Array
from vbks.criticism.checks.check import Measured
from vbks.criticism.whitening import Residuals

LEAST_TOLD = 0.1
"""The width of residuals is told if it differs from that expected by more than this share."""

LARGE = 3.0
"""Residuals beyond this many standard deviations are large in their own right."""

LEVEL = 0.9
"""Rows that are left out are compared with the intervals that should hold this share of them."""


def measure_quantiles(residuals: Residuals) -> Measured:
    """The distance of Anderson and Darling between residuals and N(0, 1)."""
    z = np.sort(residuals.z, axis=1)
    n = z.shape[1]
    odd = 2.0 * np.arange(1, n + 1) - 1.0
    values = -n - (log_ndtr(z) + log_ndtr(-z[:, ::-1])) @ odd / n
    inner = float(np.quantile(np.abs(z[0]), 0.5) / ndtri(0.75))
    told = f": half of them lie within {inner:.2f} times the interval that is expected"
    is_told = abs(inner - 1.0) > LEAST_TOLD
    return Measured(values, f"residuals are not normally distributed{told if is_told else ''}")


def measure_tails(residuals: Residuals) -> Measured:
    """The kurtosis of errors of rows given all others, without the largest: it may be an outlier.

    Errors one row ahead show it less, as what is unusual in one row is in predictions of the next.
    """
    values = kurtosis(residuals.left_out)
    largest = float(np.max(np.abs(residuals.left_out[0])))
    advice = ", so that likelihood='student_t' may fit better" if largest > LARGE else ""
    return Measured(
        values,
        f"too many residuals are large beside the others (kurtosis {values[0]:.1f} without the "
        f"largest, expected about {np.median(values[1:]):.1f}): tails are heavy{advice}",
    )


def kurtosis(z: Array) -> Array:
    """Fourth moments over squares of second ones [S], without the largest of each row [S, n]."""
    squares = np.sort(z**2, axis=1)[:, :-1]
    return np.asarray(np.mean(squares**2, axis=1) / np.mean(squares, axis=1) ** 2)


def measure_coverage(residuals: Residuals) -> Measured | None:
    """How far the share of rows within their 90 % intervals is from the share expected."""
    if not residuals.is_gaussian:
        return None
    inside = np.mean(np.abs(residuals.left_out) <= ndtri(0.5 + 0.5 * LEVEL), axis=1)
    expected = float(np.mean(inside[1:]))
    way = "narrow" if inside[0] < expected else "wide"
    return Measured(
        np.abs(inside - expected),
        f"{100 * inside[0]:.0f} % of rows that are left out lie in their {100 * LEVEL:.0f} % "
        f"intervals, which are too {way}",
    )
