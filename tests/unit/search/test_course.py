"""Tests of a whole choice: a search and the last fits of its best."""

from __future__ import annotations

import numpy as np
import pytest

from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.execution.run_context import RunContext
from vbks.execution.work import InOrder
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.progress import Quiet
from vbks.search.budget import Budget
from vbks.search.course import Answer, Course
from vbks.search.method import Task
from vbks.search.methods import VBKS


def course(num_rows: int = 40, **wishes: object) -> Course:
    x = np.linspace(0.0, 6.0, num_rows)
    rows = prepare((x, np.sin(4.0 * x) + 0.1 * np.cos(31.0 * x)))
    space = tuple(map(parse, ("SE", "LIN", "PER")))
    settings = {"likelihood": make_likelihood("gaussian"), "restarts": 2, "seed": 0}
    task = Task(rows, (Identity(),), None, space, settings=settings)
    place = RunContext(InOrder())
    return Course(VBKS(), task, {Identity(): rows}, False, Quiet(), place, **wishes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def answer() -> Answer:
    return course().run(None)


def test_answer__has_every_candidate_fitted_to_the_end(answer: Answer) -> None:
    assert [str(fit.expression) for fit in answer.fits] == ["SE", "LIN", "PER"]
    assert {(fit.status, fit.posterior) for fit in answer.fits} == {("fitted", "full")}
    assert answer.workshop.stage.importance


def test_answer__tells_how_it_came_about(answer: Answer) -> None:
    assert answer.path
    assert answer.untried == ()
    assert "Fits to 40 rows are exact." in answer.notices
    assert len(set(answer.notices)) == len(answer.notices)


def test_budget_in_candidates__leaves_the_others_untried() -> None:
    found = course().run(Budget(candidates=2))
    assert len(found.fits) == 2
    assert found.untried == ("PER",)


def test_restarts__are_the_users_wish() -> None:
    (fit, *_) = course(restarts=5).run(Budget(candidates=1)).fits
    assert fit.restarts == 5


def test_many_rows__are_searched_in_runs_and_judged_as_a_whole() -> None:
    found = course(num_rows=400).run(None)
    assert {fit.num_rows for fit in found.fits if fit.status == "fitted"} == {400}
    assert any("fits to 300 of 400 rows" in notice for notice in found.notices)
