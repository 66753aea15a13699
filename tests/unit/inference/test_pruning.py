import math
from typing import Any

import numpy as np
import pytest

from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.pruning import margin_of, prune
from vbks.inference.result import PruningStep
from vbks.inference.screening import ScreeningPolicy
from vbks.inference.settings import FitSettings
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.layout import lay_out

NUM_ROWS = 100
PENALTY = ScreeningPolicy().parameter_penalty
ALWAYS = 10


def make_candidate(
    value: float, text: str = "SE", steps: tuple[PruningStep, ...] = ()
) -> Candidate:
    layout = lay_out(text)
    return Candidate(
        parse(text),
        layout,
        0.0,
        thetas=np.zeros((1, len(layout))),
        values=np.array([value]),
        pruning=steps,
    )


def decide(
    candidates: list[Candidate], stage: str, margin: float, **settings: Any
) -> list[Candidate]:
    return prune(candidates, stage, margin, NUM_ROWS, keep=ALWAYS, penalty=PENALTY, **settings)


def penalty(text: str) -> float:
    return PENALTY * num_free_parameters(text) * math.log(NUM_ROWS)


def test_standings__are_log_likelihoods() -> None:
    one, other = decide(
        [make_candidate(-50.0), make_candidate(-58.0)],
        "screening",
        25.0,
        log_prior=lambda candidate: 0.2 * candidate.best,
    )
    assert one.pruning[0].value == pytest.approx(-40.0 - penalty("SE"))
    assert other.pruning[0].value == pytest.approx(-46.4 - penalty("SE"))


def test_standings__have_a_price_for_each_parameter() -> None:
    se, product = decide(
        [make_candidate(-50.0), make_candidate(-50.0, "SE * PER")], "screening", 25.0
    )
    assert se.pruning == (PruningStep("screening", -50 - penalty("SE"), -50 - penalty("SE"), True),)
    assert product.pruning[0].value == pytest.approx(-50 - penalty("SE * PER"), abs=1e-12)
    assert product.pruning[0].best == se.pruning[0].value


def test_those_further_behind_than_the_margin__leave() -> None:
    values = [-float(k) for k in range(ALWAYS)] + [-19.9, -20.1]
    decided = decide([make_candidate(v) for v in values], "optimisation", 20.0)
    assert [c.is_going for c in decided] == [True] * (ALWAYS + 1) + [False]
    assert decided[-1].pruning[-1].stage == "optimisation"


def test_the_best_few__go_on_however_far_behind() -> None:
    values = [-1000.0 * k for k in range(ALWAYS + 2)]
    order = np.random.default_rng(0).permutation(len(values))
    decided = decide([make_candidate(values[k]) for k in order], "screening", 25.0)
    assert {values[k] for k, c in zip(order, decided, strict=True) if not c.is_going} == set(
        values[ALWAYS:]
    )


def test_no_margin__lets_all_go_on() -> None:
    decided = decide([make_candidate(-1e6 * k) for k in range(ALWAYS + 5)], "screening", math.inf)
    assert all(c.is_going for c in decided)


def test_decisions__are_added_to_those_before() -> None:
    before = PruningStep("screening", -60.0, -50.0, True)
    (decided,) = decide([make_candidate(-50.0, steps=(before,))], "optimisation", 12.0)
    assert decided.pruning[0] is before
    assert [step.stage for step in decided.pruning] == ["screening", "optimisation"]


def test_nobody__is_decided_on() -> None:
    assert decide([], "screening", 25.0) == []


@pytest.mark.parametrize(
    ("num_rows", "name", "margin"),
    [
        (100, "first screening", 30.0),
        (400, "first screening", 50.0),
        (400, "screening", 15.0),
        (1000, "intermediate optimisation", 15.0),
        (100, "optimisation", 12.0),
    ],
)
def test_margin__is_that_of_the_rung_and_of_its_rows(
    num_rows: int, name: str, margin: float
) -> None:
    context = context_of(num_rows, posterior="full")
    assert margin_of(context.screening.rung(name), context) == margin


def context_of(num_rows: int, **settings: Any) -> FitContext:
    x = np.linspace(0, 10, num_rows)
    fits = FitSettings(**{"inference": "exact", **settings})
    return make_context((x, np.sin(x)), 1, fits)[0]


def test_margin__is_wider_where_a_screening_has_another_bound() -> None:
    context = context_of(450, inference="collapsed", num_inducing=10)
    assert margin_of(context.screening.rung("screening"), context) == 25.0


def test_points__are_not_pruned_at_the_end() -> None:
    context = context_of(100, posterior="point")
    assert margin_of(context.screening.rung("optimisation"), context) == math.inf
