"""Tests of what a search tries first."""

import numpy as np
import pytest

from vbks.data.signals.summaries import summarise_inputs
from vbks.grammar.families import GROWN_FAMILIES
from vbks.grammar.parser import parse
from vbks.search.strategies.first_candidates import clear_cycles, first_candidates, has_cycle


def names(num_inputs: int, *cycles: int, families: tuple[str, ...] = GROWN_FAMILIES) -> list[str]:
    return [str(expression) for expression in first_candidates(num_inputs, cycles, families)]


def test_first_candidates__a_cycle_is_tried_with_a_trend() -> None:
    assert names(1, 1) == ["LIN + PER", "PER + SE", "LIN + PER * SE"]


def test_first_candidates__without_a_cycle_a_trend_is() -> None:
    assert names(1) == ["LIN + SE", "SE"]


def test_first_candidates__of_several_inputs_those_with_cycles_have_their_own() -> None:
    assert names(2) == []
    assert names(2, 2) == ["PER[2] + SE"]
    assert names(3, 1, 2, 3) == ["PER[1] + SE", "PER[2] + SE"]


@pytest.mark.parametrize("missing", ["SE", "LIN", "PER"])
def test_first_candidates__have_the_families_that_are_asked_for(missing: str) -> None:
    families = tuple(name for name in GROWN_FAMILIES if name != missing)
    for cycles in ((), (1,)):
        assert not any(missing in name for name in names(1, *cycles, families=families))


def test_clear_cycles__are_those_that_the_target_has() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (200, 2))
    y = np.sin(2.0 * np.pi * X[:, 1]) + 0.3 * rng.normal(size=200)
    assert clear_cycles(X, y, summarise_inputs(X, y)) == (2,)


def test_has_cycle__looks_at_all_parts() -> None:
    assert has_cycle(parse("LIN + SE * PER"))
    assert has_cycle(parse("CP(SE, PER[2])"))
    assert not has_cycle(parse("LIN + SE * RQ"))
