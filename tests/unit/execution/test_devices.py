"""Work on several devices, which here are parts of one processor."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from support.executors import assert_same_fits, counting, evaluate, quick_work

from vbks.errors import SettingsError
from vbks.execution.devices import Devices
from vbks.execution.work import InOrder

SPLIT = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
parts = [tf.config.LogicalDeviceConfiguration() for _ in range({num})]
tf.config.set_logical_device_configuration(cpu, parts)
import numpy as np
from vbks.inference.context import FitContext
FitContext.chunk_size = 2
from support.executors import evaluate
from vbks.execution import Devices
assert len(Devices().chosen()) == {num}
print([f"{{fit.elbo:.12g}}" for fit in evaluate(Devices())])
"""


def test_devices__are_all_of_the_machine_by_default() -> None:
    assert Devices().chosen() == ("/device:CPU:0",)
    assert Devices(["/CPU:0"]).chosen() == ("/device:CPU:0",)


def test_device_that_is_not_there__is_named() -> None:
    with pytest.raises(
        SettingsError, match=r"there is no device '/GPU:7'. TensorFlow has /device:CPU"
    ):
        Devices(["/GPU:7"]).chosen()
    with pytest.raises(SettingsError, match="expected a list of names"):
        Devices("/GPU:0").chosen()


@pytest.mark.parametrize("num", [2, 4])
def test_number_of_devices__changes_nothing(num: int) -> None:
    outputs = [run_python(SPLIT.format(num=n)) for n in (1, num)]
    assert outputs[0].startswith("[") and outputs[0] == outputs[1]


def test_one_device__gives_what_work_in_order_gives() -> None:
    assert_same_fits(evaluate(Devices(["/CPU:0"])), evaluate(InOrder()))


def test_chunks__are_taken_by_whoever_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0", "/device:CPU:0"))
    busy = threading.Event()
    names: dict[str, list[str]] = {}

    def stage(members: Any, comparison: Any) -> Any:
        thread = threading.current_thread().name
        names.setdefault(thread, []).append(str(members[0].expression))
        if len(names) == 1:
            busy.wait(20)
        elif sum(map(len, names.values())) == 6:
            busy.set()
        return counting(members, comparison)

    results = dict(Devices().run(quick_work(6, stage)))
    assert sorted(results) == list(range(6))
    assert sorted(map(len, names.values())) == [1, 5]


def test_dearest_chunk__is_taken_first() -> None:
    work = quick_work(6)
    places = [k for k, _ in Devices().run(work)]
    assert [work.cost(k) for k in places] == sorted(map(work.cost, places), reverse=True)


def test_error_on_a_device__reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0", "/device:CPU:0"))

    def broken(members: Any, comparison: Any) -> Any:
        raise ZeroDivisionError(str(members[0].expression))

    with pytest.raises(ZeroDivisionError):
        list(Devices().run(quick_work(6, broken)))


def test_results_that_nobody_wants__end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0", "/device:CPU:0"))
    done: list[str] = []
    first = threading.Event()

    def stage(members: Any, comparison: Any) -> Any:
        done.append(str(members[0].expression))
        if len(done) > 2:
            first.wait(20)
        return counting(members, comparison)

    results = Devices().run(quick_work(60, stage))
    next(results)
    first.set()
    results.close()
    assert len(done) < 60


def test_candidate_that_breaks__fails_alone_on_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0", "/device:CPU:0"))

    def stage(members: Any, comparison: Any) -> Any:
        if str(members[0].expression) == "PER":
            raise tf.errors.ResourceExhaustedError(None, None, "no memory")
        return counting(members, comparison)

    results = dict(Devices().run(quick_work(6, stage)))
    reasons = {str(c.expression): c.reason for (c,) in results.values()}
    assert reasons.pop("PER") == "ResourceExhaustedError: no memory"
    assert set(reasons.values()) == {""}


def run_python(code: str) -> str:
    code = f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[2])!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
