"""Fits as in the VBKS paper, from starts to local ELBOs: minibatches of all candidates together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.linalg import solve_triangular

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.execution.stage_state import NO_STAGE_STATE, StageState
from vbks.grammar.expression import Expression
from vbks.inference.context import FitContext
from vbks.inference.inducing import authors_inducing
from vbks.inference.paper.group import AT_ONCE, Group, prior_factors
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.state import START_SD, CandidateState, EarlierFit, Learned, begun
from vbks.inference.result import InducingPosterior, LocalFit, Mode
from vbks.inference.screening import ScreeningPolicy
from vbks.kernels.bank.bank import Bank
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.given import GivenValues
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.parts import parts_of
from vbks.kernels.priors import Priors
from vbks.kernels.starts.starts import candidate_rng, draw_starts

LAST_SHARE = 0.1
"""The bounds of this share of the steps at the end are compared with those of as many steps before,
to tell whether training has settled: a tolerance, like `RISE`."""

RISE = 1.0
"""Training has not settled if the mean bound of the last steps is higher by more nats than this,
plus two standard errors, than that of as many steps before."""


NOT_BATCHED = "its kernel cannot be batched, which training on minibatches needs."
"""Why a kernel that is known only as a GPflow object fails."""


def inducing_inputs(
    data: TrainingData,
    num: int,
    rng: np.random.Generator,
    num_rows: int = ScreeningPolicy.summary_rows,
) -> Array:
    """Fixed inducing inputs [M, D] as the authors choose them, several inputs among some."""
    if data.num_inputs > 1:
        return authors_inducing(data.sample(num_rows, rng)[0], num, rng)
    inputs = np.concatenate([X for X, _ in data.blocks(num_rows)])
    return authors_inducing(inputs, num, rng)


def starts(
    expressions: Sequence[Expression],
    context: FitContext,
    num: int = 1,
    valued: Collection[Expression] = (),
) -> dict[Expression, Array]:
    """θ [S, H] from which candidates start: as the data suggest, with lines through zero.

    Those that are ``valued`` have a first start that was given with them.
    """
    found = {}
    for expression in expressions:
        layout = lay_out(expression, context.num_inputs, context.ard)
        rng = candidate_rng(context.seed, expression)
        drawn = draw_starts(layout, context.summaries, num, rng, policy=context.starts)
        given = context.given.get(expression)
        if given is not None and expression in valued:
            drawn[0] = given.theta
        found[expression] = drawn if given is None else given.hold(drawn)
    return found


def with_lines_through_zero(
    expressions: Sequence[Expression], given: Mapping[Expression, GivenValues], num_inputs: int
) -> dict[Expression, GivenValues]:
    """What is held: the zeros of lines, which are those of the standardised inputs."""
    held = dict(given)
    for expression in expressions:
        layout = lay_out(expression, num_inputs, ard=False)
        zeros = _zeros_of_lines(layout)
        if zeros and expression not in held:
            theta = layout.prior_mean.copy()
            theta[list(zeros)] = 0.0
            held[expression] = GivenValues(tuple(map(float, theta)), zeros)
    return held


def _zeros_of_lines(layout: Layout) -> tuple[int, ...]:
    slots = [
        slot
        for part in parts_of(layout.root)
        for slot in part.node.slots.get("location", ())
        if layout.slots[slot].parameter.role == "location"
    ]
    return tuple(sorted(slots))


def first_states(thetas: Mapping[Expression, Array], context: FitContext) -> list[CandidateState]:
    """Candidates before their first step: q(u) is p(u) at the start, q(θ) narrow around it.

    A candidate with several starts is there once for each.
    """
    found = [_first_states(e, own, context) for e, own in thetas.items()]
    return [state for group in found for state in group]


def _first_states(
    expression: Expression, thetas: Array, context: FitContext
) -> list[CandidateState]:
    """One candidate before its first step, from each of its starts [S, H]."""
    D, M = context.num_inputs, len(context.Z)
    layout, given = lay_out(expression, D, context.ard), context.given.get(expression)
    is_batched = is_batchable(expression, D)
    roots = np.zeros((len(thetas), M, M))
    if is_batched:
        bank = Bank([expression] * len(thetas), D, ard=context.ard)
        roots = prior_factors(bank, thetas, context.Z, [context.jitter] * len(thetas))
    spread = _first_spread(len(layout), context)
    states = [
        begun(
            expression,
            layout,
            () if given is None else given.fixed,
            context.jitter,
            Learned(np.zeros(M), np.tril(root), theta, spread),
        )
        for theta, root in zip(thetas, roots, strict=True)
    ]
    return states if is_batched else [state.failed(NOT_BATCHED) for state in states]


def _first_spread(num_slots: int, context: FitContext) -> Array:
    """What the factor of q(θ) is made of in the beginning."""
    if context.posterior == "diagonal":
        return np.asarray(np.log(np.expm1(START_SD)) * np.eye(num_slots))
    return START_SD * np.eye(num_slots)


def train(
    members: Sequence[CandidateState],
    context: FitContext,
    settings: PaperSettings,
    num_steps: int,
    stage_state: StageState = NO_STAGE_STATE,
) -> list[CandidateState]:
    """The members after ``num_steps`` more steps, with their local ELBOs."""
    group = Group(members, context, settings)
    end = group.steps + num_steps
    kept = stage_state.read()
    if kept is not None:
        group.restore(kept)
    batches = context.data.minibatches(context.batch_size, context.seed)
    next(islice(batches, group.steps, group.steps), None)
    while group.steps < end:
        group.take(min(AT_ONCE, end - group.steps), batches)
        stage_state.keep(group.state)
    return group.evaluated()


def failed_state(member: CandidateState, context: FitContext, reason: str) -> CandidateState:
    """A candidate that training broke on."""
    return member.failed(reason)


def local_fits(
    states: Sequence[CandidateState], context: FitContext, num_rows: int
) -> list[LocalFit]:
    """Fits of trained candidates; one without a finite bound has failed."""
    return [_local_fit(state, context, num_rows) for state in states]


def _local_fit(state: CandidateState, context: FitContext, num_rows: int) -> LocalFit:
    fit = LocalFit(
        expression=state.expression,
        num_inputs=context.num_inputs,
        num_rows=num_rows,
        bound="stochastic",
        posterior=context.posterior,
        num_free=num_free_parameters(
            state.expression, context.num_inputs, context.ard, state.fixed
        ),
        fixed=state.fixed,
        inducing=context.Z,
        jitter=state.jitter,
        ard=context.ard,
        restarts=1,
        seconds=state.seconds,
        warp=context.data.units.warp,
    )
    whitened = None if state.reason else _whitened(state, context)
    if whitened is None or not np.isfinite(state.elbo):
        reason = state.reason or (
            f"no finite bound after {state.steps} steps, of which {state.num_skipped} had no "
            "finite gradient and were not taken."
        )
        return replace(fit, status="failed", reason=reason)
    return replace(
        fit,
        elbo=state.elbo,
        standard_error=state.standard_error,
        modes=(_mode(state, context),),
        q_u=whitened,
        converged=_has_settled(state.values),
    )


def _whitened(state: CandidateState, context: FitContext) -> InducingPosterior | None:
    """q(u) in the coordinates v = L⁻¹u at the mean of q(θ), in which fits keep it."""
    bank = Bank([state.expression], context.num_inputs, ard=context.ard)
    theta = state.learned.theta[np.newaxis]
    (L,) = prior_factors(bank, theta, context.Z, [state.jitter])
    parts = (L, state.learned.mean, state.learned.root)
    if not all(np.isfinite(part).all() for part in parts):
        return None
    root = solve_triangular(L, np.tril(state.learned.root), lower=True)
    mean = solve_triangular(L, state.learned.mean, lower=True)
    return InducingPosterior(mean, root @ root.T)


def _mode(state: CandidateState, context: FitContext) -> Mode:
    """q(θ), with the bound at its mean. A point has no volume, so that nothing corrects it."""
    H, learned = len(state.layout), state.learned
    free = [k for k in range(H) if k not in state.fixed]
    priors = Priors([context.prior_of(state.layout)], H)
    log_prior, _ = priors.log_density(np.zeros(1, np.intp), learned.theta[np.newaxis])
    factor, log_volume = np.zeros((H, H)), np.nan
    if context.posterior != "point":
        factor[np.ix_(free, free)] = theta_factor(learned.spread, context)[np.ix_(free, free)]
        diagonal = np.abs(np.diag(factor))[free]
        log_volume = float(np.sum(np.log(diagonal)) + 0.5 * len(free) * np.log(2.0 * np.pi))
    values = (state.log_likelihood, float(log_prior[0]), log_volume, state.elbo)
    return Mode(learned.theta, factor, 1.0, *values)


def theta_factor(spread: Array, context: FitContext) -> Array:
    """C [H, H] of what it is made of."""
    if context.posterior == "diagonal":
        return np.diag(np.log1p(np.exp(np.diag(spread))))
    return np.tril(spread)


def _has_settled(values: Array) -> bool:
    """Whether the bounds of the last steps are no higher than those of as many before them."""
    size = max(2, int(LAST_SHARE * len(values)))
    last, before = values[-size:], values[-2 * size : -size]
    if len(before) < 2 or not np.isfinite([*last, *before]).all():
        return False
    error = np.sqrt((last.var(ddof=1) + before.var(ddof=1)) / size)
    return bool(last.mean() - before.mean() < RISE + 2.0 * error)


def earlier_states(fits: Sequence[LocalFit], context: FitContext) -> list[CandidateState]:
    """Candidates that go on from fits to rows which are not looked at again."""
    states = []
    for fit in fits:
        layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
        bank = Bank([fit.expression], fit.num_inputs, ard=fit.ard)
        (L,) = prior_factors(bank, fit.theta[np.newaxis], context.Z, [fit.jitter])
        assert fit.q_u is not None
        mode = fit.modes[0]
        mean, root = L @ fit.q_u.mean, L @ np.linalg.cholesky(fit.q_u.covariance)
        learned = Learned(mean, root, fit.theta, _spread_of(mode.factor, context))
        before = EarlierFit(mean, root, fit.theta, mode.factor, fit.elbo, mode.log_likelihood)
        states.append(begun(fit.expression, layout, fit.fixed, fit.jitter, learned, before))
    return states


def _spread_of(factor: Array, context: FitContext) -> Array:
    """What a factor of q(θ) is made of."""
    if context.posterior != "diagonal":
        return np.asarray(factor)
    sd = np.diag(factor)
    return np.diag(np.log(np.expm1(np.where(sd > 0, sd, START_SD))))
