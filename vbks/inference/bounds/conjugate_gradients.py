"""Conjugate gradients for C α = y, which end when what is left to gain is small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vbks.arrays import Array

LEAST_RESIDUAL = 1e-14
"""Size of the residual, relative to y, at which further steps only move rounding errors."""


def conjugate_gradients(
    product: Callable[[Array], Array],
    y: Array,
    precondition: Callable[[Array], Array],
    gap: Callable[[Array], float],
    tolerance: float,
    max_steps: int,
) -> tuple[Array, int]:
    """α near C⁻¹y and the number of steps, each of which takes one product with C.

    ``precondition`` solves a matrix close to C, and ``gap`` says of a residual y − Cα how much is
    still to be gained; steps end when that is at most the tolerance. They also end where a product
    is not finite.
    """
    alpha, residual = np.zeros_like(y), y.copy()
    ahead = precondition(residual)
    direction, slope = ahead, float(residual @ ahead)
    least = LEAST_RESIDUAL * float(np.linalg.norm(y))
    for step in range(max_steps):
        if not (np.linalg.norm(residual) > least and gap(residual) > tolerance and slope > 0.0):
            return alpha, step
        turned = product(direction)
        curvature = float(direction @ turned)
        if not 0.0 < curvature < np.inf:
            return alpha, step
        length = slope / curvature
        alpha += length * direction
        residual -= length * turned
        ahead = precondition(residual)
        before, slope = slope, float(residual @ ahead)
        direction = ahead + slope / before * direction
    return alpha, max_steps
