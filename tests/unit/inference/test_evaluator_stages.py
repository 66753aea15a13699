"""Tests of proposals under several warps, stage after stage."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.inference.context import FitContext
from vbks.inference.evaluator import Evaluator, FollowUp
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings, FitStage
from vbks.selection.selection import Selection
from vbks.weights.settings import BeliefSettings

STAGE = FitStage("exact", "laplace")


def make_evaluator() -> Evaluator:
    x = np.linspace(0.0, 5.0, 25)
    data = prepare((x, np.exp(np.sin(2.0 * x) + 0.05 * np.cos(40.0 * x))))
    both = {Identity(): data, Log(): data.warped(Log())}
    return Evaluator(both, FitSettings(restarts=1, prune=False))


def test_fits__come_in_the_order_of_the_proposals() -> None:
    proposals = [
        Proposal(parse("SE"), Log()), Proposal(parse("LIN")), Proposal(parse("LIN"), Log()),
        Proposal(parse("SE")),
    ]  # fmt: skip
    fits = make_evaluator().fit(proposals, STAGE)
    assert [(fit.expression, fit.warp) for fit in fits] == [
        (p.expression, p.warp) for p in proposals
    ]
    assert all(fit.posterior == "laplace" for fit in fits)
    assert all(np.any(fit.modes[0].factor) for fit in fits)


def test_children__start_from_their_parents() -> None:
    evaluator = make_evaluator()
    (parent,) = evaluator.fit([Proposal(parse("SE"))], STAGE)
    (child,) = evaluator.fit([Proposal(parse("SE + LIN"), Identity(), parent)], STAGE)
    assert child.modes[0].log_likelihood > parent.modes[0].log_likelihood - 1.0


def test_go_on__keeps_the_optimum() -> None:
    evaluator = make_evaluator()
    fits = evaluator.fit([Proposal(parse("SE")), Proposal(parse("SE"), Log())], STAGE)
    again = evaluator.go_on(fits, STAGE)
    for before, after in zip(fits, again, strict=True):
        assert after.warp == before.warp
        np.testing.assert_allclose(after.log_evidence(), before.log_evidence(), atol=0.05)


def test_go_on__the_same_expression_twice_is_fitted_twice() -> None:
    evaluator = make_evaluator()
    fits = evaluator.fit([Proposal(parse("SE")), Proposal(parse("SE"))], STAGE)
    again = evaluator.go_on(fits, STAGE)
    assert [fit.expression for fit in again] == [parse("SE"), parse("SE")]


def test_notices__leave_out_what_the_evaluator_has_asked_for() -> None:
    evaluator = make_evaluator()
    evaluator.fit([Proposal(parse("SE"))], STAGE)
    assert evaluator.notices == ()


def test_contexts__are_made_once_for_each_warp_and_stage() -> None:
    evaluator = make_evaluator()
    evaluator.fit([Proposal(parse("SE")), Proposal(parse("SE"), Log())], STAGE)
    first = evaluator.context(STAGE)
    assert evaluator.context(STAGE, Identity()) is first
    assert evaluator.context(FitStage("exact", "laplace")) is first
    assert evaluator.context(STAGE, Log()) is not first
    assert len(evaluator._contexts) == 2


def test_follow_ups__are_told_of_one_after_the_other() -> None:
    def one_higher(fits: Sequence[LocalFit], context: FitContext) -> list[LocalFit]:
        return [replace(fit, upper=fit.elbo + 1.0) for fit in fits]

    follow_up = FollowUp("bounds", one_higher, lambda fits, context: [1], is_slow=True)
    evaluator = replace(make_evaluator(), follow_ups=(follow_up,))
    told: list[dict[int, float]] = []
    proposals = [Proposal(parse("SE")), Proposal(parse("LIN"))]
    fits = evaluator.fit(
        proposals, STAGE, lambda own: told.append({k: fit.upper for k, fit in own.items()})
    )
    assert np.isnan(fits[0].upper) and fits[1].upper == fits[1].elbo + 1.0
    assert [list(own) for own in told] == [[0], [1]]
    (again,) = evaluator.go_on(fits[1:], STAGE)
    assert np.isnan(again.upper)


def test_fits_to_some_rows__know_the_periods_of_all() -> None:
    x = np.linspace(0.0, 60.0, 400)
    data = prepare((x, np.sin(2 * np.pi * x)))
    evaluator = Evaluator({Identity(): data}, FitSettings(prune=False))
    stage = FitStage("exact", "laplace", num_rows=60)
    (fit,) = evaluator.fit([Proposal(parse("PER"))], stage)
    assert fit.num_rows == 60
    (summary,) = evaluator.context(stage).summaries
    assert abs(summary.periods[0] * data.units.x_scale[0] - 1.0) < 0.02


def test_fits_to_some_rows__predict_given_all() -> None:
    x = np.linspace(0.0, 6.0, 120)
    data = prepare((x, np.sin(x)))
    evaluator = Evaluator({Identity(): data}, FitSettings(prune=False))
    fits = evaluator.fit([Proposal(parse("SE"))], FitStage("exact", "laplace", num_rows=45))
    selection = Selection(tuple(fits), {Identity(): data}, BeliefSettings())
    mean, _ = selection.predict_f(x)
    np.testing.assert_allclose(mean, np.sin(x), atol=1e-3)
