"""Finished work that is kept, and what is found of it after an interruption."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.executors import assert_same_fits, counting, evaluate, quick_work

from vbks.errors import FileError
from vbks.execution import checkpoint as module
from vbks.execution.checkpoint import Checkpoint, checkpointed
from vbks.execution.work import InOrder, Results, Work
from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate, make_candidate
from vbks.inference.context import FitContext
from vbks.inference.result import PruningStep


class Counted:
    """Work in order, with the names of what was done."""

    def __init__(self, most: int = 10**9) -> None:
        self.done: list[str] = []
        self.most = most

    def run(self, work: Work) -> Results:
        for k in range(len(work.chunks)):
            if len(self.done) == self.most:
                raise KeyboardInterrupt
            self.done += [str(member.expression) for member in work.chunks[k]]
            yield k, work.do(k)


def opened(folder: Path, executor: Any = None, **settings: Any) -> Checkpoint:
    """A checkpoint whose lock is let go at once, as if its process had ended."""
    with checkpointed(folder, executor or InOrder(), settings) as kept:
        return kept


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "work").iterdir())


def test_work_that_was_done__is_not_done_again(tmp_path: Path) -> None:
    first = dict(opened(tmp_path).run(quick_work()))
    counted = Counted()
    again = dict(opened(tmp_path, counted).run(quick_work()))
    assert not counted.done
    assert sorted(again) == sorted(first) == list(range(6))
    for k, (c,) in again.items():
        assert (c.expression, c.restarts) == (first[k][0].expression, 1)
        assert c.seconds == first[k][0].seconds


def test_interrupted_work__goes_on_with_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(opened(tmp_path, Counted(2)).run(quick_work()))
    assert len([name for name in files(tmp_path) if name.endswith(".json")]) == 2
    counted = Counted()
    assert len(dict(opened(tmp_path, counted).run(quick_work()))) == 6
    assert len(counted.done) == 4


def test_fits__are_the_same_after_an_interruption_anywhere(tmp_path: Path) -> None:
    whole = evaluate(InOrder())
    total = Counted()
    evaluate(total)
    finished = 0
    for _ in range(len(total.done)):
        counted = Counted(2)
        try:
            found = evaluate(opened(tmp_path, counted))
        except KeyboardInterrupt:
            finished += len(counted.done)
        else:
            break
    assert_same_fits(found, whole)
    assert finished + len(counted.done) == len(total.done)


def looked(members: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """A stage that finds something of every kind."""
    H = len(members[0].layout)
    return [
        replace(
            c,
            thetas=np.arange(3.0 * H).reshape(3, H) / 7,
            values=np.array([1.0, np.nan, -np.inf]),
            factor=np.eye(H) / 3,
            jitter=1e-4,
            converged=True,
            pruning=(PruningStep("screening", 1.0, 2.0, False),),
            reason="of all reasons this one",
        )
        for c in members
    ]


def test_candidate__comes_back_as_it_was(tmp_path: Path) -> None:
    ((_, (one,)),) = opened(tmp_path).run(quick_work(1, looked))
    ((_, (other,)),) = opened(tmp_path, Counted(0)).run(quick_work(1, looked))
    for name in ("thetas", "values", "factor"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("jitter", "converged", "pruning", "reason", "seconds", "restarts", "layout"):
        assert getattr(one, name) == getattr(other, name)


def test_other_candidates__are_other_work(tmp_path: Path) -> None:
    list(opened(tmp_path).run(quick_work(2)))
    counted = Counted()
    work = quick_work(2)
    other = make_candidate(parse("LIN * LIN"), work.context)
    list(opened(tmp_path, counted).run(replace(work, chunks=(work.chunks[0], (other,)))))
    assert counted.done == ["LIN * LIN"]


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\x93NUMPY"])
def test_damaged_file__is_as_good_as_none(tmp_path: Path, suffix: str, content: bytes) -> None:
    list(opened(tmp_path).run(quick_work(2)))
    damaged = next((tmp_path / "work").glob(f"*{suffix}"))
    damaged.write_bytes(content)
    counted = Counted()
    assert len(dict(opened(tmp_path, counted).run(quick_work(2)))) == 2
    assert len(counted.done) == 1
    assert len(dict(opened(tmp_path, Counted(0)).run(quick_work(2)))) == 2


def test_nothing_is_left_over__beside_the_work(tmp_path: Path) -> None:
    list(opened(tmp_path).run(quick_work(2)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "lock", "work"]
    assert all(name.endswith((".json", ".npz")) for name in files(tmp_path))
    assert len(files(tmp_path)) == 4


# Settings


def test_other_settings__are_refused_by_name(tmp_path: Path) -> None:
    opened(tmp_path, seed=0, rows="ab")
    assert opened(tmp_path, seed=0, rows="ab").settings["seed"] == 0
    message = "has the work of another call: seed was 0 and is 1. Give a new folder"
    with pytest.raises(FileError, match=message):
        opened(tmp_path, seed=1, rows="ab")


def test_adopted_setting__is_that_of_the_folder(tmp_path: Path) -> None:
    opened(tmp_path, memory=1)
    with checkpointed(tmp_path, InOrder(), {"memory": 2}, ["memory"]) as kept:
        assert kept.settings["memory"] == 1


def test_other_version__is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path)
    monkeypatch.setattr(module, "__version__", "99")
    with pytest.raises(FileError, match=r"vbks was '.*' and is '99'"):
        opened(tmp_path)


@pytest.mark.parametrize(
    "text", ["[]", '{"kind": "other"}', "no JSON", '{"kind": "vbks checkpoint"}']
)
def test_folder_of_something_else__is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "checkpoint.json").write_text(text)
    with pytest.raises(FileError, match=r"checkpoint.json"):
        opened(tmp_path)


def test_folder_of_another_format__is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.json").write_text('{"kind": "vbks checkpoint", "format": 1}')
    with pytest.raises(FileError, match=r"in format 1, and vbks .* reads format \d alone. Give"):
        opened(tmp_path)


def test_folder_with_work_of_no_call__is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.json").write_text("{}")
    with pytest.raises(FileError, match=r"has no file 'checkpoint.json'"):
        opened(tmp_path)


def test_folder_that_cannot_be_made__is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"the checkpoint folder '.*file' cannot be used"):
        opened(tmp_path / "file")


# Two runs, a full disk


def test_second_run_in_a_folder__is_told_so(tmp_path: Path) -> None:
    code = f"""
