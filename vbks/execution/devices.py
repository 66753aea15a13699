"""Work on the devices of this machine: a thread for each, which takes what is left to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

import tensorflow as tf

from vbks.errors import SettingsError
from vbks.execution.placement import Placement, costliest_first, placed
from vbks.execution.work import Results, Work


@dataclass(frozen=True)
class Devices:
    """TensorFlow devices of this machine; all GPUs by default, or all logical CPUs without one.

    Each takes the most expensive chunk that is left. Chunks do not depend on the devices, and so
    the results do not. ``placements`` tell which device took what. Several threads may have work
    done at the same time: each device works on one chunk after the other.
    """

    names: Sequence[str] | None = None
    placements: list[Placement] = field(default_factory=list, compare=False, repr=False)
    _busy: set[int] = field(default_factory=set, compare=False, repr=False)
    _change: Condition = field(default_factory=Condition, compare=False, repr=False)
    """Condition that guards what devices do and what is left to do, and is notified of changes."""

    @property
    def num_workers(self) -> int:
        """Chunks that are worked on at once."""
        return len(self.chosen())

    def run(self, work: Work) -> Results:
        """Places of chunks and their results, as they are done."""
        names, todo = self.chosen(), costliest_first(work)
        if len(names) > 1:
            yield from _SideBySide(self, work, todo, names).results()
            return
        # Where there is nothing to choose, placement is left to TensorFlow.
        for k in todo:
            self.placements.append(placed(work.name, names[0], work.chunks[k]))
            with tf.device(names[0]) if self.names else nullcontext():
                done = work.do(k)
            yield k, done

    def chosen(self) -> tuple[str, ...]:
        """Names of the devices that are used, if they are there."""
        known = [device.name for device in tf.config.list_logical_devices()]
        if self.names is None:
            gpus = [device.name for device in tf.config.list_logical_devices("GPU")]
            return tuple(gpus or [d.name for d in tf.config.list_logical_devices("CPU")])
        if isinstance(self.names, str) or not self.names:
            raise SettingsError(f"devices are {self.names!r}, expected a list of names.")
        full = {name: _full_name(name) for name in self.names}
        for name, device in full.items():
            if device not in known:
                raise SettingsError(
                    f"there is no device {name!r}. TensorFlow has {', '.join(sorted(known))}."
                )
        return tuple(full.values())


class _SideBySide:
    """Work on several devices, of which the first idle one takes the next chunk."""

    def __init__(
        self, devices: Devices, work: Work, todo: Iterable[int], names: Sequence[str]
    ) -> None:
        self.devices, self.work, self.names = devices, work, names
        self.todo = deque(todo)
        self.done: deque[tuple[int, list[Any]] | BaseException] = deque()
        self.threads: list[Thread] = []

    def results(self) -> Results:
        """Places of chunks and their results; once they are not wanted, no chunk is begun."""
        change = self.devices._change
        try:
            for _ in range(len(self.todo)):
                with change:
                    self._begin()
                    while not self.done:
                        change.wait()
                        self._begin()
                    result = self.done.popleft()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            with change:
                self.todo.clear()
            for thread in self.threads:
                thread.join()

    def _begin(self) -> None:
        """Have every idle device take a chunk, the first device the most expensive one."""
        for i in range(len(self.names)):
            if self.todo and i not in self.devices._busy:
                self.devices._busy.add(i)
                first = self.todo.popleft()
                name = f"device {i}"
                thread = Thread(target=self._take_chunks, args=[i, first], name=name, daemon=True)
                self.threads.append(thread)
                thread.start()

    def _take_chunks(self, i: int, k: int) -> None:
        """Chunk k on device i, and then others as long as there are some."""
        while True:
            result: tuple[int, list[Any]] | BaseException
            try:
                chunk = self.work.chunks[k]
                self.devices.placements.append(placed(self.work.name, self.names[i], chunk))
                with tf.device(self.names[i]):
                    result = k, self.work.do(k)
            except BaseException as error:
                result = error
            with self.devices._change:
                self.done.append(result)
                is_over = not self.todo
                if is_over:
                    self.devices._busy.discard(i)
                else:
                    k = self.todo.popleft()
                self.devices._change.notify_all()
            if is_over:
                return


def _full_name(name: str) -> str:
    """The name as TensorFlow lists it: '/GPU:0' as '/device:GPU:0'."""
    parsed = tf.DeviceSpec.from_string(name if name.startswith("/") else f"/{name}")
    return f"/device:{parsed.device_type}:{parsed.device_index or 0}"
