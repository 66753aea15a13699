"""Work on a Ray cluster of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from support.executors import assert_same_fits, counting, evaluate, quick_work

import vbks
from vbks.data.sources import DatasetSource
from vbks.errors import DataError, VbksError
from vbks.execution.ray import Ray
from vbks.execution.work import InOrder
from vbks.inference.evaluator import fit_candidates

ray = pytest.importorskip("ray")

TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Ray]:
    """Two workers on the loopback address, which find the stages that tests share."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        ray.init(
            num_cpus=2,
            _node_ip_address="127.0.0.1",
            include_dashboard=False,
            log_to_driver=False,
        )
        yield Ray()
        ray.shutdown()


def test_cluster__gives_what_work_in_order_gives(cluster: Ray) -> None:
    assert_same_fits(evaluate(cluster), evaluate(InOrder()))


def test_rows__are_put_into_the_store_once(cluster: Ray) -> None:
    executor = Ray()
    work = quick_work()
    list(executor.run(work))
    before = len(executor._shared)
    list(executor.run(work))
    assert before == len(executor._shared) == 2


def die_once(members: Any, comparison: Any) -> Any:
    """Kill the first worker that takes the wave."""
    import os
    import pathlib

    mark = pathlib.Path(str(members[0].reason or "/tmp/none"))
    if str(members[0].expression) == "PER" and not mark.exists():
        mark.write_text("died")
        os.kill(os.getpid(), 9)
    return counting(members, comparison)


def test_worker_that_dies__is_replaced(cluster: Ray, tmp_path: Any) -> None:
    work = quick_work(6, die_once)
    mark = str(tmp_path / "mark")
    marked = tuple(tuple(replace(c, reason=mark) for c in chunk) for chunk in work.chunks)
    results = dict(cluster.run(replace(work, chunks=marked)))
    assert (tmp_path / "mark").exists()
    assert sorted(results) == list(range(6))
    assert all(c.restarts == 1 for (c,) in results.values())


def die(members: Any, comparison: Any) -> Any:
    """Kill every worker that takes the wave."""
    import os

    if any(str(c.expression) == "PER" for c in members):
        os.kill(os.getpid(), 9)
    return counting(members, comparison)


def test_candidate_that_no_worker_survives__fails_alone(
    cluster: Ray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vbks.execution.ray.RETRIES", 0)
    work = quick_work(6, die)
    together = replace(work, chunks=(tuple(c for (c,) in work.chunks),))
    ((_, found),) = cluster.run(together)
    reasons = {str(c.expression): c.reason for c in found}
    assert "WorkerCrashedError" in reasons.pop("PER")
    assert set(reasons.values()) == {""}


def refuse(members: Any, comparison: Any) -> Any:
    """A mistake that no other worker would mend."""
    raise DataError("this is wrong. Do that.")


def test_error_in_a_worker__reaches_the_caller(cluster: Ray) -> None:
    with pytest.raises(DataError, match=r"this is wrong\. Do that\."):
        list(cluster.run(quick_work(2, refuse)))


def slow(members: Any, comparison: Any) -> Any:
    """A task that nobody waits for."""
    import time

    if str(members[0].expression) != "PER * LIN":
        time.sleep(600)
    return counting(members, comparison)


def test_results_that_nobody_wants__end_the_tasks(cluster: Ray) -> None:
    results = cluster.run(quick_work(6, slow))
    k, _ = next(results)
    assert k == 5
    results.close()
    # If the slow ones went on, these would wait for them.
    assert len(dict(cluster.run(quick_work(6)))) == 6


def test_own_family__is_known_to_workers(cluster: Ray) -> None:
    def formula(X1: tf.Tensor, X2: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.minimum(X1, X2) + 9.0, -1)

    vbks.register_family("Brown", formula, [], replace=True)
    rows = (range(30), [x % 7 for x in range(30)])
    there, here = (
        fit_candidates(["Brown + SE"], rows, restarts=1, executor=executor, prune=False)
        for executor in (cluster, InOrder())
    )
    assert here[0].status == "fitted"
    assert_same_fits(there, here)


def test_dataset__cannot_be_sent(cluster: Ray) -> None:
    work = quick_work()
    dataset = tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [1.0, 2.0]))
    data = replace(work.context.data, source=DatasetSource(dataset))
    with pytest.raises(DataError, match="a dataset cannot be sent to a cluster"):
        list(cluster.run(replace(work, context=replace(work.context, data=data))))


def test_task_that_no_machine_can_run__is_refused(cluster: Ray) -> None:
    with pytest.raises(VbksError, match=r"has 2 CPUs and 0 GPUs, and a task asks for 1 and 1\."):
        list(Ray(num_gpus=1).run(quick_work()))


def test_without_the_package__says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(VbksError, match=r"pip install 'vbks\[ray\]'"):
        list(Ray().run(quick_work()))
