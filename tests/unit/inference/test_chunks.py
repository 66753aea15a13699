"""Tests of chunks: which candidates are worked on together."""

from __future__ import annotations

import numpy as np
import pytest

import vbks
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.chunks import cost_of, cut, num_chunks
from vbks.inference.settings import FitSettings


@pytest.mark.parametrize(
    ("least", "num"),
    [(0.2, 1), (1.0, 1), (1.1, 2), (2.5, 4), (4.0, 4), (4.2, 8), (7.6, 8), (8.1, 16), (17.0, 24)],
)
def test_num_chunks__is_what_devices_can_share(least: float, num: int) -> None:
    assert num_chunks(least) == num


@pytest.mark.parametrize("num_inducing", [50, 100, 200, 800])
def test_chunks__hold_everyone_once_and_no_more_than_fit(num_inducing: int) -> None:
    rows = (np.arange(3000.0), np.sin(np.arange(3000.0)))
    comparison, _ = make_context(
        rows, 144, FitSettings(inference="stochastic", num_inducing=num_inducing, posterior="point")
    )
    candidates = [make_candidate(e, comparison) for e in vbks.K144]
    chunks = cut(candidates, comparison)
    assert sorted(k for chunk in chunks for k in chunk) == list(range(144))
    assert max(map(len, chunks)) <= comparison.chunk_size


def test_chunks__cost_about_the_same() -> None:
    rows = (np.arange(3000.0), np.sin(np.arange(3000.0)))
    comparison, _ = make_context(
        rows, 144, FitSettings(inference="stochastic", num_inducing=100, posterior="point")
    )
    candidates = [make_candidate(e, comparison) for e in vbks.K144]
    chunks = cut(candidates, comparison)
    costs = [sum(max(3.0, cost_of(candidates[k])) for k in chunk) for chunk in chunks]
    largest = max(cost_of(c) for c in candidates)
    assert len(chunks) % 8 == 0
    assert max(costs) - min(costs) <= 2.0 * largest
