"""A whole choice from its first proposal to its last fits: what `vbks.fit` has done for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.execution.run_context import RunContext
from vbks.inference.progress import Progress
from vbks.inference.proposal import Proposal, of_warp, pairs_of
from vbks.inference.result import LocalFit
from vbks.inference.workshop import Stage, Workshop
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.cost import CostModel, all_alike
from vbks.search.final_fits import LastFits
from vbks.search.method import Method, Task
from vbks.search.plan import Plan
from vbks.search.protocol import Step
from vbks.search.runner import nothing
from vbks.weights.prior import KernelPrior

T = TypeVar("T", Proposal, LocalFit)

PATIENCE = 1.5
"""Where no budget is given, last fits may go on to this many times the usual seconds."""

NEAR = 10.0
"""Nats of log evidence below the best up to which a fit that has not converged is told of."""


@dataclass(frozen=True)
class Answer:
    """All fits, sentences about them, when which was the best, and what was not tried.

    ``workshop`` is the one of the last fits.
    """

    fits: tuple[LocalFit, ...]
    notices: tuple[str, ...]
    path: tuple[Step, ...]
    untried: tuple[str, ...]
    workshop: Workshop


@dataclass(frozen=True)
class Course:
    """A method's search at a place, and the last fits of the best that it finds.

    ``data`` are the task's rows under each warp; ``restarts`` are the user's wish, if any.
    """

    method: Method
    task: Task
    data: Mapping[Warp, TrainingData]
    race: bool
    report: Progress
    place: RunContext
    restarts: int | None = None
    prior: KernelPrior = "uniform"

    def run(self, budget: Budget | None) -> Answer:
        """Search until it ends or its budget does, and fit the best as well as can be.

        Without a budget, the method takes as long as it usually does. That is no promise, so that
        the best are then finished in any case, and others in some more time.
        """
        wanted = budget or self.method.budget(self.task)
        journal = self.place.journal((wanted.seconds, wanted.candidates))
        tracker = BudgetTracker(
            wanted, 0.0, self.place.clock, decide=partial(journal.decide, "search")
        )
        strategy = self.method.strategy(self.task)
        plan = self._plan(strategy.num_expected, wanted)
        workshop = self._workshop(plan.search, self.race)
        final = self._workshop(plan.final, race=False)
        last = self._last_fits(plan, final, wanted)
        search = self.method.search(
            strategy,
            workshop,
            tracker,
            self.method.criterion,
            price=self._prices(plan.search, wanted, CostModel.fit),
            reserve=last.costs if plan.has_last else nothing,
            space=pairs_of(self.task.space or (), self.task.warps[:1]),
        )
        state = search.run()
        fits, failure = list(state.fits), ""
        if plan.has_last:
            if budget is None:
                tracker.budget = replace(wanted, seconds=PATIENCE * wanted.seconds)
            own = tracker.for_last_fits(partial(journal.decide, "last"))
            fits, failure = last.finish(fits, own, is_patient=budget is None)
        num_rows = self.task.rows.num_rows
        notices = (
            *self.task.rows.notices, *workshop.notices, *final.notices,
            _used(plan, fits, num_rows).notice(num_rows), search.notice(state), failure,
            not_converged(fits),
            *failed_warps(fits),
        )  # fmt: skip
        told = tuple(dict.fromkeys(filter(None, notices)))
        return Answer(tuple(fits), told, tuple(search.path), search.untried, final)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """Settings of all fits: the task's, the method's own, and the user's wish."""
        settings = {**self.task.settings, **self.method.settings(self.task)}
        return settings if self.restarts is None else {**settings, "restarts": self.restarts}

    def _plan(self, num_expected: int, budget: Budget) -> Plan:
        plan = self.method.plan(self.task, num_expected)
        if self.task.inference != "auto":
            return plan
        return plan.in_time(budget.seconds, self.task.rows, self._settings)

    def _workshop(self, stage: Stage, race: bool) -> Workshop:
        executor = self.place.executor
        return Workshop(self.data, stage, race, self._settings, self.report, executor)

    def _last_fits(self, plan: Plan, final: Workshop, budget: Budget) -> LastFits:
        slack = plan.slack if self.race else math.inf
        price = self._prices(plan.final, budget, CostModel.go_on)
        if plan.posteriors is None:
            return LastFits(final, slack, price, self.prior)
        own = self._workshop(plan.posteriors, race=False)
        own_price = self._prices(plan.posteriors, budget, CostModel.go_on)
        return LastFits(final, slack, price, self.prior, own, own_price)

    def _prices(
        self, stage: Stage, budget: Budget, price: Callable[[CostModel, T], float]
    ) -> Callable[[T], float]:
        """What the fits of a stage cost, where seconds count."""
        if math.isinf(budget.seconds):
            return all_alike
        return partial(price, CostModel.of(stage, self.task.rows, self._settings))


def failed_warps(fits: Sequence[LocalFit]) -> list[str]:
    """A sentence for each warp under which all candidates failed, with the commonest reason."""
    told = []
    for warp in dict.fromkeys(fit.warp for fit in fits):
        own = [fit for fit in fits if fit.warp == warp]
        if all(fit.status == "failed" for fit in own):
            reason, num = Counter(fit.reason for fit in own).most_common(1)[0]
            told.append(
                f"No candidate could be fitted under the warp '{warp.name}', which takes no part: "
                f"{len(own)} failed, {num} of them for this reason: {reason}"
            )
    return told


def not_converged(fits: Sequence[LocalFit]) -> str:
    """A sentence about candidates near the best whose bounds could still rise, or nothing."""
    fitted = [fit for fit in fits if fit.status == "fitted"]
    best = max((fit.log_evidence() for fit in fitted), default=0.0)
    names = [
        f"'{fit.expression}'{of_warp(fit.warp)}"
        for fit in fitted
        if not fit.converged and fit.log_evidence() > best - NEAR
    ]
    if not names:
        return ""
    have = "has" if len(names) == 1 else "have"
    return (
        f"{', '.join(names)} {have} not converged: the bound could be higher with more steps, and "
        "so could the probability."
    )


def _used(plan: Plan, fits: Sequence[LocalFit], num_rows: int) -> Plan:
    """The plan as far as it was carried out."""
    last = [fit for fit in fits if fit.bound == plan.final.bound and fit.num_rows == num_rows]
    is_final = any(fit.status == "fitted" for fit in last)
    return plan if is_final else Plan(plan.search, plan.search)
