"""A stage that is interrupted and goes on from its state ends where it would have ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.rungs import screened

from vbks.arrays import Array
from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate, make_candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.plain_ascent import ascend
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.inference.svgp.steps import take_steps


class Interrupted(Exception):
    """What ends a stage in the middle."""


class Memory:
    """Keeps every state, and interrupts after so many."""

    def __init__(self, num: int) -> None:
        self.left = num
        self.kept: dict[str, Array] | None = None

    def read(self) -> dict[str, Array] | None:
        return None if self.kept is None else {k: v.ravel() for k, v in self.kept.items()}

    def keep(self, state: Callable[[], dict[str, Array]]) -> None:
        self.kept = {name: np.array(values, float) for name, values in state().items()}
        self.left -= 1
        if self.left == 0:
            raise Interrupted


SHORT = SvgpPolicy(small_elements=0, min_rows=40, rows_per_inducing=4, plain_steps=12)


def looked(**settings: Any) -> tuple[list[Candidate], FitContext]:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, 150))
    y = np.sin(2 * x) + 0.3 * rng.normal(size=150)
    given = {"inference": "stochastic", "num_inducing": 10, "batch_size": 20, "restarts": 2}
    fits = FitSettings(**{**given, **settings})  # type: ignore[arg-type]
    comparison = replace(make_context((x, y), 3, fits)[0], svgp=SHORT)
    candidates = [make_candidate(parse(e), comparison) for e in ("SE", "PER + LIN", "RQ")]
    return screened(candidates, comparison), comparison


@pytest.mark.parametrize("after", [1, 3])
def test_steps__go_on_from_where_they_were(after: int) -> None:
    chunk, comparison = looked()
    whole = take_steps(chunk, comparison)
    stage_state = Memory(after)
    with pytest.raises(Interrupted):
        take_steps(chunk, comparison, stage_state)
    assert_same(take_steps(chunk, comparison, stage_state), whole)


@pytest.mark.parametrize("posterior", ["point", "full"])
def test_plain_ascent__goes_on_from_where_it_was(posterior: str) -> None:
    chunk, comparison = looked(ascent="plain", posterior=posterior)
    whole = ascend(chunk, comparison)
    stage_state = Memory(5)
    with pytest.raises(Interrupted):
        ascend(chunk, comparison, stage_state)
    assert_same(ascend(chunk, comparison, stage_state), whole)


def assert_same(found: list[Candidate], expected: list[Candidate]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.thetas, other.thetas, rtol=1e-10)
        np.testing.assert_allclose(one.factor, other.factor, rtol=1e-10)
        assert one.converged == other.converged
        assert one.jitter == other.jitter
