"""Work on the devices of this machine: a thread for each, which takes what is left to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

import tensorflow as tf

from vbks.errors import DataError
from vbks.inference.work import Results, Work


@dataclass(frozen=True)
class Devices:
    """TensorFlow devices of this machine; all GPUs by default, or all logical CPUs without one.

    Each takes the dearest chunk that is left. Chunks do not depend on the devices, and so the
    results do not.
    """

    names: Sequence[str] | None = None

    def run(self, work: Work) -> Results:
        """Places of chunks and their results, as they are done."""
        names = self.chosen()
        todo = deque(sorted(range(len(work.chunks)), key=lambda k: -work.cost(k)))
        if len(names) == 1 or len(todo) < 2:
            yield from _in_turn(work, todo, names[0] if self.names or len(names) > 1 else None)
        else:
            yield from _side_by_side(work, todo, names[: len(todo)])

    def chosen(self) -> tuple[str, ...]:
        """Names of the devices that are used, if they are there."""
        known = [device.name for device in tf.config.list_logical_devices()]
        if self.names is None:
            gpus = [device.name for device in tf.config.list_logical_devices("GPU")]
            return tuple(gpus or [d.name for d in tf.config.list_logical_devices("CPU")])
        if isinstance(self.names, str) or not self.names:
            raise DataError(f"devices are {self.names!r}, expected a list of names.")
        full = {name: _full_name(name) for name in self.names}
        for name, device in full.items():
            if device not in known:
                raise DataError(
                    f"there is no device {name!r}. TensorFlow has {', '.join(sorted(known))}."
                )
        return tuple(full.values())


def _full_name(name: str) -> str:
    """The name as TensorFlow lists it: '/GPU:0' as '/device:GPU:0'."""
    parsed = tf.DeviceSpec.from_string(name if name.startswith("/") else f"/{name}")
    return f"/device:{parsed.device_type}:{parsed.device_index or 0}"


def _in_turn(work: Work, places: Sequence[int], device: str | None) -> Results:
    for k in places:
        with nullcontext() if device is None else tf.device(device):
            done = work.do(k)
        yield k, done


def _side_by_side(work: Work, todo: deque[int], names: Sequence[str]) -> Results:
    """One thread per device; when the results are not wanted any more, none takes another chunk."""
    done: SimpleQueue[tuple[int, list[Any]] | BaseException] = SimpleQueue()
    stop = Event()

    def labour(name: str) -> None:
        try:
            with tf.device(name):
                while todo and not stop.is_set():
                    try:
                        k = todo.popleft()
                    except IndexError:
                        return
                    done.put((k, work.do(k)))
        except BaseException as error:
            done.put(error)

    num_chunks = len(todo)
    threads = [Thread(target=labour, args=[name], daemon=True) for name in names]
    for thread in threads:
        thread.start()
    try:
        for _ in range(num_chunks):
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stop.set()
        for thread in threads:
            thread.join()
