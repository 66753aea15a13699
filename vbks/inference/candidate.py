"""A candidate on its way through the stages of a fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vbks.arrays import Array
from vbks.grammar.expression import Expression, leaves
from vbks.inference.context import FitContext
from vbks.inference.result import LocalFit, Mode, PruningStep
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.given import GivenValues
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.starts.inheritance import Parent


@dataclass(frozen=True, eq=False)
class Candidate:
    """An expression with the best θ so far [S, H], best first, and their log posteriors [S].

    ``factor`` [H, H] is that of q(θ), where it was found already; ``has_begun`` says that
    θ comes from an earlier fit. ``given`` are values of θ to hold and to start from.
    """

    expression: Expression
    layout: Layout
    jitter: float
    parent: Parent | None = None
    thetas: Array = field(default_factory=lambda: np.zeros((0, 0)))
    values: Array = field(default_factory=lambda: np.zeros(0))
    factor: Array = field(default_factory=lambda: np.zeros((0, 0)))
    restarts: int = 0
    converged: bool = False
    seconds: float = 0.0
    pruning: tuple[PruningStep, ...] = ()
    reason: str = ""
    has_begun: bool = False
    given: GivenValues | None = None

    @property
    def best(self) -> float:
        """The highest log posterior so far."""
        return float(self.values[0]) if len(self.values) else -np.inf

    @property
    def fixed(self) -> tuple[int, ...]:
        """The slots whose values are held."""
        return () if self.given is None else self.given.fixed

    @property
    def num_free(self) -> int:
        """Parameters that data can determine, noise included."""
        layout = self.layout
        return num_free_parameters(self.expression, layout.num_inputs, layout.ard, self.fixed)

    @property
    def is_going(self) -> bool:
        """Whether the candidate has neither failed nor been pruned."""
        return not self.reason and all(step.went_on for step in self.pruning)

    def joined(self, other: Candidate) -> Candidate:
        """With the optima of both, best first, of which another screening has found some."""
        order = np.argsort(-np.concatenate([self.values, other.values]), kind="stable")
        return replace(
            self,
            thetas=np.concatenate([self.thetas, other.thetas])[order],
            values=np.concatenate([self.values, other.values])[order],
            converged=self.converged if order[0] < len(self.values) else other.converged,
            seconds=self.seconds + other.seconds,
        )

    def failed(self, reason: str) -> Candidate:
        """The same, given up."""
        return replace(self, reason=reason, values=np.zeros(0), thetas=np.zeros((0, 0)))


def make_candidate(
    expression: Expression,
    context: FitContext,
    parent: Parent | None = None,
    earlier: LocalFit | None = None,
) -> Candidate:
    """A candidate before any work, or where an earlier fit of it has ended."""
    layout = lay_out(expression, context.num_inputs, context.ard)
    candidate = Candidate(
        expression, layout, context.jitter, parent, given=context.given.get(expression)
    )
    if earlier is not None and earlier.modes:
        modes = earlier.modes[: context.screening.earlier_modes]
        candidate = replace(
            candidate,
            thetas=np.stack([mode.mean for mode in modes]),
            values=np.array([mode.log_likelihood + mode.log_prior for mode in modes]),
            restarts=earlier.restarts,
            has_begun=True,
        )
    has_noise = any(leaf.family == "WN" for leaf in leaves(expression))
    if has_noise and not context.likelihood.is_gaussian:
        return candidate.failed(
            f"white noise is Gaussian, which does not go with {context.likelihood.name}."
        )
    return candidate


def given_by(fits: Iterable[LocalFit]) -> dict[Expression, GivenValues]:
    """What earlier fits have held, for others that go on from them."""
    return {
        fit.expression: GivenValues(tuple(map(float, fit.theta)), fit.fixed)
        for fit in fits
        if fit.fixed
    }


def final_start(candidate: Candidate, context: FitContext) -> Array:
    """θ [H] from which a stochastic fit starts: the best so far."""
    best = candidate.thetas[0]
    return best if candidate.has_begun else context.final_theta(best)


def local_fit(candidate: Candidate, context: FitContext) -> LocalFit:
    """A LocalFit with what the candidate and the context know."""
    inducing = None if context.bound == "exact" else context.Z
    return LocalFit(
        expression=candidate.expression,
        num_inputs=context.num_inputs,
        num_rows=context.num_rows,
        bound=context.bound,
        posterior=context.posterior,
        num_free=candidate.num_free - (not context.likelihood.has_parameter),
        fixed=candidate.fixed,
        inducing=inducing,
        jitter=candidate.jitter,
        ard=context.ard,
        converged=candidate.converged,
        restarts=candidate.restarts,
        seconds=candidate.seconds,
        pruning=candidate.pruning,
        warp=context.data.units.warp,
        log_jacobian=context.data.log_jacobian,
    )


def failed_fit(candidate: Candidate, context: FitContext, reason: str) -> LocalFit:
    """The fit of a candidate that was given up."""
    return replace(local_fit(candidate, context), status="failed", reason=reason)


def unfinished(candidate: Candidate, context: FitContext) -> LocalFit:
    """The fit of a candidate that failed, or was pruned with the value it had."""
    if candidate.reason:
        return failed_fit(candidate, context, candidate.reason)
    last = candidate.pruning[-1]
    num_rows = context.num_rows_of(context.screening.rung(last.stage))
    at_some = num_rows < context.num_rows
    stage = f"{last.stage} at {num_rows} rows" if at_some else last.stage
    mode = Mode(
        candidate.thetas[0], np.zeros((len(candidate.layout),) * 2), 1.0, np.nan, np.nan, np.nan
    )
    return replace(
        local_fit(candidate, context),
        status="dropped",
        reason=f"{last.best - last.value:.0f} nats behind the best after the {stage}",
        num_rows=num_rows,
        elbo=last.value,
        modes=(mode,),
    )


def stacked(arrays: Sequence[Array], num_slots: int) -> Array:
    """Rows of θ of different lengths as one matrix, filled up with zeros."""
    result = np.zeros((len(arrays), num_slots))
    for row, array in enumerate(arrays):
        result[row, : len(array)] = array
    return result
