"""Tests of searches, with a workshop that makes fits up."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.searches import Clock, Pretence

import vbks
from vbks.data.warps import Identity, Log, Warp
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal, pairs_of
from vbks.inference.result import LocalFit
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.runner import Search
from vbks.search.strategies.fixed import FixedSpace

SPACE = tuple(parse(text) for text in ("SE", "LIN", "PER", "RQ"))
WARPS: tuple[Warp, ...] = (Identity(), Log())


def search(budget: Budget, workshop: Pretence, members: Any = SPACE, **settings: Any) -> Search:
    tracker = BudgetTracker(budget, clock=workshop.clock)
    strategy = FixedSpace(members, WARPS)
    return Search(strategy, workshop, tracker, **settings)  # type: ignore[arg-type]


def test_search__goes_on_until_the_strategy_ends() -> None:
    workshop = Pretence()
    found = search(Budget(), workshop)
    state = found.run()
    assert len(state.fits) == 8
    assert workshop.calls == [4, 4]
    assert found.untried == ()
    assert "8 candidates were tried" in found.notice(state)
    assert "all members of the space were tried" in found.notice(state)


def test_search__ends_with_its_budget_and_says_what_was_left_out() -> None:
    found = search(Budget(candidates=6), Pretence())
    state = found.run()
    assert len(state.fits) == 6
    assert found.untried == ("PER of log targets", "RQ of log targets")
    assert found.notice(state) == (
        "6 candidates were tried in 0 s, and 2 more were not: PER of log targets, RQ of log "
        "targets. Give a larger budget=, of more candidates, to let it think longer."
    )


def test_search__names_the_first_of_many_that_were_not_tried() -> None:
    found = search(Budget(candidates=3), Pretence())
    assert "5 more were not: RQ, SE of log targets, LIN of log targets and 2 others." in (
        found.notice(found.run())
    )
    found = search(Budget(candidates=7), Pretence())
    assert "1 more was not: RQ of log targets. Give" in found.notice(found.run())


def test_search__members_that_were_not_even_proposed_are_untried() -> None:
    members = pairs_of(vbks.K144, WARPS[:1])
    found = search(Budget(candidates=7), Pretence(), vbks.K144, space=members)
    found.run()
    assert found.untried[0] == f"{vbks.K144[3]} of log targets"
    assert str(vbks.K144[-1]) in found.untried
    found = search(Budget(), Pretence(), vbks.K144, space=members)
    found.run()
    assert found.untried == ()


def test_search__without_a_limit_of_seconds_asks_for_whole_groups() -> None:
    workshop = Pretence(seconds=10.0)
    search(Budget(candidates=200), workshop, vbks.K144).run()
    assert workshop.calls[:3] == [4, 4, 140]


@pytest.mark.parametrize("seconds", [5.0, 20.0, 60.0])
@pytest.mark.parametrize("speed", [0.1, 0.4, 1.5])
def test_search__ends_in_time_with_most_of_it_used(seconds: float, speed: float) -> None:
    workshop = Pretence(seconds=speed, first=1.0)
    found = search(Budget(seconds=seconds), workshop, vbks.K144)
    state = found.run()
    assert len(state.fits) >= 4
    assert workshop.clock.now <= max(1.1 * seconds, 1.0 + 4 * speed)
    assert state.ending or workshop.clock.now >= 0.75 * seconds
    assert state.ending or found.untried


def test_search__tiny_budgets_give_an_answer() -> None:
    workshop = Pretence(seconds=0.5, first=3.0)
    found = search(Budget(seconds=1.0), workshop, vbks.K144, price=lambda proposal: 0.5)
    assert len(found.run().fits) == 4
    assert workshop.calls == [4]
    assert len(found.untried) == 4


def test_search__cost_decides_how_many_are_fitted_together() -> None:
    def price(proposal: Proposal) -> float:
        return 100.0 if str(proposal.expression) == "PER" else 1.0

    workshop = Pretence(seconds=1.0)
    found = search(Budget(seconds=60.0), workshop, price=price)
    found.run()
    assert workshop.calls == [2]
    assert found.untried[:2] == ("PER", "RQ")


def test_search__keeps_time_for_last_fits() -> None:
    def reserve(fits: Sequence[LocalFit]) -> list[float]:
        return [10.0] * min(len(fits), 3)

    workshop = Pretence(seconds=1.0)
    search(Budget(seconds=100.0), workshop, vbks.K144, reserve=reserve).run()
    assert 65.0 < workshop.clock.now < 90.0


def test_search__notes_every_new_best_with_its_score() -> None:
    found = search(Budget(), Pretence())
    found.run()
    (step,) = found.path
    assert (step.candidates, step.expression, step.score) == (8, "LIN", 3.0)


def test_search__tells_how_long_it_took_itself() -> None:
    clock = Clock()
    found = search(Budget(), Pretence(seconds=2.0, clock=clock))
    state = found.run()
    clock.now += 100.0
    assert "8 candidates were tried in 16 s" in found.notice(state)
