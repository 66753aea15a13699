"""Restarts of the same candidate: who goes on, and which ended in the same place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vbks.arrays import Array, Mask, Rows

SAME_LOSS = 0.1
"""Restarts have found the same optimum if their losses differ by less than this, in nats, and no
entry of θ by more than `SAME_THETA`: a tolerance."""

SAME_THETA = 0.15
"""Restarts have found the same optimum if no entry of θ differs by more than this, a sixth on a
logarithmic scale, and their losses by less than `SAME_LOSS`: a tolerance."""


Schedule = Sequence[tuple[int, int]]
"""Pairs (evaluations, restarts): after this many evaluations, this many restarts of a candidate go
on."""


class Halving:
    """Lets the better restarts of every candidate go on, by the schedule of each.

    ``owners`` [R] are places of candidates in the schedules. A restart that has come to where a
    better one is stops, too.
    """

    def __init__(self, owners: Rows, schedules: Sequence[Schedule]) -> None:
        self.members = [np.flatnonzero(owners == k) for k in range(len(schedules))]
        self.schedules = [dict(schedule) for schedule in schedules]
        self.alive = np.ones(len(owners), bool)

    def __call__(self, evaluations: int, x: Array, loss: Array) -> Mask:
        """Which rows may go on after this many evaluations."""
        for rows, schedule in zip(self.members, self.schedules, strict=True):
            if evaluations in schedule:
                going = rows[self.alive[rows]]
                self.alive[going] = False
                kept = distinct(x[going], loss[going])[: schedule[evaluations]]
                self.alive[going[kept]] = True
        return self.alive


def distinct(x: Array, loss: Array) -> Rows:
    """Indices of rows with different optima and finite losses, best first."""
    kept: list[int] = []
    for row in np.argsort(loss):
        if np.isfinite(loss[row]) and not any(_same(x, loss, row, other) for other in kept):
            kept.append(int(row))
    return np.array(kept, np.intp)


def _same(x: Array, loss: Array, row: int, other: int) -> bool:
    close = abs(loss[row] - loss[other]) < SAME_LOSS
    return bool(close and np.abs(x[row] - x[other]).max() < SAME_THETA)
