import math

import numpy as np
import pytest

from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate
from vbks.inference.pruning import ALWAYS, GLANCE_MARGIN, PENALTY, decide, glance_margin
from vbks.inference.result import PruningStep
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.layout import lay_out

NUM_ROWS = 100


def make_candidate(value: float, text: str = "SE", race: tuple[PruningStep, ...] = ()) -> Candidate:
    layout = lay_out(text)
    return Candidate(
        parse(text),
        layout,
        0.0,
        thetas=np.zeros((1, len(layout))),
        values=np.array([value]),
        race=race,
    )


def penalty(text: str) -> float:
    return PENALTY * num_free_parameters(text) * math.log(NUM_ROWS)


def test_standings__are_log_likelihoods() -> None:
    one, other = decide(
        [make_candidate(-50.0), make_candidate(-58.0)],
        "look",
        25.0,
        NUM_ROWS,
        log_prior=lambda candidate: 0.2 * candidate.best,
    )
    assert one.race[0].value == pytest.approx(-40.0 - penalty("SE"))
    assert other.race[0].value == pytest.approx(-46.4 - penalty("SE"))


def test_standings__have_a_price_for_each_parameter() -> None:
    se, product = decide(
        [make_candidate(-50.0), make_candidate(-50.0, "SE * PER")], "look", 25.0, NUM_ROWS
    )
    assert se.race == (PruningStep("look", -50 - penalty("SE"), -50 - penalty("SE"), True),)
    assert product.race[0].value == pytest.approx(-50 - penalty("SE * PER"), abs=1e-12)
    assert product.race[0].best == se.race[0].value


def test_those_further_behind_than_the_margin__leave() -> None:
    values = [-float(k) for k in range(ALWAYS)] + [-19.9, -20.1]
    decided = decide([make_candidate(v) for v in values], "climb", 20.0, NUM_ROWS)
    assert [c.is_going for c in decided] == [True] * (ALWAYS + 1) + [False]
    assert decided[-1].race[-1].stage == "climb"


def test_the_best_few__go_on_however_far_behind() -> None:
    values = [-1000.0 * k for k in range(ALWAYS + 2)]
    order = np.random.default_rng(0).permutation(len(values))
    decided = decide([make_candidate(values[k]) for k in order], "look", 25.0, NUM_ROWS)
    assert {values[k] for k, c in zip(order, decided, strict=True) if not c.is_going} == set(
        values[ALWAYS:]
    )


def test_no_margin__lets_all_go_on() -> None:
    decided = decide(
        [make_candidate(-1e6 * k) for k in range(ALWAYS + 5)], "look", math.inf, NUM_ROWS
    )
    assert all(c.is_going for c in decided)


def test_decisions__are_added_to_those_before() -> None:
    before = PruningStep("look", -60.0, -50.0, True)
    (decided,) = decide([make_candidate(-50.0, race=(before,))], "climb", 12.0, NUM_ROWS)
    assert decided.race[0] is before
    assert [step.stage for step in decided.race] == ["look", "climb"]


def test_nobody__is_decided_on() -> None:
    assert decide([], "look", 25.0, NUM_ROWS) == []


def test_glance_margin__grows_with_rows() -> None:
    assert glance_margin(100) == GLANCE_MARGIN
    assert glance_margin(400) == 100.0
