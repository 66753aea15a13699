"""The end of exact and collapsed fits: posteriors of θ around the modes that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.arrays import Array, Rows
from vbks.inference.approximations.laplace import Laplace, approximate
from vbks.inference.approximations.variational import Gaussians, maximise_bound
from vbks.inference.candidate import Candidate, failed_fit, local_fit, stacked
from vbks.inference.context import FitContext
from vbks.inference.evidences import with_evidences
from vbks.inference.objectives.log_posterior import LogPosterior
from vbks.inference.optimise import given_up, highest_jitter, optimise_from, with_more_jitter
from vbks.inference.result import LocalFit, Mode, weighted
from vbks.inference.screening import ScreeningPolicy
from vbks.inference.seeds import Seed

CONVERGED_GAIN = 0.1
"""A fit has converged if a step of Newton's method would gain fewer nats than this: a tolerance."""


def finalise(chunk: Sequence[Candidate], context: FitContext) -> list[LocalFit]:
    """Posteriors of θ around the modes that were found, and the bounds with them.

    Where there is no finite curvature or bound, the candidate is optimised again with more jitter.
    """
    fits = _finalise(chunk, context)
    lost = [k for k, fit in enumerate(fits) if fit.status == "failed"]
    if not lost:
        return fits
    more = [with_more_jitter(chunk[k]) for k in lost]
    found = _optimise_again(more, context)
    going = [(k, c) for k, c in zip(lost, found, strict=True) if c.is_going]
    if going:
        again = _finalise([c for _, c in going], context)
        for (k, _), fit in zip(going, again, strict=True):
            fits[k] = fit
    return fits


def _optimise_again(chunk: Sequence[Candidate], context: FitContext) -> list[Candidate]:
    """The last rung once more, from all optima that are known."""
    rung = context.screening.rungs[-1]
    schedules = [rung.schedule if c.parent is None else rung.child_schedule for c in chunk]
    evidence = context.final_evidence(highest_jitter(chunk))
    starts = [c.thetas for c in chunk]
    found = optimise_from(chunk, starts, context, evidence, schedules, rung.evaluations)
    return [given_up(c) for c in found]


def _finalise(chunk: Sequence[Candidate], context: FitContext) -> list[LocalFit]:
    policy = context.screening
    owners, thetas = _modes(chunk, policy)
    evidence = context.final_evidence(highest_jitter(chunk))
    posterior = context.log_posterior([chunk[k].expression for k in owners], evidence)
    laplace = approximate(posterior, stacked(thetas, posterior.num_slots))
    rows = np.arange(len(owners))
    _, slope = posterior(rows, laplace.mean)
    left = 0.5 * np.sum(np.einsum("rhj,rh->rj", laplace.factor, slope) ** 2, axis=1)
    log_prior, _ = posterior.priors.log_density(rows, laplace.mean)
    separate = _separate(owners, laplace, policy.mode_distance)
    gaussians = _gaussians(posterior, laplace, context)
    fits = []
    for k, candidate in enumerate(chunk):
        own = [row for row in rows[owners == k] if separate[row]]
        candidate = replace(candidate, converged=bool(own and left[own[0]] < CONVERGED_GAIN))
        fits.append(_fit(candidate, context, own, laplace, log_prior, gaussians))
    return with_evidences(fits, context, evidence)


def _modes(chunk: Sequence[Candidate], policy: ScreeningPolicy) -> tuple[Rows, list[Array]]:
    owners, thetas = [], []
    for k, c in enumerate(chunk):
        least = c.best - policy.mode_margin
        high = [theta for theta, v in zip(c.thetas, c.values, strict=True) if v > least]
        owners += [k] * len(high[: policy.max_modes])
        thetas += high[: policy.max_modes]
    return np.array(owners, np.intp), thetas


def _separate(owners: Rows, laplace: Laplace, distance: float) -> Array:
    """Which rows are the highest of their candidate or far from all higher ones."""
    kept = np.zeros(len(owners), bool)
    for row in range(len(owners)):
        higher = [r for r in range(row) if owners[r] == owners[row] and kept[r]]
        kept[row] = all(_distance(laplace, row, other) > distance for other in higher)
    return kept


def _distance(laplace: Laplace, one: int, other: int) -> float:
    """Standard deviations between two modes, of the wider Gaussian."""
    step = (laplace.mean[one] - laplace.mean[other]) * laplace.used[one]
    squares = [step @ laplace.precision[row] @ step for row in (one, other)]
    return float(np.sqrt(min(squares)))


def _gaussians(posterior: LogPosterior, laplace: Laplace, context: FitContext) -> Gaussians | None:
    if not context.bounds_theta:
        return None
    return maximise_bound(
        posterior,
        laplace,
        context.rng(Seed.THETA_POSTERIOR),
        diagonal=context.posterior == "diagonal",
        evaluations=context.screening.bound_evaluations,
        num_pairs=context.screening.bound_pairs,
    )


def _fit(
    candidate: Candidate,
    context: FitContext,
    rows: Sequence[int],
    laplace: Laplace,
    log_prior: Array,
    q: Gaussians | None,
) -> LocalFit:
    H = len(candidate.layout)
    modes, values, errors = [], [], []
    for row in rows:
        value = laplace.log_evidence[row] if q is None else q.elbo[row]
        if not np.isfinite(value):
            continue
        mean, factor = (laplace.mean, laplace.factor) if q is None else (q.mean, q.factor)
        modes.append(
            Mode(
                mean[row, :H],
                factor[row, :H, :H] * (context.posterior != "point"),
                1.0,
                float(laplace.value[row] - log_prior[row]),
                float(log_prior[row]),
                float(laplace.log_volume[row]),
                np.nan if q is None else float(value),
            )
        )
        values.append(float(value))
        errors.append(0.0 if q is None else float(q.standard_error[row]))
    if not modes:
        reason = "no finite curvature or bound around the best θ found."
        return failed_fit(candidate, context, reason)
    together = weighted(modes, values)
    fit = local_fit(candidate, context)
    if q is None:
        return replace(fit, modes=together, elbo=together[0].log_likelihood)
    return replace(
        fit,
        modes=together,
        elbo=float(np.logaddexp.reduce(values)),
        standard_error=errors[int(np.argmax(values))],
    )
