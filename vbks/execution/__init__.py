"""Execution: where and with which settings candidates are fitted."""

from vbks.execution.checkpoint import Checkpoint
from vbks.execution.devices import Devices
from vbks.execution.dry_run import DryRun, PlannedChunk
from vbks.execution.placement import Placement
from vbks.execution.ray import Ray
from vbks.execution.work import Executor, InOrder

__all__ = [
    "Checkpoint",
    "Devices",
    "DryRun",
    "Executor",
    "InOrder",
    "Placement",
    "PlannedChunk",
    "Ray",
]
