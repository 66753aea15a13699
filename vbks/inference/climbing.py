"""The first look at candidates from many starts, and exact and collapsed fits from the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.arrays import Array, Rows
from vbks.inference.approximations.importance import Target, estimate_evidences
from vbks.inference.approximations.laplace import LEAST_PRECISION, Laplace, approximate
from vbks.inference.approximations.variational import Gaussians, maximise_bound
from vbks.inference.candidate import Candidate, failed_fit, local_fit, stacked
from vbks.inference.context import FitContext
from vbks.inference.inducing import choose_inducing
from vbks.inference.objectives.evidence import CollapsedEvidence
from vbks.inference.objectives.log_posterior import Evidence, LogPosterior, maximise
from vbks.inference.optim.halving import Halving, Schedule, distinct
from vbks.inference.result import LocalFit, Mode, weighted
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.starts.first_steps import start_scales
from vbks.kernels.starts.moved_changes import moved_changes
from vbks.kernels.starts.moved_lines import moved_lines
from vbks.kernels.starts.moved_periods import moved_periods
from vbks.kernels.starts.starts import candidate_rng, draw_starts, halved_periods, long_to_short
from vbks.kernels.starts.suggestions import num_waves

LOOK_EVALUATIONS = 36
"""A first look ends here, converged or not: the order of candidates is clear by then."""

GLANCE_EVALUATIONS = 10
"""Evaluations of the first look after which candidates far behind are pruned, if there are many."""

LOOK_SCHEDULE = ((10, 7), (18, 4))
"""Pairs (evaluations, starts): after this many evaluations of the look, this many starts of a
candidate go on. One that ends at the top, such as a line that is zero inside the data, may be among
the last at first."""

CHILD_SHARE = 0.5
"""Share of the usual starts that a child has, as its parent has found most of its values."""

CHILD_SCHEDULE = ((8, 3), (16, 2))
"""Pairs (evaluations, starts) of the look at a child: fewer starts go on than by `LOOK_SCHEDULE`,
as its parent has found most of its values."""

AGAIN_SHARE = 0.35
"""Share of the usual starts of a candidate that was looked at before."""

SECOND_LOOK_ROWS, SECOND_LOOK_INDUCING = 1000, 100
"""Rows and inducing points at most of the look that decides from which optimum rounds start."""

SECOND_LOOK = (((8, 1),), 16)
"""Schedule of the second look, pairs (evaluations, optima that go on), and its most evaluations."""

CLIMB_EVALUATIONS = 100
"""The median candidate is within a hundredth of a nat after 80."""

CLIMBERS = 4
"""Up to this many of the best starts of the look are optimised further."""

CLIMB_SCHEDULE = ((12, 3), (30, 2))
"""Pairs (evaluations, starts): after this many evaluations of the climb, this many starts of a
candidate go on."""

CHILD_CLIMB_SCHEDULE = ((4, 3), (8, 2), (16, 1))
"""The schedule of climbs of children, of which searches have many: a fifth of the time less, for a
nat in one of twenty candidates."""

HEAD_START = 30
"""Evaluations of a start that had no look, before it is climbed from beside the others."""

MOVE_EVALUATIONS = 60
"""Most evaluations of a climb after one change, wave or line of a candidate was moved."""

MOVE_SCHEDULE = ((10, 2), (25, 1))
"""Pairs (evaluations, starts) of climbs with one moved part: how many of them go on. There is one
start for each change, two for each wave, and two or three for each line."""

MOVE_ROUNDS = 3
"""Most times that parts of a candidate are moved. Only candidates that gained `GAIN` nats by the
last time have their parts moved again."""

GAIN = 0.5
"""Nats that moving its parts must gain a candidate for them to be moved again."""

MOVES = (moved_changes, moved_periods, moved_lines)

BEGINNING = 16
"""Evaluations of a climb after which candidates far behind leave, where there are many."""

MODE_MARGIN = 4.0
"""Nats below the highest mode within which another one is part of q(θ)."""

MODES = 3
"""Modes of q(θ) at most."""

MODE_DISTANCE = 4.0
"""Standard deviations between modes that count as two; their Gaussians then hardly overlap, and
the bound of the mixture is the log sum of theirs."""

SAMPLE_EVALUATIONS = 30
"""Evaluations of a climb from a sample of θ, whose optimum is for a proposal only."""

IMPORTANCE_SEED = 1 << 32
"""Added to the seed for samples of θ, so that they are others than those of starts."""

LEFT = 0.1
"""Nats that a step of Newton's method would still gain at most where a fit has converged."""

