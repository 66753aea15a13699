"""Plans of what goes where, beside what real runs did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Condition, current_thread
from typing import Any

import numpy as np
import pytest
from support.executors import counting, quick_work
from support.rows import make_rows

import vbks
from vbks.errors import SettingsError
from vbks.execution.devices import Devices
from vbks.execution.dry_run import DryRun, schedule
from vbks.execution.work import Work
from vbks.inference.chunks import cost_of
from vbks.inference.context import FitContext

SPACE = ("SE", "LIN", "PER", "SE + LIN", "RQ", "PER * LIN", "PER * PER")

CASES = {
    "exact": {"inference": "exact", "posterior": "laplace"},
    "stochastic": {"inference": "stochastic", "num_inducing": 6, "batch_size": 20},
}


def settings_of(case: str) -> dict[str, Any]:
    return {"space": SPACE, "warps": ("identity",), "restarts": 2, **CASES[case]}


@pytest.mark.parametrize("case", CASES)
def test_plan__is_what_a_real_run_did(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FitContext, "chunk_size", 2)
    (plan,) = vbks.dry_run(*make_rows(), **settings_of(case), num_devices=1)
    planned = [(p.stage, p.candidates) for p in plan.placements]
    assert len(planned) > 9
    assert planned == done_by(Devices(), case)[: len(planned)]
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0",) * 2)
    assert set(planned) == set(done_by(Devices(), case)[: len(planned)])


def done_by(devices: Devices, case: str) -> list[tuple[str, tuple[str, ...]]]:
    """Stages and candidates of a real run. Whether some are screened again, no plan can know."""
    vbks.fit(*make_rows(), **settings_of(case), prune=False, executor=devices)
    did = devices.placements
    return [(p.stage, p.candidates) for p in did if p.stage != "screening again"]


class VirtualClock:
    """A stage that takes as long as its members cost, on a clock that several devices share."""

    def __init__(self, num_devices: int, num_chunks: int) -> None:
        self.num_devices, self.num_chunks = num_devices, num_chunks
        self.ends: dict[str, float] = {}
        self.times: dict[str, float] = {}
        self.num_done = 0
        self.change = Condition()

    def __call__(self, members: Sequence[Any], context: Any) -> Any:
        own = current_thread().name
        with self.change:
            cost = sum(cost_of(member) for member in members)
            self.ends[own] = self.times.get(own, 0.0) + cost
            self.change.notify_all()
            assert self.change.wait_for(lambda: self._is_next(own), timeout=60)
            self.times[own] = self.ends.pop(own)
            self.num_done += 1
            self.change.notify_all()
        return counting(members, context)

    def _is_next(self, own: str) -> bool:
        num_at_work = min(self.num_devices, self.num_chunks - self.num_done)
        earliest = min((end, name) for name, end in self.ends.items())
        return len(self.ends) == num_at_work and earliest[1] == own


@pytest.mark.parametrize("num", [2, 3, 8])
def test_schedule__is_what_devices_do_that_take_as_long_as_expected(
    num: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0",) * num)
    names: dict[int, str] = {}
    do = Work.do

    def noting(self: Work, k: int) -> list[Any]:
        names[k] = current_thread().name
        return do(self, k)

    monkeypatch.setattr(Work, "do", noting)
    work = quick_work(12)
    clock = VirtualClock(num, 12)
    dict(Devices().run(replace(work, stage=clock)))
    assert names == {k: f"device {i}" for k, i in schedule(work, num)}
    assert len(set(names.values())) == num


def test_more_devices__have_all_candidates_once_and_less_to_do_each() -> None:
    plans = vbks.dry_run(
        *make_rows(2000), space=vbks.K144, warps=("identity",), inference="stochastic",
        num_inducing=100,
    )  # fmt: skip
    assert [plan.num_workers for plan in plans] == [1, 4, 8]
    for plan in plans:
        for stage in ("screening", "SVGP steps", "finalising"):
            own = [p.candidates for p in plan.placements if p.stage == stage]
            assert sorted(sum(own, ())) == sorted(map(str, vbks.K144))
        assert {p.worker for p in plan.placements} == set(plan.workers)
    loads = [max(load_of(plan).values()) for plan in plans]
    assert loads[0] > 3 * loads[1] > 3 * loads[2]
    assert "8 devices\n  device 0: at most " in str(plans[2])


def load_of(plan: DryRun) -> dict[str, float]:
    return {
        worker: sum(c.cost for c in plan.chunks if c.placement.worker == worker)
        for worker in plan.workers
    }


def test_memory__is_that_of_the_matrices_and_the_work_on_them() -> None:
    settings = settings_of("stochastic") | {"num_inducing": 20, "batch_size": 64}
    point, full = (
        vbks.dry_run(*make_rows(200), **settings, posterior=posterior, num_devices=1)[0]
        for posterior in ("point", "full")
    )
    chunk = point.chunks[-1]
    assert (chunk.num_rows, chunk.num_inducing) == (64, 20)
    assert chunk.num_bytes == 12 * 8 * len(SPACE) * 20 * (20 + 64)
    assert full.chunks[-1].num_bytes == 8 * chunk.num_bytes


def test_number_of_devices__has_to_be_one_at_least() -> None:
    with pytest.raises(SettingsError, match="a dry run for 0 devices was asked for"):
        vbks.dry_run(np.arange(30.0), np.arange(30.0), num_devices=0)


def test_search__is_planned_to_the_end_of_its_first_round() -> None:
    (plan,) = vbks.dry_run(*make_rows(), num_devices=2, method="cks")
    assert sorted({p.stage for p in plan.placements}) == ["finalising", "optimisation", "screening"]
    assert {"SE", "LIN"} <= {name for p in plan.placements for name in p.candidates}
