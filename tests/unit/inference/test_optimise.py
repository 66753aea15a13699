from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.optima import moved_theta, wave_context
from support.rungs import optimised

from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.optimise import given_up, optimise_from, with_more_jitter


@pytest.fixture(scope="module")
def context() -> FitContext:
    return wave_context()


@pytest.fixture(scope="module")
def top(context: FitContext) -> Candidate:
    """PER at its highest optimum."""
    return optimised("PER", context)


def test_more_jitter__grows_also_from_none(top: Candidate) -> None:
    assert with_more_jitter(replace(top, jitter=0.0)).jitter == pytest.approx(1e-6)
    assert with_more_jitter(replace(top, jitter=1e-5)).jitter == pytest.approx(1e-3)


def test_candidate_with_a_finite_value__is_not_given_up(top: Candidate) -> None:
    assert given_up(top) is top
    assert not given_up(replace(top, values=top.values[:0])).is_going


def test_starts_that_meet__count_once(context: FitContext, top: Candidate) -> None:
    theta = top.thetas[0]
    near = np.stack([theta, moved_theta(theta, top, ".lengthscales", 0.1), theta + 0.01])
    evidence = context.final_evidence(top.jitter)
    (found,) = optimise_from([top], [near], context, evidence, [()], 60)
    assert len(found.values) == 1
    np.testing.assert_allclose(found.best, top.best, atol=1e-3)
