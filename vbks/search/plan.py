"""How candidates are searched, and how the best of them are fitted in the end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from vbks.data.training import TrainingData
from vbks.grammar.expression import Leaf
from vbks.inference.choices import bound_of
from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import Proposal
from vbks.inference.result import Bound, Posterior
from vbks.inference.settings import FitSettings, FitStage
from vbks.policies import SearchPolicy
from vbks.search.cost import CostModel


@dataclass(frozen=True)
class Plan:
    """How candidates are searched, and how the best of them are fitted in the end.

    Those that hold most of the belief then have the q(θ) of ``posteriors``, if there is such a
    stage: it takes as long as their evidence, and predictions need it of these alone.
    """

    search: FitStage
    final: FitStage
    posteriors: FitStage | None = None

    @classmethod
    def of(cls, rows: TrainingData, num_candidates: int, settings: FitSettings) -> Plan:
        """Exact fits where they are quick, at least for the best; else what is possible."""
        N, policy = rows.num_rows, settings.policies.search
        num_inducing, posterior = settings.num_inducing, settings.posterior
        first, last = _bounds(rows, num_candidates, settings)
        some_rows = None
        if first != last and num_inducing is None:
            num_inducing = _search_inducing(N, policy.search_elements)
            if rows.is_in_order:
                first, some_rows = "exact", policy.exact_search_rows
        posteriors = None
        if posterior == "auto":
            posterior = "laplace"
            if policy.exact_search_rows >= N and last == "exact":
                posteriors = FitStage(last, "full", num_inducing)
        # With minibatches q(θ) costs a bound many nats, so that it changes the order of candidates.
        is_looser = posterior in ("full", "diagonal") and first != "stochastic"
        cheap: Posterior = "laplace" if is_looser else posterior
        search = FitStage(first, cheap, num_inducing, num_rows=some_rows)
        samples_theta = (
            posterior != "point" and last != "stochastic" and policy.importance_rows >= N
        )
        final = FitStage(last, posterior, num_inducing, importance=samples_theta)
        return cls(search, final, posteriors)

    def in_time(self, seconds: float, evaluator: Evaluator) -> Plan:
        """The same, but with a search by collapsed fits if there is no time for exact ones."""
        if self.search.bound != "exact" or math.isinf(seconds):
            return self
        policies = evaluator.settings.policies
        quick = replace(self.search, bound="collapsed")
        exact, collapsed = (
            CostModel(evaluator.context(stage)).fit(Proposal(Leaf("SE")))
            for stage in (self.search, quick)
        )
        is_quick = policies.budget.few * exact <= policies.search.expensive_share * seconds
        if is_quick or collapsed > policies.search.quicker_share * exact:
            return self
        return replace(self, search=quick, final=self.final if self.has_final else quick)

    def notice(self, num_rows: int) -> str:
        """Which bounds were used."""
        if self.search.num_rows is not None:
            return (
                f"Candidates were searched by fits to {self.search.num_rows} of {num_rows:,} rows, "
                f"and the best of them by {self.final.bound} ones to all."
            )
        if self.search.bound == self.final.bound:
            return f"Fits to {num_rows:,} rows are {self.final.bound}."
        return (
            f"Candidates were searched by {self.search.bound} fits to {num_rows:,} rows, and the "
            f"best of them by {self.final.bound} ones."
        )

    @property
    def has_final(self) -> bool:
        """Whether the best are fitted again after the search."""
        return self.final != self.search

    def slack(self, policy: SearchPolicy) -> float:
        """How many nats a candidate may gain on the best by its final fit, as far as is known."""
        is_same = self.search.bound == self.final.bound and self.search.num_rows is None
        return policy.slack if is_same else policy.other_bound_slack


def _search_inducing(N: int, elements: int) -> int:
    """Inducing points M with M(M + N) elements in kernel matrices, but not fewer than the usual."""
    affordable = 0.5 * (math.sqrt(N**2 + 4 * elements) - N)
    return min(N, round(max(affordable, 2.0 * math.sqrt(N))))


def _bounds(rows: TrainingData, num_candidates: int, settings: FitSettings) -> tuple[Bound, Bound]:
    """The bound of a search, and that of its final fits."""
    if settings.inference == "auto" and settings.likelihood.is_gaussian:
        policy = settings.policies.search
        if rows.num_rows <= policy.exact_search_rows:
            return "exact", "exact"
        if rows.num_rows <= policy.exact_final_rows:
            return "collapsed", "exact"
    bound = bound_of(rows, num_candidates, settings)
    return bound, bound
