"""What is chosen where a setting of fits is left open, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gpflow

from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity
from vbks.errors import DataError
from vbks.execution.memory import memory_limit
from vbks.inference.context import WORK_ARRAYS, FitContext
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.result import Bound
from vbks.inference.settings import FitSettings, Inference
from vbks.kernels.precision import check_precision
from vbks.policies import ChoicePolicy

EVALUATIONS = 200
"""Evaluations of a candidate over all of its starts, roughly, by which costs are estimated."""

SECONDS_PER_PRODUCT = 1e-10
"""Seconds of one multiplication in products and factors of matrices, on two cores; a rough
figure."""

SECONDS_PER_ELEMENT = 2e-8
"""Seconds of one number in a kernel matrix with its gradient."""

NOISE_FLOOR = 1e-8
"""Least noise variance of exact fits, in units of the variance of standardised targets. Without it
the evidence of targets without noise has no limit as their noise falls. Factors of 64-bit numbers
lose about N·1e-16 of the largest variance, and curvatures by differences a further 1e4 of that."""

AS_ASKED = "as asked for."
"""Why a bound was taken that is no choice of ours."""

NOT_STOCHASTIC = (
    "known noise of each row needs all rows at once, and fits are to be stochastic. Use "
    "inference='collapsed' with fewer inducing points or rows, or leave out noise_variance."
)
"""Why minibatches are refused."""


@dataclass(frozen=True)
class Choice:
    """A bound and why it was taken."""

    bound: Bound
    reason: str


def make_context(
    data: Any,
    num_candidates: int,
    settings: FitSettings | None = None,
    *,
    whole: TrainingData | None = None,
) -> tuple[FitContext, tuple[str, ...]]:
    """Check data, choose what settings leave open, and say so in sentences.

    Where fits are to a part of the rows, ``whole`` are all of them.
    """
    check_precision()
    settings = FitSettings() if settings is None else settings
    model = settings.likelihood
    rows = prepare(data, standardise_targets=model.is_gaussian)
    _check_warp(model, rows)
    check_targets(model, rows)
    limit = memory_limit(settings.memory_limit)
    notices = list(rows.notices)
    M = _num_inducing(rows, settings)
    wanted = settings.num_inducing
    if settings.inducing is None and wanted is not None and wanted > M:
        notices.append(f"{wanted} inducing points are more than the {M} rows: {M} are used.")
    policy = settings.policies.choices
    choice = choose_bound(
        settings.inference, rows, num_candidates, M, model.is_gaussian, limit, policy
    )
    notices.append(f"{choice.bound}: {choice.reason}")
    posterior = settings.posterior
    if posterior == "auto":
        posterior = "point" if choice.bound == "stochastic" else "full"
    usual = NOISE_FLOOR if choice.bound == "exact" else gpflow.config.default_jitter()
    context = FitContext(
        data=rows,
        likelihood=model.at_level(rows.units.y_mean, rows.units.y_scale),
        bound=choice.bound,
        posterior=posterior,
        num_inducing=M,
        batch_size=settings.batch_size or policy.batch_size,
        ascent=settings.ascent,
        restarts=settings.restarts or policy.restarts,
        prior=settings.prior,
        ard=settings.ard,
        jitter=usual if settings.jitter is None else settings.jitter,
        memory=limit,
        seed=settings.seed,
        inducing=settings.inducing,
        whole=whole,
        given=settings.given,
        importance=settings.importance,
        screening=settings.policies.screening,
        starts=settings.policies.starts,
        svgp=settings.policies.svgp,
    )
    return context, tuple(notices)


def bound_of(rows: TrainingData, num_candidates: int, settings: FitSettings) -> Bound:
    """The bound that fits of this number of candidates are made by."""
    M, limit = _num_inducing(rows, settings), memory_limit(settings.memory_limit)
    policy, is_gaussian = settings.policies.choices, settings.likelihood.is_gaussian
    return choose_bound(
        settings.inference, rows, num_candidates, M, is_gaussian, limit, policy
    ).bound


def choose_bound(
    inference: Inference,
    rows: TrainingData,
    num_candidates: int,
    num_inducing: int,
    is_gaussian: bool,
    limit: int,
    policy: ChoicePolicy,
) -> Choice:
    """The bound that was asked for if it is possible, or the tightest that is affordable."""
    N, M = rows.num_rows, num_inducing
    exact, collapsed = N * N, M * (N + M)
    if not is_gaussian:
        if rows.has_known_noise:
            raise DataError("known noise of each row is Gaussian. Leave it or the likelihood out.")
        if inference not in ("auto", "stochastic"):
            raise DataError(
                f"{inference} inference needs Gaussian noise. Use inference='stochastic' or 'auto'."
            )
        return Choice("stochastic", "the noise is not Gaussian.")
    if rows.has_known_noise and inference == "stochastic":
        raise DataError(NOT_STOCHASTIC)
    fits = {"exact": _fits(exact, limit), "collapsed": _fits(collapsed, limit), "stochastic": True}
    if inference != "auto":
        if not fits[inference]:
            raise DataError(
                f"{inference} inference with {N:,} rows does not fit into {limit / 1e9:.1f} GB. "
                "Use inference='stochastic', or raise the memory limit."
            )
        return Choice(inference, AS_ASKED)
    evaluations = num_candidates * EVALUATIONS
    seconds = {
        "exact": evaluations * (SECONDS_PER_PRODUCT * 4 * N**3 + SECONDS_PER_ELEMENT * exact),
        "collapsed": evaluations
        * (SECONDS_PER_PRODUCT * 4 * M * collapsed + SECONDS_PER_ELEMENT * collapsed),
    }
    about = f"{num_candidates} candidates on {N:,} rows"
    if fits["exact"] and seconds["exact"] <= policy.exact_seconds:
        return Choice("exact", f"{about} are few enough.")
    if fits["collapsed"] and seconds["collapsed"] <= policy.collapsed_seconds:
        return Choice("collapsed", _why_not("exact", about, fits, seconds, limit))
    reason = _why_not("collapsed", about, fits, seconds, limit)
    if not rows.has_known_noise:
        return Choice("stochastic", reason)
    if not fits["collapsed"]:
        raise DataError(NOT_STOCHASTIC)
    return Choice("collapsed", "known noise does not go with minibatches.")


def _why_not(
    bound: str, about: str, fits: dict[str, bool], seconds: dict[str, float], limit: int
) -> str:
    if not fits[bound]:
        return f"{bound} fits of {about} do not fit into {limit / 1e9:.1f} GB."
    return f"{bound} fits of {about} would take about {_duration(seconds[bound])}."


def _fits(elements: int, limit: int) -> bool:
    return 8 * WORK_ARRAYS * elements <= limit


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


def _num_inducing(rows: TrainingData, settings: FitSettings) -> int:
    """Inducing points that were asked for, but no more than rows, or as many as is usual."""
    if settings.inducing is not None:
        return len(settings.inducing)
    N, policy = rows.num_rows, settings.policies.choices
    if settings.num_inducing is None:
        usual = min(round(2 * math.sqrt(N)), policy.max_inducing)
        return min(N, max(policy.min_inducing, usual))
    return min(settings.num_inducing, N)


def _check_warp(likelihood: Likelihood, rows: TrainingData) -> None:
    warp = rows.units.warp
    if warp != Identity() and not likelihood.is_gaussian:
        raise DataError(
            f"the targets have the warp '{warp.name}', which goes with Gaussian noise alone, and "
            f"the likelihood is {likelihood.name}. Leave out one of the two."
        )


def check_targets(likelihood: Likelihood, rows: TrainingData) -> None:
    """Refuse targets that the likelihood cannot have drawn, naming the first row."""
    if likelihood.is_gaussian:
        return
    first_row = 1
    for _, y in rows.blocks(65_536):
        likelihood.check_targets(y, first_row)
        first_row += len(y)
