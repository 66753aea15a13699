"""Tests of which work goes where."""

from support.executors import quick_work

from vbks.execution.placement import costliest_first, placed


def test_placement__names_the_candidates() -> None:
    work = quick_work(2)
    found = placed("search", "cpu:0", work.chunks[0] + work.chunks[1])
    assert found.candidates == ("SE", "LIN")
    assert (found.stage, found.worker) == ("search", "cpu:0")


def test_costly_chunks__are_handed_out_first() -> None:
    work = quick_work(6)
    costs = [work.cost(k) for k in costliest_first(work)]
    assert costs == sorted(costs, reverse=True)
    assert len(costs) == 6
