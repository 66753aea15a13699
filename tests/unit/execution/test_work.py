"""Tests of work that can be handed out, where members may break it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.executors import counting, quick_work

from vbks.execution.work import InOrder, carry_out


def breaking(members: Sequence[Any], context: Any) -> list[Any]:
    """A stage that one candidate breaks for all that are with it."""
    if any(str(member.expression) == "PER" for member in members):
        raise np.linalg.LinAlgError("singular\nand more")
    return counting(members, context)


def test_work__of_a_member_that_breaks_it_fails_alone() -> None:
    work = quick_work(6, breaking)
    together = replace(work, chunks=(tuple(m for chunk in work.chunks for m in chunk),))
    done = together.do(0)
    before = [chunk[0] for chunk in work.chunks]
    for found, own in zip(done, before, strict=True):
        if str(own.expression) == "PER":
            assert found.reason == "LinAlgError: singular"
        else:
            assert found.restarts == own.restarts + 1


def test_work__does_not_hide_other_errors() -> None:
    def wrong(members: Sequence[Any], context: Any) -> list[Any]:
        raise KeyError("mistake")

    with pytest.raises(KeyError, match="mistake"):
        quick_work(1, wrong).do(0)


def test_results__are_by_the_places_of_members_and_told_chunk_by_chunk() -> None:
    work, told = quick_work(3), []
    results = carry_out(InOrder(), work, [[2], [0], [1]], told.append)
    assert [str(results[k].expression) for k in range(3)] == ["LIN", "PER", "SE"]
    assert [len(own) for own in told] == [1, 1, 1]


def test_work__of_some_chunks_is_the_same_for_these() -> None:
    work = quick_work(4)
    some = work.only([3, 1])
    assert some.chunks == (work.chunks[3], work.chunks[1])
    assert some.cost(0) == work.cost(3)
