"""Tests of what all searches have in common."""

import numpy as np
from support.fits import made_up_fit

from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.search.protocol import SearchState, Step, left_behind, near_warps

SE, PER = Proposal(parse("SE")), Proposal(parse("PER"), Log())


def test_state__ranks_fits_that_count_and_leaves_itself_alone() -> None:
    start = SearchState()
    state = start.with_fits([made_up_fit(SE, 1.0), made_up_fit(PER, 3.0, "failed")])
    state = state.with_fits([made_up_fit(PER, 2.0)])
    assert (start.fits, start.rounds, state.rounds) == ((), 0, 2)
    assert [fit.elbo for fit in state.fitted()] == [2.0, 1.0]
    assert state.best() is state.fits[2]
    assert start.best() is None


def test_near_warps__are_those_whose_best_is_within_the_margin() -> None:
    fits = [made_up_fit(SE, 10.0), made_up_fit(PER, 7.0), made_up_fit(PER, -90.0)]
    assert near_warps(fits, 3.5) == (Identity(), Log())
    assert near_warps(fits, 2.5) == (Identity(),)


def test_left_behind__has_no_part_in_the_belief_and_keeps_its_value() -> None:
    fit = left_behind(made_up_fit(SE, -5.0), 1.5, "first look")
    assert fit.status == "dropped"
    assert "6.5 nats behind the best after the first look" in fit.reason
    assert fit.elbo == -5.0
    failed = made_up_fit(SE, -np.inf, "failed")
    assert left_behind(failed, 1.0, "first look") is failed


def test_steps__are_the_same_for_one_candidate() -> None:
    step = Step(1.0, 3, "SE", "log", -2.0)
    assert step.is_same(Step(9.0, 5, "SE", "log", 0.0))
    assert not step.is_same(Step(1.0, 3, "SE", "identity", -2.0))
