"""Tests of what searches have in common that choose among candidates."""

from support.fits import made_up_fit

from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.grammar.space import K12
from vbks.inference.proposal import Proposal
from vbks.search.protocol import SearchState
from vbks.search.strategies.grow import Growing
from vbks.search.strategies.pool import PoolSearch


def test_pool__has_an_end_and_the_grammar_has_none() -> None:
    pool = PoolSearch(pool=(*K12, K12[0]), warps=(Identity(), Log()))
    assert pool.is_finite
    assert pool.num_expected == 2 * len(K12)
    grammar = PoolSearch(expected_candidates=7)
    assert not grammar.is_finite
    assert grammar.num_expected == 7
    assert PoolSearch().num_expected == Growing.num_expected


def test_begun__candidates_have_the_best_fitted_parent_and_go_warp_by_warp() -> None:
    search = PoolSearch(warps=(Log(), Identity()))
    se, per = made_up_fit(Proposal(parse("SE")), 1.0), made_up_fit(Proposal(parse("PER")), 2.0)
    state = SearchState((se, per))
    chosen = [Proposal(parse("SE + PER")), Proposal(parse("SE"), Log()), Proposal(parse("LIN"))]
    begun = search._begun(chosen, state)
    assert [str(p) for p in begun] == ["SE of log targets", "SE + PER", "LIN"]
    assert [p.parent for p in begun] == [None, per, None]


def test_walks__are_as_long_as_their_stopping_says() -> None:
    short, long = (
        [len(str(PoolSearch(stopping=stopping)._space.walk(0, k))) for k in range(30)]
        for stopping in (0.95, 0.1)
    )
    assert sum(short) < 0.5 * sum(long)
