"""Tests of the workshop."""

import numpy as np

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.inference.proposal import Proposal
from vbks.inference.workshop import Stage, Workshop
from vbks.selection.selection import Selection
from vbks.weights.settings import BeliefSettings


def make_workshop(bound: str = "exact") -> Workshop:
    x = np.linspace(0.0, 5.0, 25)
    data = prepare((x, np.exp(np.sin(2.0 * x) + 0.05 * np.cos(40.0 * x))))
    both = {Identity(): data, Log(): data.warped(Log())}
    return Workshop(both, Stage(bound, "laplace"), False, {"restarts": 1})  # type: ignore[arg-type]


def test_fits__come_in_the_order_of_the_proposals() -> None:
    proposals = [
        Proposal(parse("SE"), Log()), Proposal(parse("LIN")), Proposal(parse("LIN"), Log()),
        Proposal(parse("SE")),
    ]  # fmt: skip
    fits = make_workshop().fit(proposals)
    assert [(fit.expression, fit.warp) for fit in fits] == [
        (p.expression, p.warp) for p in proposals
    ]
    assert all(fit.posterior == "laplace" for fit in fits)
    assert all(np.any(fit.modes[0].factor) for fit in fits)


def test_children__start_from_their_parents() -> None:
    workshop = make_workshop()
    (parent,) = workshop.fit([Proposal(parse("SE"))])
    (child,) = workshop.fit([Proposal(parse("SE + LIN"), Identity(), parent)])
    assert child.modes[0].log_likelihood > parent.modes[0].log_likelihood - 1.0


def test_go_on__keeps_the_optimum() -> None:
    workshop = make_workshop()
    fits = workshop.fit([Proposal(parse("SE")), Proposal(parse("SE"), Log())])
    again = workshop.go_on(fits)
    for before, after in zip(fits, again, strict=True):
        assert after.warp == before.warp
        np.testing.assert_allclose(after.log_evidence(), before.log_evidence(), atol=0.05)


def test_go_on__the_same_expression_twice_is_fitted_twice() -> None:
    workshop = make_workshop()
    fits = workshop.fit([Proposal(parse("SE")), Proposal(parse("SE"))])
    again = workshop.go_on(fits)
    assert [fit.expression for fit in again] == [parse("SE"), parse("SE")]


def test_notices__leave_out_what_the_workshop_has_asked_for() -> None:
    workshop = make_workshop()
    workshop.fit([Proposal(parse("SE"))])
    assert workshop.notices == ()


def test_fits_to_some_rows__know_the_periods_of_all() -> None:
    x = np.linspace(0.0, 60.0, 400)
    data = prepare((x, np.sin(2 * np.pi * x)))
    workshop = Workshop({Identity(): data}, Stage("exact", "laplace", num_rows=60), False)
    (fit,) = workshop.fit([Proposal(parse("PER"))])
    assert fit.num_rows == 60
    comparison = workshop._evaluators[Identity()].comparison
    (summary,) = comparison.summaries
    assert abs(summary.periods[0] * data.units.x_scale[0] - 1.0) < 0.02


def test_fits_to_some_rows__predict_given_all() -> None:
    x = np.linspace(0.0, 6.0, 120)
    data = prepare((x, np.sin(x)))
    stage = Stage("exact", "laplace", num_rows=45)
    fits = Workshop({Identity(): data}, stage, False).fit([Proposal(parse("SE"))])
    selection = Selection(tuple(fits), {Identity(): data}, BeliefSettings())
    mean, _ = selection.predict_f(x)
    np.testing.assert_allclose(mean, np.sin(x), atol=1e-3)
