"""Tests of how fits are planned."""

import math

import numpy as np
import pytest

from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity
from vbks.inference.evaluator import Evaluator
from vbks.inference.result import Bound
from vbks.inference.settings import FitSettings, FitStage
from vbks.policies import SearchPolicy
from vbks.search.plan import Plan


def make_data(num_rows: int, num_inputs: int = 1) -> TrainingData:
    x = np.arange(float(num_rows))
    return prepare((np.stack([x] * num_inputs, axis=1), np.sin(x)))


@pytest.mark.parametrize(
    ("num_rows", "search", "final"),
    [
        (200, ("exact", "laplace"), ("exact", "laplace")),
        (900, ("exact", "laplace"), ("exact", "laplace")),
        (5000, ("stochastic", "laplace"), ("stochastic", "laplace")),
    ],
)
def test_plan__is_exact_where_that_is_quick(
    num_rows: int, search: tuple[str, str], final: tuple[str, str]
) -> None:
    plan = Plan.of(make_data(num_rows), 100, FitSettings())
    assert (plan.search.bound, plan.search.posterior) == search
    assert (plan.final.bound, plan.final.posterior) == final
    assert plan.posteriors == (FitStage("exact", "full") if num_rows == 200 else None)


def test_plan__keeps_to_what_is_asked_for() -> None:
    plan = Plan.of(make_data(100), 5, FitSettings("collapsed", "diagonal", 20))
    assert (plan.final.bound, plan.final.posterior, plan.final.num_inducing) == (
        "collapsed", "diagonal", 20
    )  # fmt: skip
    assert plan.search.bound == "collapsed"


def test_plan__stochastic_fits_are_judged_as_they_are_searched() -> None:
    plan = Plan.of(make_data(100), 5, FitSettings("stochastic", "full", 20))
    assert plan.search == plan.final


@pytest.mark.parametrize(("num_rows", "inducing"), [(361, 98), (899, 60), (1999, 89)])
def test_inducing_points_of_a_search__are_as_many_as_cost_allows(
    num_rows: int, inducing: int
) -> None:
    plan = Plan.of(make_data(num_rows, 2), 100, FitSettings())
    assert (plan.search.bound, plan.search.num_inducing) == ("collapsed", inducing)


def test_search_along_one_input__is_exact_in_runs_of_rows() -> None:
    plan = Plan.of(make_data(900), 100, FitSettings())
    assert (plan.search.bound, plan.search.num_rows) == ("exact", 300)
    assert plan.final.num_rows is None
    assert plan.slack(SearchPolicy()) == SearchPolicy().other_bound_slack
    assert plan.final.importance and not plan.search.importance
    assert "fits to 300 of 900 rows" in plan.notice(900)


def test_notice__names_both_bounds() -> None:
    plan = Plan.of(make_data(900, 2), 100, FitSettings())
    searched, judged = plan.notice(900).split(", and ")
    assert searched == "Candidates were searched by collapsed fits to 900 rows"
    assert judged == "the best of them by exact ones."


def test_in_time__exact_fits_give_way_to_collapsed_ones_if_there_is_no_time() -> None:
    evaluator = Evaluator({Identity(): make_data(1500)})
    stage = FitStage("exact", "point")
    plan = Plan(stage, stage).in_time(60.0, evaluator)
    assert (plan.search.bound, plan.search.posterior) == ("collapsed", "point")
    assert plan.final == plan.search
    plan = Plan(stage, FitStage("exact", "full")).in_time(60.0, evaluator)
    assert (plan.search.bound, plan.final.bound) == ("collapsed", "exact")


@pytest.mark.parametrize(
    ("bound", "num_rows", "seconds"),
    [
        ("exact", 1500, math.inf),
        ("exact", 1500, 1e6),
        ("exact", 40, 0.1),
        ("stochastic", 1500, 1.0),
    ],
)
def test_in_time__else_the_plan_stays(bound: Bound, num_rows: int, seconds: float) -> None:
    plan = Plan(FitStage(bound, "point"), FitStage(bound, "point"))
    assert plan.in_time(seconds, Evaluator({Identity(): make_data(num_rows)})) is plan
