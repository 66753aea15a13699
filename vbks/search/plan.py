"""How candidates are searched, and how the best of them are fitted in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from vbks.data.training import TrainingData
from vbks.grammar.expression import Leaf
from vbks.inference.proposal import Proposal
from vbks.inference.result import Bound, Posterior
from vbks.inference.settings import Inference, compare
from vbks.inference.workshop import Stage
from vbks.search.budget import FEW
from vbks.search.cost import CostModel

EXACT_SEARCH_ROWS = 300
"""Rows up to which all candidates are fitted exactly, and with full q(θ) in the end: a few tenths
of a second for each. Of more rows along one input a search takes as many, in runs."""

EXACT_FINAL_ROWS = 2000
"""Rows up to which those that remain are fitted exactly: some seconds for each."""

SEARCH_ELEMENTS = 45_000
"""Numbers in the kernel matrices of one candidate of a search that is not exact: about a second
for each."""

IMPORTANCE_ROWS = 1000
"""Rows up to which evidences of the last fits are by importance sampling: some seconds for each.
With more, q(θ) is close to Gaussian, and Laplace's approximation close to the evidence."""

SLACK = 3.0
"""Nats that a candidate may gain on the best by its last fit, before any of these was made, if both
fits have the same bound: Laplace's approximation is off by that in one of thirty cases."""

OTHER_BOUND_SLACK = 20.0
"""Nats that a candidate may gain on the best by its last fit if that has a tighter bound or more
rows than the search: the order of candidates may then be another."""

DEAR_SHARE = 0.5
"""Share of a budget in seconds above which exact fits of a few candidates are too expensive, if
collapsed ones take at most `QUICKER` of their time."""

QUICKER = 0.5
"""Collapsed fits replace exact ones that are too expensive only if they take no more than this
share of their time."""


@dataclass(frozen=True)
class Plan:
    """How candidates are searched, and how the best of them are fitted in the end.

    Those that hold most of the belief then have the q(θ) of ``posteriors``, if there is such a
    stage: it takes as long as their evidence, and predictions need it of these alone.
    """

    search: Stage
    final: Stage
    posteriors: Stage | None = None

    @classmethod
    def of(
        cls,
        rows: TrainingData,
        num_candidates: int,
        inference: Inference,
        posterior: Posterior | Literal["auto"],
        num_inducing: int | None,
        settings: Mapping[str, Any],
    ) -> Plan:
        """Exact fits where they are quick, at least for the best; else what is possible."""
        N = rows.num_rows
        first, last = _bounds(rows, num_candidates, inference, num_inducing, settings)
        some_rows = None
        if first != last and num_inducing is None:
            num_inducing = _search_inducing(N)
            if rows.is_in_order:
                first, some_rows = "exact", EXACT_SEARCH_ROWS
        posteriors = None
        if posterior == "auto":
            posterior = "laplace"
            if N <= EXACT_SEARCH_ROWS and last == "exact":
                posteriors = Stage(last, "full", num_inducing)
        # With minibatches q(θ) costs a bound many nats, so that it changes the order of candidates.
        is_looser = posterior in ("full", "diagonal") and first != "stochastic"
        cheap: Posterior = "laplace" if is_looser else posterior
        search = Stage(first, cheap, num_inducing, num_rows=some_rows)
        samples_theta = posterior != "point" and last != "stochastic" and N <= IMPORTANCE_ROWS
        final = Stage(last, posterior, num_inducing, importance=samples_theta)
        return cls(search, final, posteriors)

    def in_time(self, seconds: float, rows: TrainingData, settings: Mapping[str, Any]) -> Plan:
        """The same, but with a search by collapsed fits if there is no time for exact ones."""
        if self.search.bound != "exact" or math.isinf(seconds):
            return self
        quick = replace(self.search, bound="collapsed")
        exact, collapsed = (
            CostModel.of(stage, rows, settings).fit(Proposal(Leaf("SE")))
            for stage in (self.search, quick)
        )
        if FEW * exact <= DEAR_SHARE * seconds or collapsed > QUICKER * exact:
            return self
        return replace(self, search=quick, final=self.final if self.has_last else quick)

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
    def has_last(self) -> bool:
        """Whether the best are fitted again after the search."""
        return self.final != self.search

    @property
    def slack(self) -> float:
        """How many nats a candidate may gain on the best by its last fit, as far as is known."""
        is_same = self.search.bound == self.final.bound and self.search.num_rows is None
        return SLACK if is_same else OTHER_BOUND_SLACK


def _search_inducing(N: int) -> int:
    """Inducing points M with M(M + N) numbers in kernel matrices, but not fewer than the usual."""
    affordable = 0.5 * (math.sqrt(N**2 + 4 * SEARCH_ELEMENTS) - N)
    return min(N, round(max(affordable, 2.0 * math.sqrt(N))))


def _bounds(
    rows: TrainingData,
    num_candidates: int,
    inference: Inference,
    num_inducing: int | None,
    settings: Mapping[str, Any],
) -> tuple[Bound, Bound]:
    if inference == "auto" and settings["likelihood"].is_gaussian:
        if rows.num_rows <= EXACT_SEARCH_ROWS:
            return "exact", "exact"
        if rows.num_rows <= EXACT_FINAL_ROWS:
            return "collapsed", "exact"
    comparison, _ = compare(
        rows, num_candidates, inference=inference, num_inducing=num_inducing, **settings
    )
    return comparison.bound, comparison.bound
