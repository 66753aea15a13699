"""Tests of greedy searches, with made-up scores instead of fits."""

from support.fits import made_up_fit
from support.searches import run, towards

from vbks.data.warps import Identity
from vbks.grammar.additive import additive_form
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Product, Sum, leaves, subexpressions
from vbks.grammar.moves import ABCD_MOVES
from vbks.inference.proposal import structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.greedy import Greedy


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
    assert all(
        p.parent is not None
        for proposals in asked
        for p in proposals
        if len(leaves(p.expression)) > 2
    )


def test_greedy__ends_at_its_depth() -> None:
    state, _ = run(Greedy(max_depth=1), towards("SE * PER + LIN"))
    assert len(state.expanded) == 1
    assert state.ending == "1 kernels were expanded"


def test_greedy__a_refused_fit_is_kept_with_the_reason_and_never_chosen() -> None:
    def refuse(fit: LocalFit) -> str:
        return "periodic" if "PER" in str(fit.expression) else ""

    greedy = Greedy(constraints=refuse, max_depth=3)
    state, _ = run(greedy, towards("SE * PER"))
    best = greedy.best(state)
    assert best is not None
    assert "PER" not in str(best.expression)
    refused = [fit for fit in state.fits if fit.reason == "periodic"]
    assert refused
    assert {fit.status for fit in refused} == {"dropped"}


def test_greedy__additive_candidates_have_no_sums_in_products() -> None:
    greedy = Greedy(forms=(additive_form,), moves=ABCD_MOVES, max_depth=3)
    _, asked = run(greedy, towards("SE * PER + LIN * SE"))
    for proposal in (p for proposals in asked for p in proposals):
        products = [e for e in subexpressions(proposal.expression) if isinstance(e, Product)]
        assert not any(isinstance(factor, Sum) for p in products for factor in p.factors)


def test_greedy__tries_the_next_form_when_none_scores_higher() -> None:
    worth = {canonical(t): w for w, t in enumerate(["PER", "LIN * PER", "LIN * (PER + SE)"], 1)}
    greedy = Greedy(forms=(additive_form, canonical))
    state, _ = run(greedy, lambda p: 100.0 * worth.get(p.expression, 0))
    best = greedy.best(state)
    assert best is not None
    assert best.expression == canonical("LIN * (PER + SE)")
    turns = {(str(structure[0]), turn) for structure, turn in state.expanded}
    assert turns == {("PER", 0), *((str(e), t) for e in list(worth)[1:] for t in (0, 1))}


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
