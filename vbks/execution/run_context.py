"""Where the work of one call is done and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike

from vbks.execution.checkpoint import Checkpoint, checkpointed
from vbks.execution.decision_log import DecisionLog
from vbks.execution.devices import Devices
from vbks.execution.fingerprint import Plain
from vbks.execution.memory import memory_limit
from vbks.execution.work import Executor


@dataclass(frozen=True)
class RunContext:
    """An executor, the memory that fits may use, and the time at work there so far."""

    executor: Executor
    memory: int | None = None
    checkpoint: Checkpoint | None = None
    began: float = 0.0

    def clock(self) -> float:
        """Seconds at work, those before an interruption included."""
        if self.checkpoint is None:
            return time.perf_counter() - self.began
        return self.checkpoint.clock()

    def decision_log(self, budget: Sequence[float]) -> DecisionLog:
        """What is decided for want of time, which is kept if anything is."""
        return DecisionLog() if self.checkpoint is None else self.checkpoint.decision_log(budget)


@contextmanager
def run_context(
    executor: Executor | None,
    checkpoint: str | PathLike[str] | None,
    call: Callable[[], Mapping[str, Plain]],
    memory: int | None,
    began: float,
) -> Iterator[RunContext]:
    """All devices of this machine, or another executor; and a folder, if there is one.

    ``call`` describes what the folder's work has to be of. The memory that is free may have been
    another one when the work began, and decides how it is cut: without a wish, that one stays.
    The time runs since ``began``, or since work in the folder was begun.
    """
    executor = Devices() if executor is None else executor
    if checkpoint is None:
        yield RunContext(executor, memory, began=began)
        return
    settings = {**call(), "memory": memory_limit(memory)}
    with checkpointed(checkpoint, executor, settings, ["memory"]) as kept:
        agreed = kept.settings["memory"]
        assert isinstance(agreed, int)
        kept.has_run(time.perf_counter() - began)
        yield RunContext(kept, agreed, kept)
