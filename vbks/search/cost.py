"""What fits cost, roughly, before any of them was made."""

from __future__ import annotations

from dataclasses import dataclass

from vbks.grammar.expression import Expression, leaves, num_leaves
from vbks.inference.context import FitContext
from vbks.inference.optim.halving import Schedule
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.inference.rungs import screening_plan
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.registry import family_of

SECONDS_PER_EVALUATION = 1e-3
"""Seconds of an evaluation of one start of a candidate, beside its matrices; like all figures here,
measured on one core."""

SECONDS_PER_PRODUCT = 9e-11
"""Seconds per N³ of an exact evaluation with its gradient."""

SECONDS_PER_EXACT_ELEMENT = 2e-8
"""Seconds per element of the N × N matrix of an exact evaluation with its gradient."""

SECONDS_PER_ELEMENT = 7e-8
"""Seconds per element of the M × (M + N) matrices of a collapsed evaluation with its gradient."""

LEAF_SHARE = 0.12
"""What another leaf adds to the cost of elements."""

SECONDS_PER_SLOW_ELEMENT = 1.3e-7
"""Seconds per matrix element that a leaf adds which has no fast path, but only a formula or a
GPflow kernel."""

CLIMB_SHARE = 0.3
"""Share of the evaluations of a climb that each leaf needs to converge, up to all of them."""

AGAIN_EVALUATIONS = 45
"""Evaluations of a candidate that goes on from an earlier fit, with those of its curvature."""

BOUND_EVALUATIONS = 160
"""Evaluations that a bound with q(θ) adds for each leaf."""

VALUE_SHARE = 0.4
"""Cost of an evaluation without gradient, of which importance sampling has many."""

ROUNDS = 15
"""Rounds of a stochastic fit, the last passes counted as some."""


def all_alike(candidate: object) -> float:
    """The cost where nothing is known: one second."""
    return 1.0


@dataclass(frozen=True)
class CostModel:
    """Costs of the fits of one stage, in seconds of one core of the machine they were measured on.

    They need not be right, as the pace is learnt, but right in relation to each other.
    """

    context: FitContext

    def fit(self, proposal: Proposal) -> float:
        """The cost of a new fit; more waves have more starts, and a child has fewer."""
        num_looks = self._look_evaluations(proposal)
        look = num_looks * self._look_evaluation(proposal.expression)
        return look + self._climb(proposal.expression)

    def go_on(self, fit: LocalFit) -> float:
        """The cost of going on from an earlier fit."""
        if self.context.bound == "stochastic":
            return self._climb(fit.expression)
        evaluations = AGAIN_EVALUATIONS + self._bound_evaluations(fit.expression)
        values = VALUE_SHARE * self.context.num_importance_samples
        return (evaluations + values) * self._evaluation(fit.expression)

    def _look_evaluations(self, proposal: Proposal) -> int:
        own = proposal.parent
        parent = None if own is None else self._layout(own.expression)
        layout = self._layout(proposal.expression)
        rungs = self.context.screening.rungs
        rung = [rung for rung in rungs if rung.rows == "screening"][-1]
        starts, schedule = screening_plan(layout, self.context, rung, parent)
        return _num_evaluations(starts, schedule, rung.evaluations)

    def _layout(self, expression: Expression) -> Layout:
        return lay_out(expression, self.context.num_inputs, self.context.ard)

    def _look_evaluation(self, expression: Expression) -> float:
        """One evaluation of a look, which is cheaper than one of a fit where that is expensive."""
        if self.context.screens_all_rows:
            return self._evaluation(expression)
        if self.context.screens_exactly:
            return _exact(self.context.num_screening_rows, expression)
        is_stochastic = self.context.bound == "stochastic"
        policy = self.context.screening
        M = policy.screening_inducing
        smallest = M * (M + policy.screening_rows)
        return _collapsed(smallest if is_stochastic else policy.screening_elements, expression)

    def _climb(self, expression: Expression) -> float:
        """What follows the look."""
        if self.context.bound == "stochastic" and not self.context.is_small:
            elements = 2 * self.context.svgp.rows_per_inducing * self.context.num_inducing**2
            return ROUNDS * _collapsed(elements, expression)
        last = self.context.screening.rungs[-1]
        share = min(1.0, CLIMB_SHARE * num_leaves(expression))
        evaluations = share * _num_evaluations(
            self.context.screening.screened_starts, last.schedule, last.evaluations
        )
        evaluations += self._bound_evaluations(expression)
        return evaluations * self._evaluation(expression)

    def _bound_evaluations(self, expression: Expression) -> int:
        """What q(θ) adds where it is part of the bound."""
        return BOUND_EVALUATIONS * num_leaves(expression) * self.context.bounds_theta

    def _evaluation(self, expression: Expression) -> float:
        """One evaluation of an exact or collapsed fit from one start."""
        N, M = self.context.num_rows, self.context.num_inducing
        if self.context.bound != "exact":
            return _collapsed(M * (M + N), expression)
        return _exact(N, expression)


def _exact(num_rows: int, expression: Expression) -> float:
    """One exact evaluation of ``num_rows`` rows."""
    elements = num_rows**2 * _per_element(expression, SECONDS_PER_EXACT_ELEMENT)
    return SECONDS_PER_EVALUATION + SECONDS_PER_PRODUCT * num_rows**3 + elements


def _collapsed(elements: int, expression: Expression) -> float:
    """One collapsed evaluation with ``elements`` numbers in its kernel matrices."""
    return SECONDS_PER_EVALUATION + elements * _per_element(expression, SECONDS_PER_ELEMENT)


def _per_element(expression: Expression, of_one_leaf: float) -> float:
    """Seconds of a number in kernel matrices, from those if there is a single quick leaf."""
    own = leaves(expression)
    num_slow = sum(family_of(leaf.family).evaluation_path in ("formula", "opaque") for leaf in own)
    quick = of_one_leaf * (1.0 + LEAF_SHARE * (len(own) - 1))
    return quick + SECONDS_PER_SLOW_ELEMENT * num_slow


def _num_evaluations(starts: int, schedule: Schedule, most: int) -> int:
    """Evaluations of all starts together, of which fewer and fewer go on."""
    total, before = 0, 0
    for evaluations, left in (*schedule, (most, 0)):
        total += starts * (evaluations - before)
        before, starts = evaluations, min(starts, left)
    return total
