import time

import pytest

from vbks.errors import FileError
from vbks.execution.decision_log import DecisionLog
from vbks.execution.devices import Devices
from vbks.execution.run_context import run_context
from vbks.execution.work import InOrder


def no_call():
    raise AssertionError("nothing is to be described")


def test_without_a_folder__work_is_done_on_all_devices():
    began = time.perf_counter() - 1000.0
    with run_context(None, None, no_call, 7, began) as context:
        assert isinstance(context.executor, Devices)
        assert context.memory == 7
        assert context.clock() >= 1000.0
        assert isinstance(context.decision_log([1.0]), DecisionLog)


def test_with_a_folder__the_memory_of_the_first_call_stays(tmp_path):
    for wish in (2**30, None):
        with run_context(InOrder(), tmp_path, lambda: {"seed": 0}, wish, 0.0) as context:
            assert context.memory == 2**30
            assert context.executor is context.checkpoint


def test_with_a_folder__another_call_is_refused(tmp_path):
    with run_context(InOrder(), tmp_path, lambda: {"seed": 0}, None, 0.0):
        pass
    with (
        pytest.raises(FileError, match="seed was 0 and is 1"),
        run_context(InOrder(), tmp_path, lambda: {"seed": 1}, None, 0.0),
    ):
        pass


def test_with_a_folder__the_time_before_the_work_counts(tmp_path):
    began = time.perf_counter() - 1000.0
    with run_context(InOrder(), tmp_path, dict, None, began) as context:
        assert context.clock() >= 1000.0
