"""Tests of fixed spaces under one and several warps."""

from dataclasses import replace

from support.fits import made_up_fit

from vbks.data.warps import Identity, Log
from vbks.grammar.expression import num_leaves
from vbks.grammar.space import K144
from vbks.inference.proposal import Proposal
from vbks.search.protocol import SearchState, left_behind
from vbks.search.strategies.fixed import FixedSpace


def test_fixed_space__one_warp_is_one_round() -> None:
    space = FixedSpace(K144)
    state, proposals = space.propose(SearchState())
    assert [p.expression for p in proposals] == list(K144)
    state, proposals = space.propose(space.absorb(state, [made_up_fit(p, 0.0) for p in proposals]))
    assert not proposals
    assert "all members" in state.ending


def test_fixed_space__several_warps_are_screened_on_single_leaves() -> None:
    space = FixedSpace(K144, (Identity(), Log()))
    state, first = space.propose(SearchState())
    assert {num_leaves(p.expression) for p in first} == {1}
    fits = [made_up_fit(p, -100.0 * (p.warp == Identity())) for p in first]
    state, second = space.propose(space.absorb(state, fits))
    assert {p.warp for p in second} == {Log()}
    assert len(second) == 144 - len(first) // 2
    state, third = space.propose(space.absorb(state, [made_up_fit(p, 0.0) for p in second]))
    assert not third


def test_fixed_space__the_best_are_tried_under_near_warps() -> None:
    space = FixedSpace(K144, (Identity(), Log()))
    state, first = space.propose(SearchState())
    fits = [made_up_fit(p, -5.0 * (p.warp == Identity())) for p in first]
    state, second = space.propose(space.absorb(state, fits))
    assert {p.warp for p in second} == {Log()}
    fits = [made_up_fit(p, float(place)) for place, p in enumerate(second)]
    state, third = space.propose(space.absorb(state, fits))
    assert {p.warp for p in third} == {Identity()}
    best = second[-FixedSpace.num_under_all_warps :]
    assert {p.expression for p in third} == {p.expression for p in best}
    state, fourth = space.propose(space.absorb(state, [made_up_fit(p, 0.0) for p in third]))
    assert not fourth
    assert "all members" in state.ending


def test_small_space__is_fitted_under_every_warp() -> None:
    state, first = FixedSpace(K144[:20], (Identity(), Log())).propose(SearchState())
    assert len(first) == 40
    assert not state.ending


def test_left_behind__is_dropped_with_its_distance() -> None:
    fit = left_behind(made_up_fit(Proposal(K144[0]), -12.0), 0.5, "search")
    assert fit.status == "dropped"
    assert fit.reason == "12.5 nats behind the best after the search"
    failed = made_up_fit(Proposal(K144[0]), -12.0, "failed")
    assert left_behind(failed, 0.5, "search") is failed


def test_fixed_space__settings_say_how_many_and_how_far() -> None:
    space = FixedSpace(K144[4:], (Identity(), Log()), screen_members=5, num_under_all_warps=3)
    state, first = space.propose(SearchState())
    assert len(first) == 2 * 5
    fits = [made_up_fit(p, -5.0 * (p.warp == Identity())) for p in first]
    state, second = space.propose(space.absorb(state, fits))
    done = space.absorb(state, [made_up_fit(p, 9.0 + k) for k, p in enumerate(second)])
    _, third = space.propose(done)
    assert len(third) == 3
    _, nothing = replace(space, warp_margin=4.0).propose(done)
    assert not nothing
