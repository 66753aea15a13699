"""Tests of the final fits of the best, with an evaluator that makes fits up."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.fits import made_up_fit
from support.searches import Pretence

from vbks.grammar.canonical import structures
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitStage
from vbks.policies import SearchPolicy
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.final_fits import NO_TIME, FinalFits

FINAL, BEST = FitStage("exact", "laplace"), FitStage("exact", "full")
POLICY = SearchPolicy()
FIRST, REST, SHARE = POLICY.first_final_fits, POLICY.final_rest, POLICY.final_share

TEXTS = ("SE", "LIN", "SE + LIN", "PER", "RQ", "SE * PER", "OU", "C", "WN")


def searched() -> list[LocalFit]:
    return [made_up_fit(Proposal(parse(text)), float(len(text))) for text in TEXTS]


def final_fits(evaluator: Any, slack: float = 0.1) -> FinalFits:
    return FinalFits(evaluator, FINAL, slack)


def hurried(evaluator: Pretence, seconds: float) -> BudgetTracker:
    """A tracker after a search at a pace of one."""
    tracker = BudgetTracker(Budget(seconds=seconds), clock=evaluator.clock)
    tracker.spend([1.0])
    return replace(tracker, cost=1.0, time_taken=1.0)


def test_final_fits__others_are_dropped_with_their_distance() -> None:
    evaluator = Pretence(gain=1.0)
    fits, notice = final_fits(evaluator).finish(searched(), BudgetTracker(Budget()))
    assert [fit.status == "fitted" for fit in fits] == [
        text in ("SE + LIN", "SE * PER") for text in TEXTS
    ]
    assert evaluator.calls == [2]
    assert (fits[2].seconds, fits[2].elbo) == (2.0, 9.0)
    assert fits[0].reason == "6.0 nats behind the best after the search"
    assert notice.startswith("The 7 candidates of the search that were not fitted to the end are")


def test_final_fits__are_of_all_that_could_hold_a_hundredth() -> None:
    evaluator = Pretence()
    values = [0.0, -1.0, -4.0, -4.7, -5.0, -8.0, -9.0, -9.0, -9.0]
    fits = [
        made_up_fit(Proposal(parse(text)), value) for text, value in zip(TEXTS, values, strict=True)
    ]

    class AsBefore(Pretence):
        def go_on(
            self, fits: Sequence[LocalFit], stage: FitStage, what: str = ""
        ) -> list[LocalFit]:
            self.calls.append(len(fits))
            return list(fits)

    evaluator = AsBefore()
    done, notice = final_fits(evaluator).finish(fits, BudgetTracker(Budget()))
    total = sum(math.exp(value) for value in values)
    could = [math.exp(value) / total > SHARE for value in values]
    assert [fit.status == "fitted" for fit in done] == could == 3 * [True] + 6 * [False]
    assert done[3].most_probable == pytest.approx(math.exp(-4.7 + 0.1) / total, rel=0.2)
    assert math.isnan(done[0].most_probable)
    assert notice.endswith(
        "expected to hold 1.2 % of the belief together; none of them could hold more than 0.7 %."
    )


def test_final_fits__a_prior_decides_who_could_matter() -> None:
    prior = {text: (1e-9 if text == "SE * PER" else 1.0) for text in TEXTS}
    fits, _ = FinalFits(Pretence(), FINAL, 0.1, prior=prior).finish(
        searched(), BudgetTracker(Budget())
    )
    assert [str(fit.expression) for fit in fits if fit.status == "fitted"] == ["SE + LIN"]


def test_final_fits__gains_of_the_first_decide_about_the_others() -> None:
    """Gains that are all alike leave those far behind without a chance, whatever was thought."""
    fits = [
        made_up_fit(Proposal(expression), -1.5 * place)
        for place, expression in enumerate(structures(K144))
        if place < 20
    ]

    class Alike(Pretence):
        def go_on(
            self, fits: Sequence[LocalFit], stage: FitStage, what: str = ""
        ) -> list[LocalFit]:
            self.calls.append(len(fits))
            return [replace(fit, elbo=fit.elbo + 7.0) for fit in fits]

    evaluator = Alike()
    done, _ = final_fits(evaluator, 20.0).finish(fits, BudgetTracker(Budget()))
    assert evaluator.calls == [FIRST]
    assert sum(fit.status == "fitted" for fit in done) == FIRST


def test_final_fits__of_all_if_none_may_be_left_out() -> None:
    evaluator = Pretence()
    fits, notice = final_fits(evaluator, math.inf).finish(searched(), BudgetTracker(Budget()))
    assert all(fit.status == "fitted" for fit in fits)
    assert not notice


class TwoStages(Pretence):
    """Gives every fit an evidence that is its bound, and at last another q(θ) without one."""

    def go_on(self, fits: Sequence[LocalFit], stage: FitStage, what: str = "") -> list[LocalFit]:
        if stage == FINAL:
            return [
                replace(fit, evidence=fit.elbo, evidence_error=0.1, seconds=2.0) for fit in fits
            ]
        self.calls.append(len(fits))
        return self.best(fits)

    def best(self, fits: Sequence[LocalFit]) -> list[LocalFit]:
        return [replace(fit, posterior="diagonal", evidence=math.nan, seconds=3.0) for fit in fits]


def test_posteriors__are_of_those_that_hold_most_of_the_belief() -> None:
    values = [0.0, -1.0, -5.0, -5.5, -6.0, -8.0]
    fits = [
        made_up_fit(Proposal(parse(text)), value)
        for text, value in zip(TEXTS, values, strict=False)
    ]
    evaluator = TwoStages()
    final = FinalFits(evaluator, FINAL, 3.0, posteriors=BEST)  # type: ignore[arg-type]
    done, _ = final.finish(fits, BudgetTracker(Budget()))
    assert [fit.posterior == "diagonal" for fit in done] == [True, True] + [False] * 4
    assert [fit.evidence for fit in done] == values
    assert all(fit.evidence_error == 0.1 for fit in done)
    assert (done[0].seconds, done[2].seconds) == (fits[0].seconds + 5.0, fits[2].seconds + 2.0)
    assert evaluator.calls == [2]


def test_posteriors__are_of_all_if_none_may_be_left_out() -> None:
    final = FinalFits(TwoStages(), FINAL, math.inf, posteriors=BEST)  # type: ignore[arg-type]
    done, _ = final.finish(searched(), BudgetTracker(Budget()))
    assert all(fit.posterior == "diagonal" for fit in done)


def test_posteriors__that_fail_leave_fits_as_they_were() -> None:
    class Hopeless(TwoStages):
        def best(self, fits: Sequence[LocalFit]) -> list[LocalFit]:
            return [replace(fit, status="failed", reason="no memory") for fit in fits]

    final = FinalFits(Hopeless(), FINAL, 3.0, posteriors=BEST)  # type: ignore[arg-type]
    done, _ = final.finish(searched()[:3], BudgetTracker(Budget()))
    assert all(fit.status == "fitted" and fit.evidence == fit.elbo for fit in done)


@pytest.mark.parametrize("status", ["failed", "dropped"])
def test_final_fits__without_finalists_change_nothing(status: str) -> None:
    fits = [replace(fit, status=status) for fit in searched()]
    assert final_fits(Pretence()).finish(fits, BudgetTracker(Budget())) == (fits, "")
    assert final_fits(Pretence()).costs(fits) == []


def test_final_fits__keep_the_search_if_all_fail() -> None:
    class Hopeless(Pretence):
        def go_on(
            self, fits: Sequence[LocalFit], stage: FitStage, what: str = ""
        ) -> list[LocalFit]:
            return [replace(fit, status="failed", reason="no memory") for fit in fits]

    before = searched()
    fits, notice = final_fits(Hopeless()).finish(before, BudgetTracker(Budget()))
    assert fits == before
    assert notice == "The final fits failed, so those of the search are used: no memory"


def test_final_fits__are_the_best_if_there_is_no_time_for_all() -> None:
    evaluator = Pretence(seconds=2.0)
    final = final_fits(evaluator, math.inf)
    fits, notice = final.finish(searched(), hurried(evaluator, 10.0))
    done = [str(fit.expression) for fit in fits if fit.status == "fitted"]
    assert {"SE + LIN", "SE * PER"} <= set(done) <= {"SE + LIN", "SE * PER", "LIN", "PER"}
    assert {fit.reason for fit in fits if fit.status == "dropped"} == {NO_TIME}
    start = f"There was time to fit {len(done)} of the best 9 candidates to the end. The "
    assert notice.startswith(start)


def test_final_fits__in_no_time_leave_the_search_as_it_was() -> None:
    evaluator, before = Pretence(seconds=4.0), searched()
    fits, notice = final_fits(evaluator).finish(before, hurried(evaluator, 0.5))
    assert fits == before
    assert notice == "There was no time for final fits, so those of the search are used."
    assert evaluator.calls == []
    fits, _ = final_fits(evaluator).finish(before, hurried(evaluator, 0.5), is_patient=True)
    assert any(fit.status == "fitted" for fit in fits)


@pytest.mark.parametrize("seconds", [10.0, 30.0])
def test_final_fits__end_in_time(seconds: float) -> None:
    evaluator = Pretence(seconds=1.5)
    final_fits(evaluator, math.inf).finish(20 * searched(), hurried(evaluator, seconds))
    assert 0.75 * seconds < evaluator.clock.now <= 1.1 * seconds


def test_costs__are_those_of_finalists_best_first() -> None:
    final = FinalFits(Pretence(), FINAL, 100.0, lambda fit: fit.elbo)  # type: ignore[arg-type]
    assert final.costs(searched()[:4]) == [8.0, 3.0, 3.0, 2.0]


def test_final_fits__go_on_until_the_rest_holds_little_together() -> None:
    """A hundred that hold about the same: none of them much, and all of them everything."""
    many = list(structures(K144))[:100]
    fits = [made_up_fit(Proposal(expression), -0.03 * k) for k, expression in enumerate(many)]

    class AsBefore(Pretence):
        def go_on(
            self, fits: Sequence[LocalFit], stage: FitStage, what: str = ""
        ) -> list[LocalFit]:
            return list(fits)

    done, notice = final_fits(AsBefore(), 1e-3).finish(fits, BudgetTracker(Budget()))
    left = [fit.elbo for fit in done if fit.status != "fitted"]
    share = np.exp(left).sum() / np.exp([fit.elbo for fit in fits]).sum()
    assert 0.02 < share < REST
    assert f"expected to hold {100 * share:.0f}" in notice
