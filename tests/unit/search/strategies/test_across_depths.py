"""Tests of a search that begins a depth before the last is done; fits come out of order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import current_thread, main_thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.fits import made_up_fit, make_data
from support.rows import make_rows

import vbks
from vbks.data.warps import Identity
from vbks.execution.devices import Devices
from vbks.inference.proposal import Proposal, structure_of
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitStage
from vbks.progress import Quiet
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.methods import SKC
from vbks.search.plan import Plan
from vbks.search.protocol import SearchState
from vbks.search.runner import SearchRunner
from vbks.search.strategies.across_depths import AcrossDepths
from vbks.search.strategies.interval import IntervalSearch


def fit_of(proposal: Proposal) -> LocalFit:
    """A fit whose interval is long, and higher the longer the text is, SE before others."""
    text = str(proposal.expression)
    lower = 3.0 * len(text) + 0.5 * text.count("SE") + 0.01 * text.count("+")
    fit = replace(made_up_fit(proposal, 0.0), posterior="point")
    score = lower + fit.penalty()
    mode = replace(fit.modes[0], log_likelihood=score)
    return replace(fit, elbo=score, upper=score + 40.0, modes=(mode,))


@dataclass
class Waiting:
    """Fits at once, and tells of the last first; the first of a list waits for early lists.

    Early lists are those that come from other threads than the first. They are told of as a whole
    before the fit that was waited for, so that the order is always the same.
    """

    num_workers: int
    report: Any = field(default_factory=Quiet)
    lists: list[tuple[bool, list[str]]] = field(default_factory=list)
    breaks: bool = False
    search: Any = None
    data: Any = field(default_factory=lambda: {Identity(): make_data()})
    notices: tuple[str, ...] = ()

    @property
    def executor(self) -> Any:
        return SimpleNamespace(num_workers=self.num_workers)

    def fit(
        self,
        proposals: Sequence[Proposal],
        stage: FitStage,
        tell: Callable[[Mapping[int, LocalFit]], object] = lambda fits: None,
    ) -> list[LocalFit]:
        is_early = current_thread() is not main_thread()
        self.lists.append((is_early, [str(p.expression) for p in proposals]))
        if is_early and self.breaks:
            raise ZeroDivisionError("early")
        fits = [fit_of(p) for p in proposals]
        for k in range(len(fits))[::-1]:
            if k == 0 and not is_early:
                for lane in getattr(self.search, "_early", ()):
                    lane.thread.join()
            tell({k: fits[k]})
        return fits


def search(
    evaluator: Waiting, kind: type[SearchRunner] = AcrossDepths, **settings: Any
) -> SearchRunner:
    budget = settings.pop("budget", Budget())
    strategy = IntervalSearch(**settings)
    stage = FitStage("collapsed", "point")
    evaluator.search = kind(
        strategy,
        evaluator,
        Plan(stage, stage),
        BudgetTracker(budget),  # type: ignore[arg-type]
    )
    return evaluator.search


def run(runner: SearchRunner) -> SearchState:
    """The last state of a search."""
    runner.run()
    return runner.state


def test_next_depth__begins_while_the_last_fit_is_waited_for() -> None:
    evaluator = Waiting(3)
    state = run(search(evaluator, max_depth=3))
    kinds = [is_early for is_early, _ in evaluator.lists]
    assert kinds[:2] == [False, False], "which leaf is the best is known when all are"
    assert True in kinds
    tried = [text for _, texts in evaluator.lists for text in texts]
    assert len(set(tried)) == len(tried) == len(state.fits)
    assert state.rounds == 4
    assert "depth 3 was reached" in state.ending


def test_early_children__are_of_those_that_stay_in_the_buffer() -> None:
    strategy = IntervalSearch(buffer=2)
    state, leaves = strategy.propose(SearchState())
    state = strategy.absorb(state, [fit_of(p) for p in leaves])
    state, proposals = strategy.propose(state)
    fits = [fit_of(p) for p in proposals]
    ordered = sorted(fits, key=lambda fit: -fit.upper + fit.penalty())
    for num_waiting, expected in ((3, []), (2, ordered[:1]), (1, ordered[:2])):
        _, early = strategy.propose_early(state, fits, num_waiting)
        assert parents_of(early) == {structure_of(fit) for fit in expected}
    after, early = strategy.propose_early(state, fits, 1)
    _, rest = strategy.propose(strategy.absorb(after, fits))
    _, whole = strategy.propose(strategy.absorb(state, fits))
    assert parents_of(early) | parents_of(rest) == parents_of(whole)
    assert not parents_of(early) & parents_of(rest)


def parents_of(proposals: Sequence[Proposal]) -> set[Any]:
    return {structure_of(p.parent) for p in proposals if p.parent is not None}


def test_same_order__gives_the_same_search() -> None:
    runs = [run(search(Waiting(3), max_depth=3)) for _ in range(2)]
    first, second = ([str(fit.expression) for fit in state.fits] for state in runs)
    assert first == second


@pytest.mark.parametrize("settings", [{"num_workers": 1}, {"budget": Budget(candidates=1000)}])
def test_one_worker_or_a_budget__makes_it_the_search_that_waits(settings: dict[str, Any]) -> None:
    num = settings.pop("num_workers", 3)
    here, waits = Waiting(num), Waiting(num)
    state = run(search(here, max_depth=3, **settings))
    expected = run(search(waits, SearchRunner, max_depth=3, **settings))
    assert here.lists == waits.lists and not any(is_early for is_early, _ in here.lists)
    assert state.expanded == expected.expanded
    assert [str(fit.expression) for fit in state.fits] == [
        str(fit.expression) for fit in expected.fits
    ]


def test_error_in_an_early_list__reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError, match="early"):
        run(search(Waiting(3, breaks=True), max_depth=3))


@pytest.mark.slow
def test_real_fits__with_one_device_are_the_same_and_with_two_no_worse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fitted(method: SKC) -> Any:
        settings = {"num_inducing": 6, "restarts": 1, "families": ("SE", "LIN")}
        return vbks.fit(*make_rows(25), method=method, executor=Devices(), **settings)

    waits, one = fitted(SKC(max_depth=2)), fitted(SKC(max_depth=2, wait=False))
    scores = [[fit.log_evidence("bic") for fit in found.fits] for found in (one, waits)]
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(*scores)
    monkeypatch.setattr(Devices, "chosen", lambda _: ("/device:CPU:0", "/device:CPU:0"))
    two = fitted(SKC(max_depth=2, wait=False))
    assert len(set(two.belief["expression"])) == len(two.fits)
    assert two.best.log_evidence("bic") > waits.best.log_evidence("bic") - 1.0