from vbks.execution.checkpoint import checkpointed
from vbks.execution.work import InOrder
with checkpointed({str(tmp_path)!r}, InOrder(), {{}}):
    print("mine", flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "mine"
        with pytest.raises(FileError, match="another run is at work in the checkpoint folder"):
            opened(tmp_path)
        other.kill()
    opened(tmp_path)


def test_full_disk__ends_the_run_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = module.write_chunk
    written: list[Path] = []

    def fill_up(file: Path, results: Any, clock: float) -> None:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, results, clock)
        written.append(file)

    monkeypatch.setattr(module, "write_chunk", fill_up)
    message = "No space left on device. The 3 pieces of work that are there are whole: make room"
    with pytest.raises(FileError, match=message):
        list(opened(tmp_path).run(quick_work()))
    monkeypatch.setattr(module, "write_chunk", write)
    counted = Counted()
    assert len(dict(opened(tmp_path, counted).run(quick_work()))) == 6
    assert len(counted.done) == 3


def test_file_that_cannot_be_finished__leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(FileError, match="The 0 pieces of work that are there are whole"):
        list(opened(tmp_path).run(quick_work()))
    assert files(tmp_path) == []


# Long stages


def test_long_stage__goes_on_from_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STATE_SECONDS", -1.0)
    steps: list[int] = []

    def stage(members: Any, comparison: Any, stage_state: Any) -> Any:
        kept = stage_state.read()
        first = 0 if kept is None else int(kept["step"][0])
        for step in range(first, 5):
            steps.append(step)
            stage_state.keep(lambda step=step: {"step": np.array([step + 1])})
            if step == 2 and kept is None:
                raise KeyboardInterrupt
        return counting(members, comparison)

    work = replace(quick_work(1, stage), is_long=True)
    with pytest.raises(KeyboardInterrupt):
        list(opened(tmp_path).run(work))
    ((_, (found,)),) = opened(tmp_path).run(work)
    assert found.restarts == 1
    assert steps == [0, 1, 2, 3, 4]
    assert not [name for name in files(tmp_path) if ".state" in name]


def decisions(folder: Path, budget: float, made: list[int], section: str = "search") -> list[int]:
    """Three decisions, new ones being taken from a list."""
    log = opened(folder).decision_log([budget])
    return [log.decide(section, lambda: made.pop(0)) for _ in range(3)]


def test_log__decides_as_before(tmp_path: Path) -> None:
    assert decisions(tmp_path, 5, [4, 2, 0]) == [4, 2, 0]
    assert decisions(tmp_path, 5, []) == [4, 2, 0]
    log = opened(tmp_path).decision_log([5])
    assert [log.decide("search", int) for _ in range(3)] == [4, 2, 0]
    assert log.decide("last", lambda: 6) == 6
    assert decisions(tmp_path, 5, [1, 1], "last") == [6, 1, 1]


def test_log__has_more_to_do_with_a_larger_budget(tmp_path: Path) -> None:
    log, made = opened(tmp_path).decision_log([5]), iter([4, 2, 0])
    assert [log.decide("search", made.__next__) for _ in range(3)] == [4, 2, 0]
    assert log.decide("last", lambda: 6) == 6
    larger = opened(tmp_path).decision_log([9])
    assert [larger.decide("search", lambda: 7) for _ in range(3)] == [4, 2, 7]
    assert larger.decide("last", lambda: 3) == 3


def test_log__tells_of_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    log = opened(tmp_path).decision_log([5])
    monkeypatch.setattr("vbks.execution.decision_log.write_plain", full)
    with pytest.raises(FileError, match=r"No space left on device\. The 0 pieces of work"):
        log.decide("search", lambda: 1)


def test_clock__knows_what_was_before_the_folder_was_opened(tmp_path: Path) -> None:
    with checkpointed(tmp_path, InOrder(), {}) as kept:
        kept.has_run(100.0)
        assert 100.0 <= kept.clock() < 150.0
        kept.has_run(1.0)
        assert kept.clock() >= 100.0


def test_clock__goes_on_after_an_interruption(tmp_path: Path) -> None:
    kept = opened(tmp_path)
    kept._began -= 100.0
    list(kept.run(quick_work(2)))
    again = opened(tmp_path)
    assert again.clock() < 50.0
    list(again.run(quick_work(2)))
    assert again.clock() > 100.0


def test_executor__is_closed_when_results_are_not_wanted(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Watched:
        def run(self, work: Work) -> Results:
            try:
                for k in range(len(work.chunks)):
                    yield k, work.do(k)
            finally:
                closed.append(True)

    with closing(opened(tmp_path, Watched()).run(quick_work())) as results:
        next(results)
    assert closed == [True]
