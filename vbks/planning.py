"""What a call of `vbks.fit` would do on some number of devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vbks.api import fit
from vbks.execution.dry_run import DryRun, plan


def dry_run(
    X: Any, y: Any = None, *, num_devices: int | Sequence[int] = (1, 4, 8), **settings: Any
) -> tuple[DryRun, ...]:
    """Which candidates would go where, and the memory that each device needs, before a fit.

    ``settings`` are those of `vbks.fit`. Nothing is fitted, and the devices need not be there. All
    candidates are taken to survive pruning, so that a real run has these chunks or fewer. Of a
    search the first round is planned.
    """
    numbers = (num_devices,) if isinstance(num_devices, int) else tuple(num_devices)
    wanted = {**settings, "prune": False, "progress": False, "checkpoint": None, "trace": 0}
    return plan(lambda executor: fit(X, y, **{**wanted, "executor": executor}), numbers)
