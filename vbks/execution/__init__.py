"""Execution: where and with which settings candidates are fitted."""

from vbks.execution.checkpoint import Checkpoint, checkpointed
from vbks.execution.devices import Devices
from vbks.execution.dry_run import DryRun, PlannedChunk
from vbks.execution.fingerprint import fingerprint
from vbks.execution.place import Place, place_of
from vbks.execution.placement import Placement
from vbks.execution.ray_cluster import Ray
from vbks.execution.workshop import Stage, Workshop
from vbks.inference.work import Executor, InOrder

__all__ = [
    "Checkpoint",
    "Devices",
    "DryRun",
    "Executor",
    "InOrder",
    "Place",
    "Placement",
    "PlannedChunk",
    "Ray",
    "Stage",
    "Workshop",
    "checkpointed",
    "fingerprint",
    "place_of",
]
