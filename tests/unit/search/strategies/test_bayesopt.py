"""Tests of Bayesian optimisation over kernels, with made-up evidences instead of fits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from support.fits import made_up_fit, make_data

from vbks.arrays import Array
from vbks.data.warps import Identity, Log
from vbks.grammar.canonical import canonical, structures
from vbks.grammar.expression import Expression, leaves, num_leaves
from vbks.grammar.parser import parse
from vbks.grammar.space import K12, K144
from vbks.inference.choices import make_context
from vbks.inference.prior_grams import prior_grams
from vbks.inference.proposal import Proposal, structure_of
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings
from vbks.search.protocol import SearchState
from vbks.search.strategies.acquisition import UpperConfidenceBound
from vbks.search.strategies.bayesopt import BayesianOptimisation
from vbks.search.strategies.random import RandomChoice

Judge = Callable[[Expression], float]


@cache
def known_grams() -> dict[Expression, Array]:
    """Of all structures of K144, computed once."""
    comparison, _ = make_context(make_data(), 1, FitSettings(inference="exact"))
    forms = list(structures(K144))
    return dict(zip(forms, prior_grams(forms, comparison, 8, 12), strict=True))


def table(expressions: Sequence[Expression]) -> Array:
    return np.stack([known_grams()[expression] for expression in expressions])


def by_counts(expressions: Sequence[Expression]) -> Array:
    """Variances that say how many leaves of each family there are: [K, 1, 4, 4]."""
    families = ("SE", "RQ", "LIN", "PER")
    counts = [[[leaf.family for leaf in leaves(e)].count(f) for f in families] for e in expressions]
    return np.asarray([[np.diag(np.exp(own))] for own in counts])


def towards(target: str, expression: Expression) -> float:
    """Higher the more leaves are shared with a target, with a price for each leaf."""
    wanted = [leaf.family for leaf in leaves(parse(target))]
    have = [leaf.family for leaf in leaves(expression)]
    shared = sum(min(have.count(f), wanted.count(f)) for f in set(wanted))
    return 20.0 * shared - 3.0 * len(have) + 10.0 * (canonical(expression) == canonical(target))


def run(
    search: BayesianOptimisation,
    judge: Judge,
    rounds: int = 100,
    failing: frozenset[str] = frozenset(),
) -> SearchState:
    state = SearchState()
    for _ in range(rounds):
        state, proposals = search.propose(state)
        if not proposals:
            break
        state = search.absorb(state, [fit_of(p, judge, failing) for p in proposals])
    return state


def fit_of(proposal: Proposal, judge: Judge, failing: frozenset[str]) -> LocalFit:
    if str(canonical(proposal.expression)) in failing:
        return made_up_fit(proposal, -np.inf, "failed")
    return made_up_fit(proposal, judge(canonical(proposal.expression)))


def rank(target: str, expressions: Sequence[Expression]) -> int:
    return 1 + [canonical(expression) for expression in expressions].index(canonical(target))


def test_search__needs_fewer_fits_than_random_choice() -> None:
    targets = ("SE * PER + LIN", "RQ + PER * SE", "LIN * RQ + PER", "LIN * PER")
    guided, random = [], []
    for target in targets:
        state = run(
            BayesianOptimisation(grams=table, pool=K144), partial(towards, target), rounds=12
        )
        guided.append(rank(target, [fit.expression for fit in state.fits]))
    for seed in range(6):
        _, order = RandomChoice(pool=K144, batch_size=144, seed=seed).propose(SearchState())
        random += [rank(target, [p.expression for p in order]) for target in targets]
    assert np.mean(guided) < 0.6 * np.mean(random)


def test_search__begins_with_single_leaves() -> None:
    _, of_pool = BayesianOptimisation(grams=table, pool=K144).propose(SearchState())
    assert {str(p.expression) for p in of_pool} == {"SE", "RQ", "LIN", "PER"}
    _, of_inputs = BayesianOptimisation(grams=by_counts, num_inputs=2).propose(SearchState())
    assert {parse("SE[1]"), parse("PER[2]")} <= {p.expression for p in of_inputs}
    assert all(num_leaves(p.expression) == 1 for p in of_inputs)
    _, of_leafless = BayesianOptimisation(grams=by_counts, pool=K12).propose(SearchState())
    assert len(of_leafless) == BayesianOptimisation.batch_size


def test_search__tries_every_structure_of_a_pool_once_and_ends() -> None:
    search = BayesianOptimisation(grams=by_counts, pool=K12, batch_size=5)
    state = run(search, partial(towards, "SE * PER + LIN"))
    tried = [structure_of(fit) for fit in state.fits]
    assert len(tried) == len(set(tried)) == len(K12) == search.num_expected
    assert state.ending == "all members of the space were tried"
    assert search.is_finite


def test_search__grows_where_there_is_no_pool() -> None:
    search = BayesianOptimisation(grams=by_counts, max_leaves=4)
    state = run(search, partial(towards, "SE * PER + LIN"), rounds=12)
    tried = [structure_of(fit) for fit in state.fits]
    assert len(tried) == len(set(tried))
    assert max(num_leaves(expression) for expression, _ in tried) <= 4
    best = search.best(state)
    assert best is not None
    assert sorted(leaf.family for leaf in leaves(best.expression)) == ["LIN", "PER", "SE"]
    assert not search.is_finite


def test_search__ends_where_nothing_is_new() -> None:
    state = run(
        BayesianOptimisation(grams=by_counts, families=("SE", "PER"), max_leaves=1), num_leaves
    )
    assert {str(fit.expression) for fit in state.fits} == {"SE", "PER"}
    assert state.ending == "neither children of the best kernels nor random walks are new"


@pytest.mark.parametrize("pool", [K144, None])
def test_search__goes_on_from_fits_alone(pool: tuple[Expression, ...] | None) -> None:
    search = BayesianOptimisation(grams=by_counts, pool=pool, seed=3)
    state = run(search, partial(towards, "LIN * PER"), rounds=4)
    _, expected = search.propose(state)
    for again in (search, replace(search)):
        _, proposals = again.propose(SearchState(fits=state.fits))
        assert proposals == expected


def test_search__is_the_same_for_the_same_seed() -> None:
    judge = partial(towards, "RQ + PER * SE")
    orders = [
        [
            fit.expression
            for fit in run(BayesianOptimisation(grams=by_counts, seed=seed), judge, 4).fits
        ]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]


def test_search__learns_nothing_from_failed_fits_and_does_not_repeat_them() -> None:
    judge = partial(towards, "SE * PER + LIN")
    failing = frozenset({"PER", "PER * SE", "LIN + SE"})
    pool = K144[:40]
    state = run(BayesianOptimisation(grams=by_counts, pool=pool), judge, 100, failing)
    assert len(state.fits) == len(structures(pool))
    assert {str(f.expression) for f in state.fits if f.status == "failed"} == failing


def test_search__goes_on_where_all_have_failed() -> None:
    search = BayesianOptimisation(grams=by_counts, pool=K144)
    every = frozenset(map(str, structures(K144)))
    state = run(search, lambda e: 0.0, rounds=3, failing=every)
    assert len(state.fits) == 4 + 2 * BayesianOptimisation.batch_size
    assert search.best(state) is None


def test_search__chooses_as_many_as_it_is_told() -> None:
    state = run(BayesianOptimisation(grams=by_counts, pool=K144), num_leaves, rounds=1)
    for size in (1, 3):
        _, proposals = BayesianOptimisation(grams=by_counts, pool=K144, batch_size=size).propose(
            state
        )
        assert len(proposals) == size


@pytest.mark.parametrize("pool", [K144, None])
def test_search__candidates_begin_from_fitted_ones(pool: tuple[Expression, ...] | None) -> None:
    search, judge = BayesianOptimisation(grams=by_counts, pool=pool), partial(towards, "SE * PER")
    state = run(search, judge, rounds=3)
    parents = []
    for _ in range(4):
        state, proposals = search.propose(state)
        parents += [p.parent for p in proposals if p.parent is not None]
        assert all(parent in state.fits for parent in parents)
        state = search.absorb(state, [fit_of(p, judge, frozenset()) for p in proposals])
    assert parents


def test_search__prefers_the_warp_that_has_done_better() -> None:
    search = BayesianOptimisation(grams=by_counts, pool=K144, warps=(Identity(), Log()))
    state = SearchState()
    for _ in range(4):
        state, proposals = search.propose(state)
        fits = [
            made_up_fit(p, 50.0 * (p.warp == Log()) - len(str(p.expression))) for p in proposals
        ]
        state = search.absorb(state, fits)
    assert {fit.warp for fit in state.fits[:8]} == {Identity(), Log()}
    assert sum(fit.warp == Log() for fit in state.fits[8:]) > 0.6 * len(state.fits[8:])


def test_search__goes_by_its_acquisition() -> None:
    judge = partial(towards, "LIN * PER")

    def least(mean: Array, sd: Array, best: float) -> Array:
        return -mean

    worst, best = (
        run(BayesianOptimisation(grams=by_counts, pool=K144, acquisition=own), judge, rounds=4)
        for own in (least, UpperConfidenceBound())
    )
    values = [np.mean([fit.elbo for fit in state.fits[4:]]) for state in (worst, best)]
    assert values[0] < values[1]
