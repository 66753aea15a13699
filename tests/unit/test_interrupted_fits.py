"""Calls of `vbks.fit` that are interrupted and made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rows import make_rows

import vbks
from vbks.errors import FileError
from vbks.execution import checkpoint as module
from vbks.execution.work import InOrder, Results, Work
from vbks.selection.selection import Selection

SETTINGS: dict[str, Any] = {
    "warps": ("identity",),
    "restarts": 1,
    "posterior": "laplace",
    "families": ("SE", "LIN"),
    "progress": False,
}


class Interrupting:
    """Work in order, until so many chunks are done."""

    def __init__(self, most: float) -> None:
        self.most, self.done = most, 0

    def run(self, work: Work) -> Results:
        for k, result in InOrder().run(work):
            if self.done == self.most:
                raise KeyboardInterrupt
            self.done += 1
            yield k, result


def fit(folder: Path | None = None, most: float = np.inf, **settings: Any) -> tuple[Selection, int]:
    """The selection, and how many chunks were worked on."""
    executor = Interrupting(most)
    selection = vbks.fit(
        *make_rows(), **{**SETTINGS, **settings}, executor=executor, checkpoint=folder
    )
    return selection, executor.done


def interrupt(folder: Path, most: int, **settings: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit(folder, most, **settings)


@pytest.mark.parametrize("method", ["vbks", "cks", "skc", "abcd", "bo", "random"])
def test_every_method__goes_on_to_the_same_end(tmp_path: Path, method: str) -> None:
    settings = {"method": method, "budget": vbks.Budget(candidates=6)}
    if method == "skc":
        settings["num_inducing"] = 10
    whole, total = fit(**settings)
    interrupt(tmp_path, total // 2, **settings)
    again, num_done = fit(tmp_path, **settings)
    assert num_done == total - total // 2
    assert [str(f.expression) for f in again.fits] == [str(f.expression) for f in whole.fits]
    np.testing.assert_allclose(again.probabilities, whole.probabilities, atol=1e-8)
    assert [s.expression for s in again.search_steps] == [s.expression for s in whole.search_steps]


def test_finished_call__has_nothing_left_to_do(tmp_path: Path) -> None:
    settings = {"space": ("SE", "LIN", "SE + LIN"), "families": None, "trace": 2}
    first, _ = fit(tmp_path, **settings)
    again, num_done = fit(tmp_path, **settings)
    assert num_done == 0
    np.testing.assert_array_equal(again.probabilities, first.probabilities)
    assert first.trace is not None and again.trace is not None
    np.testing.assert_array_equal(again.trace.to_numpy(), first.trace.to_numpy())


def test_other_rows_or_settings__are_refused(tmp_path: Path) -> None:
    settings = {"space": ("LIN",), "families": None}
    fit(tmp_path, **settings)
    for change, name in (
        ({"seed": 1}, "seed was 0 and is 1"),
        ({"space": ("SE",)}, "space was"),
        ({"likelihood": "student_t", "warps": "auto"}, "likelihood was"),
        ({"memory_limit": 2**30}, "memory_limit was"),
    ):
        with pytest.raises(FileError, match=name):
            fit(tmp_path, **{**settings, **change})
    with pytest.raises(FileError, match="its rows were others"):
        vbks.fit(*make_rows(41), checkpoint=tmp_path, **{**SETTINGS, **settings})


def test_belief__may_be_another_over_the_same_work(tmp_path: Path) -> None:
    settings = {"space": ("LIN", "SE"), "families": None}
    fit(tmp_path, **settings)
    _, num_done = fit(tmp_path, **settings, belief="stacking")
    assert num_done == 0


def test_time_before_the_interruption__counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"budget": vbks.Budget(seconds=1000.0, candidates=6)}
    interrupt(tmp_path, 2, **settings)
    real = module.read_chunk

    def late(*args: Any) -> Any:
        """All work was done after a thousand seconds."""
        kept = real(*args)
        if kept is not None:
            object.__setattr__(kept, "clock", 1000.0)
        return kept

    monkeypatch.setattr(module, "read_chunk", late)
    ended, _ = fit(tmp_path, **settings)
    assert 1 <= len(ended.fits) < 6
    assert "Give a larger budget" in " ".join(ended.notices)


def test_larger_budget__goes_on_from_the_smaller_one(tmp_path: Path) -> None:
    first, _ = fit(tmp_path, budget=vbks.Budget(candidates=3))
    more, num_done = fit(tmp_path, budget=vbks.Budget(candidates=6))
    assert len(first.fits) == 3
    assert len(more.fits) == 6
    _, total = fit(budget=vbks.Budget(candidates=6))
    assert 0 < num_done <= total
