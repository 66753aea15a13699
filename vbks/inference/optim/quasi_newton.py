"""L-BFGS on many independent problems at once: every row has its own step and its own history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array, Mask, Rows

MEMORY = 8
"""Each row keeps this many pairs of steps and gradient changes: a numerical constant of L-BFGS,
like all here."""

LARGEST_STEP = 2.0
"""No entry of θ moves further in one step: on a logarithmic scale that is a factor of seven."""

SUFFICIENT_DECREASE = 1e-4
"""A step must deliver this share of the decrease that the slope promises (Armijo)."""

MAX_SHRINKS = 12
"""After half as many halvings a row gives up on its direction, after this many on its point."""

Loss = Callable[[Rows, Array], tuple[Array, Array]]
"""``loss(rows, x)`` gives values [r] and gradients [r, n] of some of the rows at x [r, n]."""


Prune = Callable[[int, Array, Array], Mask]
"""``prune(evaluations, x, loss)`` says which rows [R] may go on."""


@dataclass(frozen=True)
class Minimum:
    """Where each row ended: points [R, n], values and gradients there, and how it went."""

    x: Array
    loss: Array
    gradient: Array
    converged: Mask
    evaluations: int


class _History:
    """The last steps s and gradient changes z of every row, and the direction they suggest."""

    def __init__(self, num_rows: int, size: int) -> None:
        self.s = np.zeros((MEMORY, num_rows, size))
        self.z = np.zeros((MEMORY, num_rows, size))
        self.curvature = np.zeros((MEMORY, num_rows))

    def add(self, rows: Rows, s: Array, z: Array) -> None:
        """Remember a step of some rows, unless the curvature along it is not positive."""
        curvature = np.einsum("rn,rn->r", s, z)
        useful = curvature > 1e-10 * np.linalg.norm(s, axis=1) * np.linalg.norm(z, axis=1)
        rows, s, z, curvature = rows[useful], s[useful], z[useful], curvature[useful]
        for kept, new in ((self.s, s), (self.z, z), (self.curvature, curvature)):
            kept[:-1, rows] = kept[1:, rows]
            kept[-1, rows] = new

    def forget(self, rows: Rows) -> None:
        """Start some rows afresh."""
        self.curvature[:, rows] = 0.0

    def direction(self, rows: Rows, gradient: Array) -> Array:
        """−H g by the two loops of L-BFGS, over all rows together."""
        s, z, curvature = self.s[:, rows], self.z[:, rows], self.curvature[:, rows]
        weight = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=curvature > 0)
        q = gradient.copy()
        share = np.zeros_like(curvature)
        for i in reversed(range(MEMORY)):
            share[i] = weight[i] * np.einsum("rn,rn->r", s[i], q)
            q -= share[i][:, np.newaxis] * z[i]
        squares = np.einsum("rn,rn->r", z[-1], z[-1])
        scale = np.divide(curvature[-1], squares, out=np.ones(len(rows)), where=curvature[-1] > 0)
        q *= scale[:, np.newaxis]
        for i in range(MEMORY):
            change = share[i] - weight[i] * np.einsum("rn,rn->r", z[i], q)
            q += change[:, np.newaxis] * s[i]
        return -q


def minimise(
    loss: Loss,
    x: Array,
    max_evaluations: int = 100,
    tolerance: float = 1e-3,
    prune: Prune | None = None,
) -> Minimum:
    """Minimise rows x [R, n] that have nothing to do with each other, one evaluation at a time.

    A row is done when a step promises and brings less than ``tolerance``, and leaves the batch. A
    row whose loss is not finite where it starts stays there, not converged. Rows that ``prune``
    refuses stay where they are, too.
    """
    rows = np.arange(len(x))
    x = x.astype(float).copy()
    value, gradient = loss(rows, x)
    value, gradient = value.copy(), gradient.copy()
    history = _History(*x.shape)
    step = np.ones(len(x))
    shrinks = np.zeros(len(x), int)
    num_small = np.zeros(len(x), int)
    converged = np.zeros(len(x), bool)
    active = np.isfinite(value) & np.isfinite(gradient).all(axis=1)
    direction = np.zeros_like(x)
    direction[active] = _first_direction(gradient[active])
    evaluations = 1
    while evaluations < max_evaluations and active.any():
        rows = np.flatnonzero(active)
        move = step[rows, np.newaxis] * direction[rows]
        move /= np.maximum(np.abs(move).max(axis=1, keepdims=True) / LARGEST_STEP, 1.0)
        slope = np.einsum("rn,rn->r", gradient[rows], move)
        new_value, new_gradient = loss(rows, x[rows] + move)
        evaluations += 1
        finite = np.isfinite(new_value) & np.isfinite(new_gradient).all(axis=1)
        target = value[rows] + SUFFICIENT_DECREASE * slope
        good = finite & (np.where(finite, new_value, np.inf) <= target)

        taken = rows[good]
        history.add(taken, move[good], new_gradient[good] - gradient[taken])
        gain = value[taken] - new_value[good]
        x[taken] += move[good]
        value[taken], gradient[taken] = new_value[good], new_gradient[good]
        step[taken], shrinks[taken] = 1.0, 0
        num_small[taken] = np.where(gain < tolerance, num_small[taken] + 1, 0)
        direction[taken] = _descent(history, taken, gradient[taken])
        promise = -np.einsum("rn,rn->r", direction[taken], gradient[taken])
        done = (num_small[taken] >= 2) | (promise < 0.1 * tolerance)

        failed = rows[~good]
        step[failed] *= _shrink_factor(slope[~good], new_value[~good] - value[failed])
        shrinks[failed] += 1
        restart = failed[(shrinks[failed] == MAX_SHRINKS // 2)]
        history.forget(restart)
        direction[restart] = _first_direction(gradient[restart])
        step[restart] = 1.0
        converged[taken[done]] = True
        active[taken[done]] = False
        active[failed[shrinks[failed] >= MAX_SHRINKS]] = False
        if prune is not None:
            active &= prune(evaluations, x, value)
    return Minimum(x, value, gradient, converged, evaluations)


def _first_direction(gradient: Array) -> Array:
    """Downhill, by at most one in length."""
    norm = np.linalg.norm(gradient, axis=1, keepdims=True)
    return np.asarray(-gradient / np.maximum(norm, 1.0))


def _descent(history: _History, rows: Rows, gradient: Array) -> Array:
    """The direction of the history, or downhill where rounding has turned it uphill."""
    direction = history.direction(rows, gradient)
    uphill = np.einsum("rn,rn->r", direction, gradient) >= 0
    direction[uphill] = _first_direction(gradient[uphill])
    return direction


def _shrink_factor(slope: Array, change: Array) -> Array:
    """Where a parabola through the values and the slope has its minimum, within [0.1, 0.5]."""
    curvature = 2.0 * (change - slope)
    parabola = np.divide(-slope, curvature, out=np.full_like(slope, 0.1), where=curvature > 0)
    return np.clip(np.where(np.isfinite(change), parabola, 0.1), 0.1, 0.5)
