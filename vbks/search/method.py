"""What a way of choosing kernels consists of."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeVar

from vbks.errors import GrammarError
from vbks.execution.run_context import RunContext
from vbks.inference.evaluator import Evaluator, FollowUp
from vbks.inference.proposal import Proposal, pairs_of
from vbks.inference.result import Bound, Correction, LocalFit, Posterior
from vbks.inference.settings import FitSettings, FitStage
from vbks.kernels.bank.bank import num_traces
from vbks.progress import Progress
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.cost import CostModel, all_alike
from vbks.search.final_fits import FinalFits
from vbks.search.plan import Plan
from vbks.search.problem import SearchProblem
from vbks.search.protocol import Strategy
from vbks.search.runner import SearchRunner
from vbks.weights.prior import KernelPrior
from vbks.weights.settings import BeliefSettings

T = TypeVar("T", Proposal, LocalFit)


@dataclass(frozen=True)
class Method(ABC):
    """A way of choosing kernels; ``criterion`` is what it judges candidates by."""

    criterion: Correction = "laplace"

    name: ClassVar[str]
    """What it is called in `vbks.fit`."""

    forms_belief: ClassVar[bool] = False
    """Whether the answer is a belief over all kernels, under all warps that the data allow.

    The answer of others is the one kernel that they choose.
    """

    needs_upper_bounds: ClassVar[bool] = False
    """Whether likelihoods are bounded from above, which known noise does not go with."""

    @abstractmethod
    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """The search; ``evaluator`` has the contexts of fits, for who needs their priors."""

    @abstractmethod
    def plan(self, problem: SearchProblem, num_expected: int) -> Plan:
        """How candidates are fitted, in the search and at the end of it."""

    def settings(self, problem: SearchProblem) -> FitSettings:
        """The settings of fits, with what the method has of its own."""
        return problem.settings

    def follow_ups(self) -> tuple[FollowUp, ...]:
        """What is found out about fits of the search beside their bounds."""
        return ()

    def budget(self, problem: SearchProblem) -> Budget:
        """How long it goes on if nobody says: until it ends by itself."""
        return Budget()

    def default_belief(self, asked: BeliefSettings) -> BeliefSettings:
        """The belief if nobody names one: all of it is in the kernel that is chosen.

        ``asked`` is how a belief over all kernels would be formed.
        """
        return BeliefSettings(
            "bayes", correction=self.criterion, max_candidates=1, weights="belief"
        )

    @property
    def runner_type(self) -> type[SearchRunner]:
        """What runs the search."""
        return SearchRunner

    def runner(
        self,
        problem: SearchProblem,
        budget: Budget | None,
        run: RunContext,
        report: Progress,
        prior: KernelPrior = "uniform",
    ) -> SearchRunner:
        """The search and the final fits, ready to run; ``prior`` says who could matter in these."""
        asked = replace(problem.settings, memory_limit=run.memory)
        wanted = budget or self.budget(replace(problem, settings=asked))
        policies = asked.policies.within(wanted.seconds)
        problem = replace(problem, settings=replace(asked, policies=policies))
        settings = self.settings(problem)
        usual = settings.policies.choices.restarts_for(problem.rows.num_rows)
        settings = replace(settings, restarts=settings.restarts or usual)
        evaluator = Evaluator(problem.data, settings, self.follow_ups(), report, run.executor)
        strategy = self.strategy(problem, evaluator)
        plan = self.plan(problem, strategy.num_expected)
        if settings.inference == "auto":
            plan = plan.in_time(wanted.seconds, evaluator)

        def costs(stage: FitStage, cost: Callable[[CostModel, T], float]) -> Callable[[T], float]:
            """What the fits of a stage cost, where seconds count."""
            if math.isinf(wanted.seconds):
                return all_alike
            return partial(cost, CostModel(evaluator.context(stage)))

        final = None
        if plan.has_final:
            own = plan.posteriors or plan.final
            final = FinalFits(
                evaluator, plan.final,
                plan.slack(settings.policies.search) if settings.prune else math.inf,
                costs(plan.final, CostModel.go_on), prior,
                plan.posteriors, costs(own, CostModel.go_on), settings.policies.search,
            )  # fmt: skip
        expected = strategy.num_expected if strategy.is_finite else math.inf
        candidates = min(wanted.candidates, expected)
        report.goal(wanted.seconds, candidates, time.perf_counter() - run.clock())
        log = run.decision_log((wanted.seconds, wanted.candidates))
        tracker = BudgetTracker(
            wanted, 0.0, run.clock,
            startup=settings.policies.budget.graph_cost * (num_traces() == 0),
            decide=partial(log.decide, "search"), policy=settings.policies.budget,
        )  # fmt: skip
        return self.runner_type(
            strategy, evaluator, plan, tracker, self.criterion,
            costs(plan.search, CostModel.fit), final,
            pairs_of(problem.space or (), problem.warps[:1]),
            is_patient=budget is None, decide_final=partial(log.decide, "final"),
        )  # fmt: skip


def one_stage(problem: SearchProblem, bound: Bound) -> Plan:
    """All candidates fitted alike, by this bound unless the user asks for another."""
    own = problem.settings
    chosen: Bound = bound if own.inference == "auto" else own.inference
    posterior: Posterior = "point" if own.posterior == "auto" else own.posterior
    stage = FitStage(chosen, posterior, own.num_inducing)
    return Plan(stage, stage)


def refuse_space(method: Method, problem: SearchProblem) -> None:
    """Refuse a fixed space where a method makes its own candidates."""
    if problem.space is not None:
        raise GrammarError(
            f"method '{method.name}' makes its own candidates, but a space is given. Leave out "
            "space=, or give families= to search in."
        )
