"""The belief during training for TensorBoard, written by GPflow's monitor."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from os import PathLike, fspath

from gpflow.monitor import Monitor, MonitorTaskGroup, ScalarToTensorBoard

from vbks.arrays import Array
from vbks.errors import VbksError
from vbks.search.paper import BeliefRecord


class TensorBoard:
    """A callback that writes local ELBOs and probabilities to a folder that TensorBoard shows.

    ``vbks.fit(..., preset="paper", callback=TensorBoard("logs"))``, then ``tensorboard --logdir
    logs``. Monitors of your own are called as ``monitor(record.step, record=record)``.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        if find_spec("tensorboard") is None:
            raise VbksError("TensorBoard is not installed. Use: pip install tensorboard")
        self.folder = fspath(folder)
        self._monitor: Monitor | None = None

    def __call__(self, record: BeliefRecord) -> None:
        """Write one record."""
        if self._monitor is None:
            tasks = [
                self._task(f"{what}/{name}", place, read)
                for place, name in enumerate(record.expressions)
                for what, read in (("elbo", _elbos), ("belief", _probabilities))
            ]
            self._monitor = Monitor(MonitorTaskGroup(tasks))
        self._monitor(record.step, record=record)

    def _task(
        self, name: str, place: int, read: Callable[[BeliefRecord], Array]
    ) -> ScalarToTensorBoard:
        value: Callable[..., float] = lambda record: float(read(record)[place])  # noqa: E731
        return ScalarToTensorBoard(self.folder, value, name)


def _elbos(record: BeliefRecord) -> Array:
    return record.elbos


def _probabilities(record: BeliefRecord) -> Array:
    return record.probabilities
