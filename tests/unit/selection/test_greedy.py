"""Tests of greedy searches, with made-up scores instead of fits."""

from collections.abc import Callable

from fits import made_up_fit

from vbks.data import Identity
from vbks.grammar import ABCD_MOVES, canonical, leaves, parse
from vbks.grammar.expression import Product, Sum, subexpressions
from vbks.inference import LocalFit
from vbks.inference.proposal import Proposal, structure_of
from vbks.selection import Greedy, SearchState

Judge = Callable[[Proposal], float]


def run(greedy: Greedy, judge: Judge, max_rounds: int = 20) -> tuple[SearchState, list[Proposal]]:
    state, asked = SearchState(), []
    for _ in range(max_rounds):
        state, proposals = greedy.propose(state)
        if not proposals:
            break
        asked += proposals
        state = greedy.absorb(state, [made_up_fit(p, judge(p)) for p in proposals])
    return state, asked


def towards(target: str) -> Judge:
    wanted = [leaf.family for leaf in leaves(parse(target))]

    def judge(proposal: Proposal) -> float:
        have = [leaf.family for leaf in leaves(proposal.expression)]
        shared = sum(min(have.count(f), wanted.count(f)) for f in set(wanted))
        exact = 30.0 * (canonical(proposal.expression) == canonical(parse(target)))
        return 20.0 * shared - 3.0 * len(have) + exact

    return judge


def test_greedy__starts_with_leaves_on_every_input() -> None:
    _, proposals = Greedy(num_inputs=2, families=("SE", "LIN")).propose(SearchState())
    assert {str(p.expression) for p in proposals} == {"SE[1]", "SE[2]", "LIN[1]", "LIN[2]"}


def test_greedy__climbs_to_the_target_and_ends_when_no_child_scores_higher() -> None:
    greedy = Greedy()
    state, _ = run(greedy, towards("SE * PER + LIN"))
    best = greedy.best(state)
    assert best is not None
    assert canonical(best.expression) == canonical("SE * PER + LIN")
    assert state.ending == f"no child of '{best.expression}' scored higher"


def test_greedy__tries_every_structure_once_and_children_from_their_parent() -> None:
    state, asked = run(Greedy(), towards("SE * PER + LIN"))
    tried = [structure_of(fit) for fit in state.fits]
    assert len(tried) == len(set(tried))
    assert all(p.parent is not None for p in asked if len(leaves(p.expression)) > 2)


def test_greedy__ends_at_its_depth() -> None:
    state, _ = run(Greedy(max_depth=1), towards("SE * PER + LIN"))
    assert len(state.expanded) == 1
    assert state.ending == "1 kernels were expanded"


def test_greedy__a_refused_fit_is_kept_with_the_reason_and_never_chosen() -> None:
    def refuse(fit: LocalFit) -> str:
        return "periodic" if "PER" in str(fit.expression) else ""

    greedy = Greedy(refuse=refuse, max_depth=3)
    state, _ = run(greedy, towards("SE * PER"))
    best = greedy.best(state)
    assert best is not None
    assert "PER" not in str(best.expression)
    refused = [fit for fit in state.fits if fit.reason == "periodic"]
    assert refused
    assert {fit.status for fit in refused} == {"dropped"}


def test_greedy__additive_candidates_have_no_sums_in_products() -> None:
    greedy = Greedy(additive=True, moves=ABCD_MOVES, max_depth=3)
    _, asked = run(greedy, towards("SE * PER + LIN * SE"))
    for proposal in asked:
        products = [e for e in subexpressions(proposal.expression) if isinstance(e, Product)]
        assert not any(isinstance(factor, Sum) for p in products for factor in p.factors)


def test_greedy__goes_on_from_its_fits_alone() -> None:
    greedy, judge = Greedy(), towards("SE * PER + LIN")
    state = SearchState()
    for _ in range(2):
        state, proposals = greedy.propose(state)
        state = greedy.absorb(state, [made_up_fit(p, judge(p)) for p in proposals])
    again = SearchState(state.fits, state.expanded, state.rounds)
    assert [p.structure for p in greedy.propose(again)[1]] == [
        p.structure for p in greedy.propose(state)[1]
    ]


def test_greedy__ends_when_nothing_could_be_fitted() -> None:
    greedy = Greedy()
    state, proposals = greedy.propose(SearchState())
    state = greedy.absorb(state, [made_up_fit(p, 0.0, "failed") for p in proposals])
    state, proposals = greedy.propose(state)
    assert not proposals
    assert state.ending == "no candidate could be fitted"
    assert greedy.best(state) is None
    assert Identity() in greedy.warps
