"""Tests of the growing space, with made-up evidences instead of fits."""

from collections.abc import Sequence

from support.fits import made_up_fit
from support.searches import Judge, run, towards

from vbks.data.warps import Identity, Log
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import ChangePoint, Expression, num_leaves
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.search.protocol import SearchState
from vbks.search.strategies.first_candidates import has_cycle
from vbks.search.strategies.grow import Changes, Growing


def expressions(proposals: Sequence[Proposal]) -> set[Expression]:
    return {p.expression for p in proposals}


def started(growing: Growing, judge: Judge) -> SearchState:
    """The state after the small expressions."""
    state = SearchState()
    for _ in range(3 if len(growing.warps) > 1 else 2):
        state, proposals = growing.propose(state)
        state = growing.absorb(state, [made_up_fit(p, judge(p)) for p in proposals])
    return state


def test_growing__starts_with_one_and_two_leaves() -> None:
    state = started(Growing(), lambda p: 0.0)
    sizes = [num_leaves(fit.expression) for fit in state.fits]
    assert sizes == sorted(sizes)
    assert set(sizes) == {1, 2}
    assert canonical("SE * PER") in {fit.expression for fit in state.fits}


def test_growing__warps_far_behind_end_after_single_leaves() -> None:
    state = started(Growing(warps=(Identity(), Log())), lambda p: -100.0 * (p.warp == Log()))
    assert {fit.warp for fit in state.fits if num_leaves(fit.expression) == 1} == {
        Identity(), Log()
    }  # fmt: skip
    assert {fit.warp for fit in state.fits if num_leaves(fit.expression) == 2} == {Identity()}


def test_growing__near_warps_have_the_best_pairs_only() -> None:
    def judge(proposal: Proposal) -> float:
        is_best = proposal.structure[0] == canonical("SE * PER")
        return 30.0 * is_best - 3.0 * (proposal.warp == Log()) + num_leaves(proposal.expression)

    state = started(Growing(warps=(Identity(), Log())), judge)
    pairs = [fit for fit in state.fits if num_leaves(fit.expression) == 2]
    under_log = [fit for fit in pairs if fit.warp == Log()]
    assert canonical("SE * PER") in {fit.expression for fit in under_log}
    assert 0 < len(under_log) < len(pairs) / 2


def with_changes() -> Growing:
    return Growing(changes={Identity(): Changes((1,), (1,))})


def test_growing__changes_come_when_first_moves_gain_little() -> None:
    growing = with_changes()
    state = started(growing, towards("SE * PER"))
    state, proposals = growing.propose(state)
    assert not any(isinstance(p.expression, ChangePoint) for p in proposals)
    state = growing.absorb(state, [made_up_fit(p, -50.0) for p in proposals])
    _, proposals = growing.propose(state)
    assert {canonical(f"CP(PER * SE, {other})") for other in ("C", "PER * SE")} <= expressions(
        proposals
    )
    assert canonical("CW(WN + PER * SE, C)") in expressions(proposals)


def test_growing__a_change_that_data_show_is_found() -> None:
    state, _ = run(with_changes(), towards("CP(SE + PER, C)"))
    assert canonical(state.fitted()[0].expression) == canonical("CP(SE + PER, C)")


def test_growing__tries_every_structure_once() -> None:
    state, _ = run(Growing(), towards("SE * PER + LIN"))
    tried = [(canonical(fit.expression), fit.warp) for fit in state.fits]
    assert len(tried) == len(set(tried))


def test_growing__finds_a_larger_expression_and_ends() -> None:
    state, sizes = run(Growing(), towards("SE * PER + LIN"))
    best = state.fitted()[0]
    assert canonical(best.expression) == canonical("SE * PER + LIN")
    assert state.ending == "no child of the best kernels gained"
    assert len(sizes) >= 2


def test_growing__keeps_to_the_most_leaves() -> None:
    state, _ = run(Growing(max_leaves=3), lambda p: float(num_leaves(p.expression)))
    assert max(num_leaves(fit.expression) for fit in state.fits) == 3
    assert Growing.max_leaves > 3