MORE_JITTER = 100.0
"""Factor on the jitter of a candidate without a finite value, curvature or bound."""


def look(
    chunk: Sequence[Candidate], comparison: FitContext, evaluations: int = LOOK_EVALUATIONS
) -> list[Candidate]:
    """Every candidate from all of its starts, the better ones longer, on a cheap objective."""
    candidates = _look(chunk, comparison, evaluations, attempt=0)
    lost = [c for c in candidates if not len(c.values)]
    if not lost:
        return candidates
    more = [_with_more_jitter(c) for c in lost]
    again = iter(_look(more, comparison, evaluations, attempt=1))
    return [c if len(c.values) else given_up(next(again)) for c in candidates]


def glance(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """The beginning of a look."""
    return look(chunk, comparison, GLANCE_EVALUATIONS)


def look_on(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """The rest of a look, from the best starts of the glance."""
    starts, schedules = [], []
    for c in chunk:
        _, schedule = _look_starts(c, comparison)
        left = [num for evaluations, num in schedule if evaluations <= GLANCE_EVALUATIONS]
        starts.append(c.thetas[: left[-1] if left else None])
        schedules.append([(e - GLANCE_EVALUATIONS, n) for e, n in schedule[len(left) :]])
    evidence = comparison.look_evidence(max(c.jitter for c in chunk))
    rest = LOOK_EVALUATIONS - GLANCE_EVALUATIONS
    return climb_from(chunk, starts, comparison, evidence, schedules, rest)


def _look(
    chunk: Sequence[Candidate], comparison: FitContext, evaluations: int, attempt: int
) -> list[Candidate]:
    starts, schedules = [], []
    for c in chunk:
        rng = candidate_rng(comparison.seed + attempt, c.expression)
        num, schedule = _look_starts(c, comparison, again=c.restarts > 0)
        drawn = draw_starts(c.layout, comparison.summaries, num, rng, c.parent)
        if c.given is not None:
            drawn = np.vstack([c.given.theta, drawn[: num - 1]])
        starts.append(drawn)
        schedules.append(schedule)
    evidence = comparison.look_evidence(max(c.jitter for c in chunk))
    return climb_from(chunk, starts, comparison, evidence, schedules, evaluations)


def _look_starts(
    candidate: Candidate, comparison: FitContext, again: bool = False
) -> tuple[int, Schedule]:
    parent = None if candidate.parent is None else candidate.parent.layout
    return look_starts(candidate.layout, comparison.restarts, parent, again)


def look_starts(
    layout: Layout, restarts: int, parent: Layout | None = None, again: bool = False
) -> tuple[int, Schedule]:
    """How many starts a look has, and how many of them go on.

    Two waves have more optima than one, and so on. A candidate with a parent has a share of the
    usual starts, for waves that are new; its first wave is as hard to find as without a parent.
    """
    known = 0 if parent is None else num_waves(parent)
    share, schedule = 1.0, LOOK_SCHEDULE
    if again:
        share, schedule = AGAIN_SHARE, CHILD_SCHEDULE
    elif parent is not None and (known or not num_waves(layout)):
        share, schedule = CHILD_SHARE, CHILD_SCHEDULE
    waves = max(1, num_waves(layout) - known)
    longer = [(evaluations, waves * left) for evaluations, left in schedule]
    return math.ceil(share * (restarts * waves**2)), longer


def given_up(candidate: Candidate) -> Candidate:
    """The candidate as failed if no start of it has a finite value, else as it is."""
    if len(candidate.values):
        return candidate
    return candidate.failed(
        f"no covariance could be factorised at any of {candidate.restarts} starts, "
        f"also with a jitter of {candidate.jitter:g}."
    )


def second_look(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """The best starts of the first look, compared on more rows and with more inducing points."""
    rows = comparison.data.sampled(SECOND_LOOK_ROWS, comparison.rng("second look"))
    X, y = rows.arrays()
    Z = comparison.Z
    if len(Z) > SECOND_LOOK_INDUCING:
        Z = choose_inducing(X, SECOND_LOOK_INDUCING, comparison.rng("second look"))
    jitter = max(comparison.look_jitter, *(c.jitter for c in chunk))
    targets = comparison.likelihood.pseudo_targets(y)
    evidence = CollapsedEvidence(X, targets, Z, jitter, rows.known_noise)
    starts = [c.thetas[:CLIMBERS] for c in chunk]
    schedule, evaluations = SECOND_LOOK
    return climb_from(chunk, starts, comparison, evidence, [schedule] * len(chunk), evaluations)


def climb(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """The best starts of every candidate to the top of their log posteriors."""
    if comparison.has_middle and not any(c.has_begun for c in chunk):
        return climb_on(begin_climb(chunk, comparison), comparison)
    evidence = comparison.final_evidence(max(c.jitter for c in chunk))
    starts = _climb_starts(chunk, comparison, evidence)
    climbed = _climb(chunk, starts, comparison, CLIMB_EVALUATIONS)
    return move_parts(climbed, comparison, evidence)


def begin_climb(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """The beginning of climbs, or where all rows are expensive, whole climbs on some of them."""
    jitter = max(c.jitter for c in chunk)
    if not comparison.has_middle:
        starts = _climb_starts(chunk, comparison, comparison.final_evidence(jitter))
        return _climb(chunk, starts, comparison, BEGINNING)
    middle = comparison.middle_evidence(jitter)
    starts = _climb_starts(chunk, comparison, middle)
    schedules = [_climb_schedule(c) for c in chunk]
    climbed = climb_from(chunk, starts, comparison, middle, schedules, CLIMB_EVALUATIONS)
    climbed = move_parts(climbed, comparison, middle)
    return [c if len(c.values) else b for c, b in zip(climbed, chunk, strict=True)]


def climb_on(chunk: Sequence[Candidate], comparison: FitContext) -> list[Candidate]:
    """The rest of climbs: the best that was found on some rows, or as many as were left."""
    if comparison.has_middle:
        starts = [c.thetas[:1] for c in chunk]
        return _climb(chunk, starts, comparison, CLIMB_EVALUATIONS)
    left = [min(n for e, n in _climb_schedule(c) if e <= BEGINNING) for c in chunk]
    starts = [c.thetas[:n] for c, n in zip(chunk, left, strict=True)]
    climbed = _climb(chunk, starts, comparison, CLIMB_EVALUATIONS - BEGINNING, BEGINNING)
    evidence = comparison.final_evidence(max(c.jitter for c in chunk))
    return move_parts(climbed, comparison, evidence)


def _climb(
    chunk: Sequence[Candidate],
    starts: Sequence[Array],
    comparison: FitContext,
    evaluations: int,
    before: int = 0,
) -> list[Candidate]:
    """Climbs on all rows, of which ``before`` evaluations were made earlier."""
    schedules = [[(e - before, n) for e, n in _climb_schedule(c) if e > before] for c in chunk]
    evidence = comparison.final_evidence(max(c.jitter for c in chunk))
    climbed = climb_from(chunk, starts, comparison, evidence, schedules, evaluations)
    return [c if len(c.values) else given_up(c) for c in climbed]


def _climb_schedule(candidate: Candidate) -> Schedule:
    return CLIMB_SCHEDULE if candidate.parent is None else CHILD_CLIMB_SCHEDULE


def _climb_starts(
    chunk: Sequence[Candidate], comparison: FitContext, evidence: Evidence
) -> list[Array]:
    """The best starts, and the best with half of each period, unless an earlier fit goes on.

    Smooth terms that go from long to short start once more where the look saw some of the rows,
    on which short ones may have become long. They have a head start, as others have had a look.
    """
    starts = [c.thetas[:CLIMBERS] for c in chunk]
    fresh = [k for k, c in enumerate(chunk) if not c.has_begun]
    for k in fresh:
        starts[k] = np.concatenate([starts[k], _halved(chunk[k])])
    if comparison.looks_at_all:
        return starts
    more = {k: _long_to_short(chunk[k], comparison) for k in fresh if chunk[k].parent is None}
    more = {k: start for k, start in more.items() if len(start)}
    if more:
        chosen, begun = [chunk[k] for k in more], list(more.values())
        schedules: list[Schedule] = [()] * len(more)
        ahead = climb_from(chosen, begun, comparison, evidence, schedules, HEAD_START)
        for k, candidate in zip(more, ahead, strict=True):
            starts[k] = np.concatenate([starts[k], candidate.thetas])
    return starts


def _halved(candidate: Candidate) -> Array:
    return halved_periods(candidate.layout, candidate.thetas[0], candidate.fixed)


def _long_to_short(candidate: Candidate, comparison: FitContext) -> Array:
    rng = candidate_rng(comparison.seed, candidate.expression)
    return long_to_short(candidate.layout, comparison.summaries, rng)


def move_parts(
    chunk: Sequence[Candidate], comparison: FitContext, evidence: Evidence
) -> list[Candidate]:
    """Climb again from other places of changes, other periods and other zeros of lines.

    Candidates that gain by it have their parts moved from there once more, as a wave with another
    period may go with a line on the other side. Children have had all this from their parents.
    """
    moved = list(chunk)
    going = [k for k, c in enumerate(chunk) if not c.has_begun and c.parent is None]
    for _ in range(MOVE_ROUNDS):
        going = [k for k in going if len(moved[k].values)]
        places = {k: found for k in going if (found := _moved(moved[k], comparison))}
        if not places:
            break
        again = _climb_from_places(
            [moved[k] for k in places], list(places.values()), comparison, evidence
        )
        going = [k for k, c in zip(places, again, strict=True) if c.best > moved[k].best + GAIN]
        for k, candidate in zip(places, again, strict=True):
            moved[k] = candidate
    return moved


def _climb_from_places(
    chunk: Sequence[Candidate],
    places: Sequence[Sequence[Array]],
    comparison: FitContext,
    evidence: Evidence,
) -> list[Candidate]:
    """Climb from the best of each list of places; candidates keep what they had besides."""
    starts = _best_places(chunk, places, comparison, evidence)
    schedules = [MOVE_SCHEDULE] * len(chunk)
    climbed = climb_from(chunk, starts, comparison, evidence, schedules, MOVE_EVALUATIONS)
    return [_together(own, other) for own, other in zip(chunk, climbed, strict=True)]


def _moved(candidate: Candidate, comparison: FitContext) -> list[Array]:
    """θ [P, H] for each change or wave that is moved, at each of its places."""
    c, summaries = candidate, comparison.summaries
    found = (move(c.layout, summaries, c.thetas[0], c.fixed) for move in MOVES)
    return [places for own in found for places in own if len(places)]


def _best_places(
    chunk: Sequence[Candidate],
    places: Sequence[Sequence[Array]],
    comparison: FitContext,
    evidence: Evidence,
) -> list[Array]:
    """The best θ of each list of places [P, H], for each candidate: [S, H]."""
    posterior = comparison.log_posterior([c.expression for c in chunk], evidence)
    theta = stacked([row for own in places for part in own for row in part], posterior.num_slots)
    counts = [sum(len(part) for part in own) for own in places]
    values = posterior.values(np.repeat(np.arange(len(chunk)), counts), theta)
    left = iter(np.where(np.isfinite(values), values, -np.inf))
    return [
        np.stack([part[np.argmax([next(left) for _ in part])] for part in own]) for own in places
    ]


def _together(one: Candidate, other: Candidate) -> Candidate:
    """A candidate with the optima of two, best first; it has converged if the best one has."""
    thetas = np.concatenate([one.thetas, other.thetas])
    values = np.concatenate([one.values, other.values])
    order = distinct(thetas, -values)
    best = one if one.best >= other.best else other
    return replace(one, thetas=thetas[order], values=values[order], converged=best.converged)


def climb_from(
    chunk: Sequence[Candidate],
    starts: Sequence[Array],
    comparison: FitContext,
    evidence: Evidence,
    schedules: Sequence[Schedule],
    evaluations: int,
) -> list[Candidate]:
    """Candidates with the optima that were reached from starts [S, H] of each, best first.

    Whatever the starts say, fixed values are as they were given.
    """
    starts = [s if c.given is None else c.given.hold(s) for c, s in zip(chunk, starts, strict=True)]
    owners = np.repeat(np.arange(len(chunk)), [len(s) for s in starts])
    posterior = comparison.log_posterior([chunk[k].expression for k in owners], evidence)
    rows = stacked([theta for s in starts for theta in s], posterior.num_slots)
    scales = np.ones_like(rows)
    for k, candidate in enumerate(chunk):
        own, H = owners == k, len(candidate.layout)
        scales[own, :H] = start_scales(candidate.layout, comparison.summaries, starts[k])
    found = maximise(posterior, rows, evaluations, Halving(owners, schedules), scales)
    result = []
    for k, candidate in enumerate(chunk):
        own = np.flatnonzero(owners == k)
        order = own[distinct(found.x[own], found.loss[own])]
        result.append(
            replace(
                candidate,
                thetas=found.x[order, : len(candidate.layout)],
                values=-found.loss[order],
                restarts=candidate.restarts or len(own),
                converged=bool(len(order) and found.converged[order[0]]),
            )
        )
    return result


def finish(chunk: Sequence[Candidate], comparison: FitContext) -> list[LocalFit]:
    """Posteriors of θ around the modes that were found, and the bounds with them.

    Where there is no finite curvature or bound, the candidate is climbed again with more jitter.
    """
    fits = _finish(chunk, comparison)
    lost = [k for k, fit in enumerate(fits) if fit.status == "failed"]
    if not lost:
        return fits
    more = [_with_more_jitter(chunk[k]) for k in lost]
    climbed = _climb(more, [c.thetas for c in more], comparison, CLIMB_EVALUATIONS)
    going = [(k, c) for k, c in zip(lost, climbed, strict=True) if c.is_going]
    if going:
        again = _finish([c for _, c in going], comparison)
        for (k, _), fit in zip(going, again, strict=True):
            fits[k] = fit
    return fits


def _with_more_jitter(candidate: Candidate) -> Candidate:
    return replace(candidate, jitter=max(candidate.jitter, 1e-8) * MORE_JITTER)


def _finish(chunk: Sequence[Candidate], comparison: FitContext) -> list[LocalFit]:
    owners, thetas = _modes(chunk)
    evidence = comparison.final_evidence(max(c.jitter for c in chunk))
    posterior = comparison.log_posterior([chunk[k].expression for k in owners], evidence)
    laplace = approximate(posterior, stacked(thetas, posterior.num_slots))
    rows = np.arange(len(owners))
    _, slope = posterior(rows, laplace.mean)
    left = 0.5 * np.sum(np.einsum("rhj,rh->rj", laplace.factor, slope) ** 2, axis=1)
    log_prior, _ = posterior.priors.log_density(rows, laplace.mean)
    separate = _separate(owners, laplace)
    gaussians = _gaussians(posterior, laplace, comparison)
    fits = []
    for k, candidate in enumerate(chunk):
        own = [row for row in rows[owners == k] if separate[row]]
        candidate = replace(candidate, converged=bool(own and left[own[0]] < LEFT))
        fits.append(_fit(candidate, comparison, own, laplace, log_prior, gaussians))
    return _with_evidences(fits, comparison, evidence)


def _with_evidences(
    fits: list[LocalFit], comparison: FitContext, evidence: Evidence
) -> list[LocalFit]:
    """The same fits, with evidences by importance sampling where these are asked for."""
    fitted = [k for k, fit in enumerate(fits) if fit.status == "fitted"]
    num_samples = comparison.num_importance_samples
    if not num_samples or not fitted:
        return fits
    posterior = comparison.log_posterior([fits[k].expression for k in fitted], evidence)
    targets = [_target(fits[k], row, posterior) for row, k in enumerate(fitted)]
    rngs = [candidate_rng(comparison.seed + IMPORTANCE_SEED, fits[k].expression) for k in fitted]

    def climb_samples(rows: Rows, theta: Array) -> tuple[Array, Array, Array]:
        own = [fits[fitted[row]] for row in rows]
        return _climb_samples(own, theta, comparison, evidence)

    found = estimate_evidences(targets, posterior.values, rngs, num_samples, climb_samples)
    for k, estimate in zip(fitted, found, strict=True):
        if estimate is not None:
            fits[k] = replace(
                fits[k],
                evidence=estimate.log_evidence,
                evidence_error=estimate.standard_error,
            )
    return fits


def _climb_samples(
    fits: Sequence[LocalFit], theta: Array, comparison: FitContext, evidence: Evidence
) -> tuple[Array, Array, Array]:
    """Climb from a sample of θ of each fit: values [R], optima [R, H] and factors [R, H, H]."""
    posterior = comparison.log_posterior([fit.expression for fit in fits], evidence)
    slots = posterior.num_slots
    scales = np.ones((len(fits), slots))
    for k, fit in enumerate(fits):
        layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
        H = len(layout)
        scales[k, :H] = start_scales(layout, comparison.summaries, theta[k : k + 1, :H])[0]
    found = maximise(posterior, theta[:, :slots], SAMPLE_EVALUATIONS, scales=scales)
    laplace = approximate(posterior, found.x)
    means, factors = theta.copy(), np.zeros((*theta.shape, theta.shape[1]))
    means[:, :slots], factors[:, :slots, :slots] = laplace.mean, laplace.factor
    # Without a finite curvature there is no volume, and nothing to propose.
    return np.where(np.isfinite(laplace.log_volume), laplace.value, np.nan), means, factors


def _target(fit: LocalFit, row: int, posterior: LogPosterior) -> Target:
    """The posterior of θ of a fit, with as many slots as the bank of all has."""
    H, slots = len(fit.theta), posterior.num_slots
    means = np.zeros((len(fit.modes), slots))
    factors = np.zeros((len(fit.modes), slots, slots))
    for own, mode in enumerate(fit.modes):
        means[own, :H], factors[own, :H, :H] = mode.mean, mode.factor
    priors = posterior.priors
    sd = 1.0 / np.sqrt(np.maximum(priors.precision[row], LEAST_PRECISION))
    groups = np.full(slots, -1)
    groups[:H] = _leaves(lay_out(fit.expression, fit.num_inputs, fit.ard))
    height = max(mode.log_likelihood + mode.log_prior for mode in fit.modes)
    return Target(means, factors, height, priors.used[row], priors.mean[row], sd, groups)


def _leaves(layout: Layout) -> list[int]:
    """A number for each slot, the same for those of one leaf."""
    paths = [slot.path for slot in layout.slots]
    return [paths.index(path) for path in paths]


def _modes(chunk: Sequence[Candidate]) -> tuple[Rows, list[Array]]:
    owners, thetas = [], []
    for k, c in enumerate(chunk):
        high = [
            theta for theta, v in zip(c.thetas, c.values, strict=True) if v > c.best - MODE_MARGIN
        ]
        owners += [k] * len(high[:MODES])
        thetas += high[:MODES]
    return np.array(owners, np.intp), thetas


def _separate(owners: Rows, laplace: Laplace) -> Array:
    """Which rows are the highest of their candidate or far from all higher ones."""
    kept = np.zeros(len(owners), bool)
    for row in range(len(owners)):
        higher = [r for r in range(row) if owners[r] == owners[row] and kept[r]]
        kept[row] = all(_distance(laplace, row, other) > MODE_DISTANCE for other in higher)
    return kept


def _distance(laplace: Laplace, one: int, other: int) -> float:
    """Standard deviations between two modes, of the wider Gaussian."""
    step = (laplace.mean[one] - laplace.mean[other]) * laplace.used[one]
    squares = [step @ laplace.precision[row] @ step for row in (one, other)]
    return float(np.sqrt(min(squares)))


def _gaussians(
    posterior: LogPosterior, laplace: Laplace, comparison: FitContext
) -> Gaussians | None:
    if not comparison.bounds_theta:
        return None
    diagonal = comparison.posterior == "diagonal"
    return maximise_bound(posterior, laplace, comparison.rng("q(θ)"), diagonal=diagonal)


def _fit(
    candidate: Candidate,
    comparison: FitContext,
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
                factor[row, :H, :H] * (comparison.posterior != "point"),
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
        return failed_fit(candidate, comparison, reason)
    together = weighted(modes, values)
    fit = local_fit(candidate, comparison)
    if q is None:
        return replace(fit, modes=together, elbo=together[0].log_likelihood)
    return replace(
        fit,
        modes=together,
        elbo=float(np.logaddexp.reduce(values)),
        standard_error=errors[int(np.argmax(values))],
    )
