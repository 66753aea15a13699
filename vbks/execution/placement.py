"""Which device or process has worked on which candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vbks.execution.work import Work


@dataclass(frozen=True)
class Placement:
    """A chunk of candidates in one stage of their fits, and the worker that it went to.

    A worker is a device of this machine, or a process of a cluster with its GPUs.
    """

    stage: str
    worker: str
    candidates: tuple[str, ...]


def placed(stage: str, worker: str, members: Sequence[Any]) -> Placement:
    """The placement of members that were worked on together."""
    return Placement(stage, worker, tuple(str(member.expression) for member in members))


def costliest_first(work: Work) -> list[int]:
    """Places of the chunks in the order in which they are handed out."""
    return sorted(range(len(work.chunks)), key=lambda k: -work.cost(k))