def test_growing__children_know_their_parent_and_keep_its_warp() -> None:
    growing = Growing(warps=(Identity(), Log()))
    state = started(growing, lambda p: 30.0 * (p.warp == Log()) - num_leaves(p.expression))
    _, proposals = growing.propose(state)
    assert proposals
    assert {p.warp for p in proposals} == {Log()}
    assert all(p.parent is not None and p.parent.warp == Log() for p in proposals)


def test_growing__another_warp_near_the_best_is_expanded_too() -> None:
    growing = Growing(warps=(Identity(), Log()))
    state = started(growing, lambda p: -9.0 * (p.warp == Log()) + num_leaves(p.expression))
    _, proposals = growing.propose(state)
    assert {p.warp for p in proposals} == {Identity(), Log()}


def test_growing__several_inputs_get_leaves_of_their_own_and_of_all() -> None:
    _, proposals = Growing(num_inputs=2).propose(SearchState())
    assert {parse("SE"), parse("SE[1]"), parse("SE[2]"), parse("PER[2]")} <= expressions(proposals)
    assert all(num_leaves(p.expression) == 1 for p in proposals)


def test_growing__own_expressions_are_starts() -> None:
    state = started(Growing(more=(parse("SE * PER * LIN"),)), lambda p: 0.0)
    assert canonical("SE * PER * LIN") in {canonical(fit.expression) for fit in state.fits}


def test_growing__failed_candidates_are_not_expanded() -> None:
    growing = Growing()
    state, proposals = growing.propose(SearchState())
    fits = [made_up_fit(p, 0.0, "failed") for p in proposals]
    state, proposals = growing.propose(growing.absorb(state, fits))
    assert not proposals
    assert state.ending


def test_growing__the_parent_margin_says_who_is_expanded() -> None:
    def judge(proposal: Proposal) -> float:
        return {"SE": 10.0, "PER": 5.0}.get(str(proposal.expression), -90.0)

    parents = {}
    for margin in (6.0, 4.0):
        growing = Growing(parent_margin=margin, later_moves_delay=9)
        _, asked = run(growing, judge)
        parents[margin] = {str(p.parent.expression) for ps in asked for p in ps if p.parent}
    assert parents == {6.0: {"SE", "PER"}, 4.0: {"SE"}}


def shown(*texts: str) -> tuple[Expression, ...]:
    return tuple(canonical(text) for text in texts)


def test_growing__what_the_data_show_comes_first_and_stands_for_other_warps() -> None:
    first = shown("LIN + PER", "LIN + SE * PER")
    _, proposals = Growing(warps=(Identity(), Log()), first=first).propose(SearchState())
    assert tuple(p.expression for p in proposals[:2]) == first
    assert len(expressions(proposals)) == len(proposals) - len(first)
    assert tuple(p.expression for p in proposals if p.warp == Log()) == first
    leaves = [p for p in proposals if num_leaves(p.expression) == 1]
    assert {p.warp for p in leaves} == {Identity()}


def test_growing__without_a_cycle_leaves_stand_for_other_warps() -> None:
    first = shown("LIN + SE", "SE")
    _, proposals = Growing(warps=(Identity(), Log()), first=first).propose(SearchState())
    assert tuple(p.expression for p in proposals[:2]) == first
    under_log = [p for p in proposals if p.warp == Log()]
    assert all(num_leaves(p.expression) == 1 for p in under_log)
    assert len(under_log) == len(Growing().families)


def test_growing__after_a_cycle_was_shown_pairs_without_one_come_later() -> None:
    growing = Growing(first=shown("LIN + PER"))
    _, asked = run(growing, towards("SE * PER + LIN"), max_rounds=growing.late_pairs_round + 1)
    pairs = [{e for e in expressions(ps) if num_leaves(e) == 2} for ps in asked]
    assert pairs[1]
    assert all(map(has_cycle, pairs[1]))
    late = pairs[growing.late_pairs_round]
    assert canonical("LIN * SE") in late
    assert not any(map(has_cycle, late))


def test_growing__a_warp_is_left_by_what_was_tried_first_under_it() -> None:
    first = shown("LIN + PER")
    for behind, expected in ((20.0, {Identity()}), (5.0, {Identity(), Log()})):
        growing = Growing(warps=(Identity(), Log()), first=first)
        state = started(growing, lambda p: -behind * (p.warp == Log()))  # noqa: B023
        tried = [fit for fit in state.fits if fit.expression not in first]
        assert {fit.warp for fit in tried} == expected
