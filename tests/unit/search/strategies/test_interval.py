"""Tests of the search by intervals of BIC, with made-up bounds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from support.fits import made_up_fit

from vbks.grammar.canonical import canonical
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.interval import IntervalSearch, bic_score_interval

Bounds = Callable[[str], tuple[float, float]]


def fit_of(proposal: Proposal, bounds: Bounds) -> LocalFit:
    """A fit whose BIC lies between these bounds."""
    lower, upper = bounds(str(proposal.expression))
    fit = replace(made_up_fit(proposal, 0.0), posterior="point")
    penalty = fit.penalty()
    mode = replace(fit.modes[0], log_likelihood=lower + penalty)
    return replace(fit, elbo=lower + penalty, upper=upper + penalty, modes=(mode,))


def after(search: IntervalSearch, bounds: Bounds, rounds: int) -> SearchState:
    state = SearchState()
    for _ in range(rounds):
        state, proposals = search.propose(state)
        state = search.absorb(state, [fit_of(p, bounds) for p in proposals])
    return state


def test_interval__has_the_penalty_of_bic_at_both_ends() -> None:
    fit = fit_of(Proposal(parse("SE")), lambda text: (1.0, 2.5))
    interval = bic_score_interval(fit)
    np.testing.assert_allclose((interval.lower, interval.upper), (1.0, 2.5))
    without = bic_score_interval(replace(fit, upper=np.nan))
    assert without.lower == without.upper


def test_search__expands_only_the_leaf_of_highest_upper_bound_first() -> None:
    search = IntervalSearch(families=("SE", "LIN", "PER"))
    bounds = {"SE": (0.0, 9.0), "LIN": (5.0, 6.0), "PER": (1.0, 2.0)}
    state = after(search, lambda text: bounds[text], 1)
    _, proposals = search.propose(state)
    assert {canonical(p.expression) for p in proposals} == {
        canonical(text) for text in ("SE + SE", "SE + LIN", "SE + PER", "SE * LIN", "SE * PER")
    }
    assert all(p.parent is not None and str(p.parent.expression) == "SE" for p in proposals)


def test_search__expands_kernels_that_overlap_with_the_best_up_to_the_buffer() -> None:
    def bounds(text: str) -> tuple[float, float]:
        spans = {"SE": (0, 1), "LIN + SE": (10, 20), "PER + SE": (12, 19), "SE + SE": (11, 18)}
        lower, upper = spans.get(text, (-5, -4))
        return float(lower), float(upper)

    for size, expected in ((0, {"LIN + SE"}), (1, {"LIN + SE", "PER + SE"})):
        search = IntervalSearch(buffer=size)
        state = after(search, bounds, 2)
        _, proposals = search.propose(state)
        assert {str(p.parent.expression) for p in proposals if p.parent} == expected


def test_search__without_upper_bounds_goes_by_lower_ones() -> None:
    search = IntervalSearch()
    state, proposals = search.propose(SearchState())
    lower = {"SE": 3.0, "LIN": 2.0, "PER": 1.0}
    fits = [fit_of(p, lambda text: (lower[text], np.nan)) for p in proposals]
    best = search.best(search.absorb(state, fits))
    assert best is not None
    assert str(best.expression) == "SE"


def test_search__ends_at_its_depth_or_when_nothing_is_left() -> None:
    state = after(IntervalSearch(max_depth=1), lambda text: (0.0, 1.0), 2)
    state, proposals = IntervalSearch(max_depth=1).propose(state)
    assert not proposals
    assert state.ending == "depth 1 was reached"
    search = IntervalSearch()
    worse = after(search, lambda text: (-len(text), -len(text) + 0.1), 2)
    state, proposals = search.propose(worse)
    assert not proposals
    assert state.ending == "nothing can be mistaken for the best"
