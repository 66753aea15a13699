"""Naive twins of what is known of normal distributions."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array


def gaussian_kl(mean0: Array, covariance0: Array, mean1: Array, covariance1: Array) -> float:
    """KL(N(mean0, covariance0) ‖ N(mean1, covariance1))."""
    inverse, shift = np.linalg.inv(covariance1), mean1 - mean0
    log_dets = np.linalg.slogdet(covariance1)[1] - np.linalg.slogdet(covariance0)[1]
    return float(
        0.5 * (np.trace(inverse @ covariance0) + shift @ inverse @ shift - len(shift) + log_dets)
    )
