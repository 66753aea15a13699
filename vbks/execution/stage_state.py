"""Where a long stage keeps how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from vbks.arrays import Array


class StageState(Protocol):
    """Where a long stage keeps how far it has come, so that it can go on from there."""

    def read(self) -> dict[str, Array] | None:
        """What was kept by a stage that was interrupted."""
        ...

    def keep(self, state: Callable[[], dict[str, Array]]) -> None:
        """Keep a state, if it is time to: it is asked for only then."""
        ...


class NoStageState:
    """Nothing is kept."""

    def read(self) -> dict[str, Array] | None:
        """There is nothing."""
        return None

    def keep(self, state: Callable[[], dict[str, Array]]) -> None:
        """Do nothing."""


NO_STAGE_STATE = NoStageState()
"""The state of stages that nobody interrupts, which keeps nothing."""
