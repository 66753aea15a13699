"""Tests of random search, with made-up evidences instead of fits."""

from dataclasses import replace

from support.fits import made_up_fit

from vbks.data.warps import Identity, Log
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import num_leaves
from vbks.grammar.space import K12, K144
from vbks.inference.proposal import structure_of
from vbks.search.protocol import SearchState
from vbks.search.strategies.random import RandomChoice


def run(choice: RandomChoice, rounds: int = 100, status: str = "fitted") -> SearchState:
    state = SearchState()
    for _ in range(rounds):
        state, proposals = choice.propose(state)
        if not proposals:
            break
        fits = [made_up_fit(p, -float(len(str(p.expression))), status) for p in proposals]
        state = choice.absorb(state, fits)
    return state


def test_random_choice__tries_every_structure_of_a_pool_once() -> None:
    state = run(RandomChoice(pool=K144))
    assert {canonical(fit.expression) for fit in state.fits} == set(structures(K144))
    assert len(state.fits) == len(structures(K144)) == RandomChoice(pool=K144).num_expected
    assert state.ending == "all members of the space were tried"
    assert state.rounds == -(-len(state.fits) // RandomChoice.batch_size)


def test_random_choice__has_another_order_for_another_seed() -> None:
    orders = [
        [fit.expression for fit in run(RandomChoice(pool=K12, seed=seed)).fits]
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert set(orders[0]) == set(orders[2])


def test_random_choice__walks_without_end_where_there_is_no_pool() -> None:
    choice = RandomChoice(num_inputs=2, max_leaves=4, batch_size=5)
    state = run(choice, rounds=10)
    tried = [structure_of(fit) for fit in state.fits]
    assert len(tried) == len(set(tried)) == 50
    assert {num_leaves(expression) for expression, _ in tried} == {1, 2, 3, 4}
    assert not choice.is_finite
    assert not state.ending


def test_random_choice__ends_where_walks_lead_to_nothing_new() -> None:
    state = run(RandomChoice(families=("SE", "PER"), max_leaves=1))
    assert {str(fit.expression) for fit in state.fits} == {"SE", "PER"}
    assert state.ending == "random walks led to nothing new"


def test_random_choice__goes_on_from_fits_alone() -> None:
    for choice in (RandomChoice(pool=K144), RandomChoice(seed=2)):
        state = run(choice, rounds=3)
        _, expected = choice.propose(state)
        _, proposals = replace(choice).propose(SearchState(fits=state.fits))
        assert proposals == expected


def test_random_choice__does_not_try_again_what_failed() -> None:
    state = run(RandomChoice(pool=K12, batch_size=5), status="failed")
    assert len(state.fits) == len(K12)
    assert RandomChoice(pool=K12).best(state) is None


def test_random_choice__candidates_begin_from_smaller_ones() -> None:
    state = run(RandomChoice(pool=K144), rounds=8)
    _, proposals = RandomChoice(pool=K144).propose(state)
    parents = [p.parent for p in proposals if p.parent is not None]
    assert parents
    assert all(parent in state.fits for parent in parents)


def test_random_choice__takes_every_warp_and_keeps_them_together() -> None:
    choice = RandomChoice(pool=K12, warps=(Identity(), Log()))
    assert choice.num_expected == 24
    _, proposals = choice.propose(SearchState())
    warps = [p.warp for p in proposals]
    assert warps == sorted(warps, key=choice.warps.index)
    assert len({structure_of(fit) for fit in run(choice).fits}) == 24
