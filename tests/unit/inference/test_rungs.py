from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.optima import candidate_at, log_posteriors, moved_theta, wave_context
from support.rungs import optimised, screened

from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate, make_candidate
from vbks.inference.context import FitContext
from vbks.inference.rungs import applies, optimise, run_rung, screening_plan
from vbks.inference.screening import Rung
from vbks.kernels.bank.bank import Bank, Objective
from vbks.kernels.layout import lay_out


@pytest.fixture(scope="module")
def context() -> FitContext:
    return wave_context()


@pytest.fixture(scope="module")
def top(context: FitContext) -> Candidate:
    """PER at its highest optimum."""
    return optimised("PER", context)


def test_screening__keeps_the_optima_of_all_starts_best_first(context: FitContext) -> None:
    (looked,) = screened([make_candidate(parse("SE * PER"), context, None)], context)
    assert looked.restarts == context.restarts
    assert 1 <= len(looked.values) <= context.restarts
    assert (np.diff(looked.values) <= 0).all()
    np.testing.assert_allclose(
        looked.values, log_posteriors(looked, context, list(looked.thetas)), atol=1e-6
    )


def test_optimise__ends_where_no_step_leads_higher(context: FitContext, top: Candidate) -> None:
    assert top.converged
    steps = 0.02 * np.random.default_rng(0).normal(size=(20, len(top.layout)))
    around = log_posteriors(top, context, list(top.thetas[0] + steps))
    assert (around <= top.best + 1e-3).all()


def test_optimise__does_not_end_lower_than_the_screening(context: FitContext) -> None:
    (looked,) = screened([make_candidate(parse("SE + LIN"), context, None)], context)
    (climbed,) = optimise([looked], context)
    assert climbed.best >= looked.best - 1e-9


def test_candidate_without_a_finite_start__gets_more_jitter_then_is_given_up(
    context: FitContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    jitters = set()

    def nothing(self: Bank, objective: Objective, theta: Any, *tensors: Any) -> Any:
        jitters.add(float(tensors[-1]))
        value, gradient = whole(self, objective, theta, *tensors)
        return np.nan * value, gradient

    whole = Bank.with_gradient
    monkeypatch.setattr(Bank, "with_gradient", nothing)
    (lost,) = screened([make_candidate(parse("LIN"), context, None)], context)
    assert jitters == {1e-8, 1e-6}
    assert not lost.is_going
    message = "no covariance could be factorised at any of 4 starts, also with a jitter of 1e-06."
    assert lost.reason == message


def test_optimise__finds_that_a_wave_repeats_twice_as_often(
    context: FitContext, top: Candidate
) -> None:
    period = top.layout.names.index(".period")
    slow = moved_theta(top.thetas[0], top, ".period", np.log(2.0))
    double = moved_theta(slow, top, ".lengthscales", -0.7)
    (found,) = optimise([candidate_at(top, context, [double])], context)
    assert found.thetas[0][period] == pytest.approx(top.thetas[0][period], abs=0.01)
    assert found.best == pytest.approx(top.best, abs=0.01)


@pytest.mark.parametrize(
    ("text", "parent", "num"),
    [
        ("PER", None, 8),
        ("PER + PER", None, 32),
        ("LIN * PER", "LIN", 8),
        ("LIN * SE", "LIN", 4),
        ("PER + SE", "PER", 4),
        ("PER + PER", "PER", 4),
        ("PER + PER + PER", "PER", 16),
    ],
)
def test_starts_of_a_screening__are_fewer_where_a_parent_knows_the_periodic_leaves(
    context: FitContext, text: str, parent: str | None, num: int
) -> None:
    known = None if parent is None else lay_out(parent)
    eight, rung = replace(context, restarts=8), context.screening.rungs[0]
    assert screening_plan(lay_out(text), eight, rung, known)[0] == num


def rung_named(context: FitContext, name: str) -> Rung:
    return context.screening.rung(name)


def test_screening__that_is_continued_ends_as_high_as_a_whole_one(context: FitContext) -> None:
    fresh = make_candidate(parse("SE + PER"), context)
    first, last = (rung_named(context, name) for name in ("first screening", "screening"))
    (whole,) = run_rung([fresh], context, last)
    (begun,) = run_rung([fresh], context, first)
    (in_two,) = run_rung([begun], context, last, first)
    assert begun.best <= in_two.best
    assert in_two.best == pytest.approx(whole.best, abs=0.5)


def test_optimisation__that_is_continued_ends_as_high_as_a_whole_one(context: FitContext) -> None:
    (looked,) = screened([make_candidate(parse("SE + PER"), context)], context)
    first, last = (rung_named(context, name) for name in ("first optimisation", "optimisation"))
    (whole,) = optimise([looked], context)
    (begun,) = run_rung([looked], context, first)
    (in_two,) = run_rung([begun], context, last, first)
    assert begun.best <= in_two.best + 1e-9
    assert in_two.best == pytest.approx(whole.best, abs=0.03)


ALL = ("first screening", "screening", "first optimisation", "optimisation")


@pytest.mark.parametrize(
    ("num", "prune", "names"),
    [(13, True, ALL), (12, True, ALL[1:]), (10, True, ALL[1::2]), (13, False, ALL[1::2])],
)
def test_rungs_for_pruning_alone__are_left_out_for_few(
    context: FitContext, num: int, prune: bool, names: tuple[str, ...]
) -> None:
    candidates = [make_candidate(parse("SE"), context)] * num
    assert applicable(candidates, context, prune) == names


def applicable(candidates: list[Candidate], context: FitContext, prune: bool) -> tuple[str, ...]:
    every = context.screening.rungs
    return tuple(rung.name for rung in every if applies(rung, candidates, context, prune))


def test_intermediate_rung__takes_the_place_of_the_first_on_all_rows(context: FitContext) -> None:
    large = replace(context, screening=replace(context.screening, intermediate_rows=10))
    candidates = [make_candidate(parse("SE"), context)] * 13
    names = ("first screening", "screening", "intermediate optimisation", "optimisation")
    assert applicable(candidates, large, True) == names
    assert applicable(candidates, large, False) == names[1:]


def test_earlier_fits__are_optimised_at_once(context: FitContext, top: Candidate) -> None:
    large = replace(context, screening=replace(context.screening, intermediate_rows=10))
    candidates = [replace(top, has_begun=True)] * 13
    assert applicable(candidates, large, True) == ("screening", "optimisation")
