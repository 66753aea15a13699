"""Tests of a candidate in the midst of training."""

import numpy as np
import pytest

from vbks.grammar.parser import parse
from vbks.inference.paper.state import CandidateState, Learned, begun
from vbks.kernels.layout import lay_out

M, H = 4, 3


@pytest.fixture
def learned() -> Learned:
    rng = np.random.default_rng(0)
    shapes = ((M,), (M, M), (H,), (H, H))
    return Learned(*(rng.normal(size=shape) for shape in shapes))


@pytest.fixture
def state(learned: Learned) -> CandidateState:
    return begun(parse("SE"), lay_out("SE"), (), 1e-6, learned)


def test_learned__is_one_row_of_all_its_numbers(learned: Learned) -> None:
    parts = np.split(learned.flat(), np.cumsum([M, M * M, H]))
    for part, name in zip(parts, ("mean", "root", "theta", "spread"), strict=True):
        np.testing.assert_array_equal(part, getattr(learned, name).ravel())
    assert not learned.zeros().flat().any()
    assert learned.zeros().flat().shape == learned.flat().shape


def test_state__begins_without_steps_and_counts_those_that_were_skipped(
    state: CandidateState,
) -> None:
    assert (state.steps, state.num_skipped, state.reason) == (0, 0, "")
    assert not state.first.flat().any()
    moved = CandidateState(**{**vars(state), "values": np.array([1.0, np.nan, -np.inf, 2.0])})
    assert (moved.steps, moved.num_skipped) == (4, 2)
    assert state.failed("no memory").reason == "no memory"
