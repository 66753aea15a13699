"""Tests of the last fits of the best, with a workshop that makes fits up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from fits import made_up_fit
from searches import Pretence

from vbks.grammar import parse
from vbks.inference import LocalFit
from vbks.inference.proposal import Proposal
from vbks.selection import Budget, LastFits, Purse
from vbks.selection.last_fits import NO_TIME

TEXTS = ("SE", "LIN", "SE + LIN", "PER", "RQ", "SE * PER")


def searched() -> list[LocalFit]:
    return [made_up_fit(Proposal(parse(text)), float(len(text))) for text in TEXTS]


def last_fits(workshop: Any, margin: float = 0.5, most: int | None = 3) -> LastFits:
    return LastFits(workshop, margin, most)


def hurried(workshop: Pretence, seconds: float) -> Purse:
    """A purse after a search at a pace of one."""
    purse = Purse(Budget(seconds=seconds), clock=workshop.clock)
    purse.spend([1.0])
    return replace(purse, cost=1.0, time_taken=1.0)


def test_last_fits__others_are_dropped_with_their_distance() -> None:
    workshop = Pretence(gain=1.0)
    fits, notice = last_fits(workshop).finish(searched(), Purse(Budget()))
    assert not notice
    assert [fit.status == "fitted" for fit in fits] == [text in TEXTS[2::3] for text in TEXTS]
    assert workshop.calls == [2]
    assert (fits[2].seconds, fits[2].elbo) == (2.0, 9.0)
    assert fits[0].reason == "6.0 nats behind the best after the search"


@pytest.mark.parametrize("status", ["failed", "dropped"])
def test_last_fits__without_contenders_change_nothing(status: str) -> None:
    fits = [replace(fit, status=status) for fit in searched()]
    assert last_fits(Pretence()).finish(fits, Purse(Budget())) == (fits, "")
    assert last_fits(Pretence()).costs(fits) == []


def test_last_fits__keep_the_search_if_all_fail() -> None:
    class Hopeless(Pretence):
        def go_on(self, fits: Sequence[LocalFit]) -> list[LocalFit]:
            return [replace(fit, status="failed", reason="no memory") for fit in fits]

    before = searched()
    fits, notice = last_fits(Hopeless()).finish(before, Purse(Budget()))
    assert fits == before
    assert notice == "The last fits failed, so those of the search are used: no memory"


def test_last_fits__are_the_best_if_there_is_no_time_for_all() -> None:
    workshop = Pretence(seconds=2.0)
    last = last_fits(workshop, most=None)
    fits, notice = last.finish(searched(), hurried(workshop, 10.0))
    done = [str(fit.expression) for fit in fits if fit.status == "fitted"]
    assert {"SE + LIN", "SE * PER"} <= set(done) <= {"SE + LIN", "SE * PER", "LIN", "PER"}
    assert {fit.reason for fit in fits if fit.status == "dropped"} == {NO_TIME}
    assert notice == f"There was time to fit {len(done)} of the best 6 candidates to the end."


def test_last_fits__in_no_time_leave_the_search_as_it_was() -> None:
    workshop, before = Pretence(seconds=4.0), searched()
    fits, notice = last_fits(workshop).finish(before, hurried(workshop, 0.5))
    assert fits == before
    assert notice == "There was no time for last fits, so those of the search are used."
    assert workshop.calls == []


@pytest.mark.parametrize("seconds", [10.0, 30.0])
def test_last_fits__end_in_time(seconds: float) -> None:
    workshop = Pretence(seconds=1.5)
    last_fits(workshop, most=None).finish(20 * searched(), hurried(workshop, seconds))
    assert 0.75 * seconds < workshop.clock.now <= 1.1 * seconds


def test_costs__are_those_of_contenders_best_first() -> None:
    last = LastFits(Pretence(), 100.0, 2, lambda fit: fit.elbo)  # type: ignore[arg-type]
    assert last.costs(searched()[:4]) == [8.0, 3.0]
