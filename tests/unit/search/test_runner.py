"""Tests of whole choices: searches with an evaluator that makes fits up, and some real fits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.searches import Clock, Pretence

import vbks
from vbks.data.training import prepare
from vbks.data.warps import Identity, Log, Warp
from vbks.execution.run_context import RunContext
from vbks.execution.work import InOrder
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal, pairs_of
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings, FitStage
from vbks.policies import ChoicePolicy
from vbks.progress import Quiet
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.methods import VBKS
from vbks.search.plan import Plan
from vbks.search.problem import SearchProblem
from vbks.search.protocol import SearchState
from vbks.search.runner import SearchResult, SearchRunner
from vbks.search.strategies.fixed import FixedSpace

SPACE = tuple(parse(text) for text in ("SE", "LIN", "PER", "RQ"))
WARPS: tuple[Warp, ...] = (Identity(), Log())


STAGE = FitStage("exact", "laplace")


def run(runner: SearchRunner) -> SearchState:
    """The last state of a search."""
    runner.run()
    return runner.state


def search(
    budget: Budget, evaluator: Pretence, members: Any = SPACE, **settings: Any
) -> SearchRunner:
    tracker = BudgetTracker(budget, clock=evaluator.clock)
    strategy, plan = FixedSpace(members, WARPS), Plan(STAGE, STAGE)
    return SearchRunner(strategy, evaluator, plan, tracker, **settings)  # type: ignore[arg-type]


def test_search__goes_on_until_the_strategy_ends() -> None:
    evaluator = Pretence()
    found = search(Budget(), evaluator)
    state = run(found)
    assert len(state.fits) == 8
    assert evaluator.calls == [4, 4]
    assert found.untried == ()
    assert "8 candidates were tried" in found.notice()
    assert "all members of the space were tried" in found.notice()


def test_search__ends_with_its_budget_and_says_what_was_left_out() -> None:
    found = search(Budget(candidates=6), Pretence())
    state = run(found)
    assert len(state.fits) == 6
    assert found.untried == ("PER of log targets", "RQ of log targets")
    assert found.notice() == (
        "6 candidates were tried in 0 s, and 2 more were not: PER of log targets, RQ of log "
        "targets. Give a larger budget=, of more candidates, to let it think longer."
    )


def test_search__names_the_first_of_many_that_were_not_tried() -> None:
    found = search(Budget(candidates=3), Pretence())
    run(found)
    assert "5 more were not: RQ, SE of log targets, LIN of log targets and 2 others." in (
        found.notice()
    )
    found = search(Budget(candidates=7), Pretence())
    run(found)
    assert "1 more was not: RQ of log targets. Give" in found.notice()


def test_search__members_that_were_not_even_proposed_are_untried() -> None:
    members = pairs_of(vbks.K144, WARPS[:1])
    found = search(Budget(candidates=7), Pretence(), vbks.K144, space=members)
    run(found)
    assert found.untried[0] == f"{vbks.K144[3]} of log targets"
    assert str(vbks.K144[-1]) in found.untried
    found = search(Budget(), Pretence(), vbks.K144, space=members)
    run(found)
    assert found.untried == ()


def test_search__without_a_limit_of_seconds_asks_for_whole_groups() -> None:
    evaluator = Pretence(seconds=10.0)
    run(search(Budget(candidates=200), evaluator, vbks.K144))
    assert evaluator.calls[:3] == [4, 4, 140]


@pytest.mark.parametrize("seconds", [5.0, 20.0, 60.0])
@pytest.mark.parametrize("speed", [0.1, 0.4, 1.5])
def test_search__ends_in_time_with_most_of_it_used(seconds: float, speed: float) -> None:
    evaluator = Pretence(seconds=speed, first=1.0)
    found = search(Budget(seconds=seconds), evaluator, vbks.K144)
    state = run(found)
    assert len(state.fits) >= (4 if seconds > 5.0 else 2)
    assert evaluator.clock.now <= max(1.1 * seconds, 1.0 + 4 * speed)
    assert state.ending or evaluator.clock.now >= 0.75 * seconds
    assert state.ending or found.untried


def test_search__tiny_budgets_give_an_answer() -> None:
    evaluator = Pretence(seconds=0.5, first=3.0)
    found = search(Budget(seconds=1.0), evaluator, vbks.K144, cost=lambda proposal: 0.5)
    assert len(run(found).fits) == 4
    assert evaluator.calls == [4]
    assert len(found.untried) == 4


def test_search__says_that_its_budget_was_over_when_it_began() -> None:
    evaluator = Pretence(seconds=0.1)
    evaluator.clock.now = 6.0
    tracker = BudgetTracker(Budget(seconds=4.0), 0.0, evaluator.clock)
    strategy, plan = FixedSpace(vbks.K144, WARPS), Plan(STAGE, STAGE)
    found = SearchRunner(strategy, evaluator, plan, tracker)  # type: ignore[arg-type]
    assert len(run(found).fits) == 2
    assert found.notice().startswith(
        "The budget of 4 s was over before the first candidate was fitted, as a new process has "
        "to start TensorFlow, so only a few were. 2 candidates were tried in 6 s, of which "
        "starting took 6 s, and "
    )


def test_search__says_how_much_of_its_time_was_spent_on_starting() -> None:
    evaluator = Pretence(seconds=0.1)
    evaluator.clock.now = 6.0
    tracker = BudgetTracker(Budget(seconds=1000.0), 0.0, evaluator.clock)
    found = SearchRunner(FixedSpace(SPACE, WARPS), evaluator, Plan(STAGE, STAGE), tracker)  # type: ignore[arg-type]
    run(found)
    assert found.notice().startswith("8 candidates were tried in 7 s, of which starting took 6 s: ")


def test_search__cost_decides_how_many_are_fitted_together() -> None:
    def cost(proposal: Proposal) -> float:
        return 100.0 if str(proposal.expression) == "PER" else 1.0

    evaluator = Pretence(seconds=1.0)
    found = search(Budget(seconds=60.0), evaluator, cost=cost)
    run(found)
    assert evaluator.calls == [2]
    assert found.untried[:2] == ("PER", "RQ")


def test_search__keeps_time_for_final_fits() -> None:
    class Reserve:
        def costs(self, fits: Sequence[LocalFit]) -> list[float]:
            return [10.0] * min(len(fits), 3)

        def finish(self, fits: Sequence[LocalFit], *_: Any) -> tuple[Sequence[LocalFit], str]:
            return fits, ""

    evaluator = Pretence(seconds=1.0)
    run(search(Budget(seconds=100.0), evaluator, vbks.K144, final=Reserve()))
    assert 65.0 < evaluator.clock.now < 90.0


def test_search__notes_every_new_best_with_its_score() -> None:
    found = search(Budget(), Pretence())
    run(found)
    (step,) = found.path
    assert (step.candidates, step.expression, step.score) == (8, "LIN", 3.0)


def test_search__tells_how_long_it_took_itself() -> None:
    clock = Clock()
    found = search(Budget(), Pretence(seconds=2.0, clock=clock))
    run(found)
    clock.now += 100.0
    assert "8 candidates were tried in 16 s" in found.notice()


def runner(
    num_rows: int = 40, budget: Budget | None = None, restarts: int | None = 2
) -> SearchRunner:
    x = np.linspace(0.0, 6.0, num_rows)
    rows = prepare((x, np.sin(4.0 * x) + 0.1 * np.cos(31.0 * x)))
    space = tuple(map(parse, ("SE", "LIN", "PER")))
    settings = FitSettings(restarts=restarts, prune=False)
    problem = SearchProblem(rows, {Identity(): rows}, settings, space)
    return VBKS().runner(problem, budget, RunContext(InOrder()), Quiet())


@pytest.fixture(scope="module")
def result() -> SearchResult:
    return runner().run()


def test_result__has_every_candidate_fitted_to_the_end(result: SearchResult) -> None:
    assert [str(fit.expression) for fit in result.fits] == ["SE", "LIN", "PER"]
    assert {(fit.status, fit.posterior) for fit in result.fits} == {("fitted", "full")}
    assert runner().plan.final.importance


def test_result__tells_how_it_came_about(result: SearchResult) -> None:
    assert result.path
    assert result.untried == ()
    assert "Fits to 40 rows are exact." in result.notices
    assert len(set(result.notices)) == len(result.notices)


def test_budget_in_candidates__leaves_the_others_untried() -> None:
    found = runner(budget=Budget(candidates=2)).run()
    assert len(found.fits) == 2
    assert found.untried == ("PER",)


def test_restarts__are_the_users_wish() -> None:
    (fit, *_) = runner(budget=Budget(candidates=1), restarts=5).run().fits
    assert fit.restarts == 5
    assert runner(restarts=None).evaluator.settings.restarts == ChoicePolicy().restarts_of_few


def test_many_rows__are_searched_in_runs_and_judged_as_a_whole() -> None:
    found = runner(num_rows=400).run()
    assert {fit.num_rows for fit in found.fits if fit.status == "fitted"} == {400}
    assert any("fits to 300 of 400 rows" in notice for notice in found.notices)
