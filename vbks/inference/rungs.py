"""Rungs of exact and collapsed fits: where candidates start on each, and how far they get."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vbks.arrays import Array
from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.inducing import choose_inducing
from vbks.inference.moves import move_parts
from vbks.inference.objectives.evidence import CollapsedEvidence
from vbks.inference.objectives.log_posterior import Evidence
from vbks.inference.optim.halving import Schedule
from vbks.inference.optimise import given_up, highest_jitter, optimise_from, with_more_jitter
from vbks.inference.screening import Rung
from vbks.inference.seeds import Seed
from vbks.kernels.layout import Layout
from vbks.kernels.starts.moved_periods import halved_periods
from vbks.kernels.starts.starts import candidate_rng, draw_starts, long_to_short
from vbks.kernels.starts.suggestions import num_periodic


def applies(
    rung: Rung, candidates: Sequence[Candidate], context: FitContext, prune: bool = False
) -> bool:
    """Whether candidates go through a rung; who goes on from an earlier fit is optimised at once.

    Without pruning, rungs are left out that are there for it alone.
    """
    going = [c for c in candidates if c.is_going]
    fresh = [c for c in going if not c.has_begun]
    num = len(fresh if rung.rows == "screening" else going)
    if rung.above and not (prune and num > rung.above):
        return False
    if rung.rows == "screening":
        return True
    is_extra = rung.rows == "intermediate" or rung.above > 0
    if is_extra and len(fresh) < len(going):
        return False
    if rung.rows == "intermediate":
        return context.has_intermediate
    return not (rung.without_intermediate and context.has_intermediate)


def run_rung(
    chunk: Sequence[Candidate], context: FitContext, rung: Rung, before: Rung | None = None
) -> list[Candidate]:
    """Candidates after a rung, from all of their starts or from where ``before`` has led them."""
    if rung.rows == "screening":
        return _screen(chunk, context, rung, before)
    return _optimise(chunk, context, rung, before)


def optimise(chunk: Sequence[Candidate], context: FitContext) -> list[Candidate]:
    """Candidates through all rungs of optimisation, without any pruning."""
    found, before = list(chunk), None
    for rung in context.screening.rungs:
        if rung.rows != "screening" and applies(rung, chunk, context):
            found, before = run_rung(found, context, rung, before), rung
    return found


def screening_plan(
    layout: Layout,
    context: FitContext,
    rung: Rung,
    parent: Layout | None = None,
    *,
    again: bool = False,
) -> tuple[int, Schedule]:
    """How many starts a screening has, and how many of them go on.

    Two periodic leaves have more optima than one, and so on. A candidate with a parent has a share
    of the usual starts, for periodic leaves that are new; its first one is as hard to find as
    without a parent.
    """
    known = 0 if parent is None else num_periodic(parent)
    share, schedule = 1.0, rung.schedule
    if again:
        share, schedule = context.starts.again_share, rung.child_schedule
    elif parent is not None and (known or not num_periodic(layout)):
        share, schedule = context.starts.child_share, rung.child_schedule
    new = max(1, num_periodic(layout) - known)
    longer = [(evaluations, new * left) for evaluations, left in schedule]
    return math.ceil(share * (context.restarts * new**2)), longer


def screen_before_svgp(chunk: Sequence[Candidate], context: FitContext) -> list[Candidate]:
    """The best optima of a screening, compared on more rows and with more inducing points."""
    policy = context.screening
    rows = context.data.sampled(policy.second_screening_rows, context.rng(Seed.SECOND_SCREENING))
    X, y = rows.arrays()
    Z = context.Z
    if len(Z) > policy.second_screening_inducing:
        rng = context.rng(Seed.SECOND_SCREENING)
        Z = choose_inducing(X, policy.second_screening_inducing, rng, policy.inducing)
    jitter = max(context.screening_jitter, highest_jitter(chunk))
    targets = context.likelihood.pseudo_targets(y)
    evidence = CollapsedEvidence(X, targets, Z, jitter, rows.known_noise)
    return optimise_from(
        chunk,
        [c.thetas[: policy.screened_starts] for c in chunk],
        context,
        evidence,
        [policy.second_screening_schedule] * len(chunk),
        policy.second_screening_evaluations,
    )


def _screen(
    chunk: Sequence[Candidate], context: FitContext, rung: Rung, before: Rung | None
) -> list[Candidate]:
    """Every candidate from all of its starts, the better ones longer, on a cheap objective."""
    if before is not None:
        schedules = [_plan(c, context, rung)[1] for c in chunk]
        return _continued(chunk, context, rung, before, schedules)
    candidates = _from_proposals(chunk, context, rung, attempt=0)
    lost = [c for c in candidates if not len(c.values)]
    if not lost:
        return candidates
    again = iter(_from_proposals([with_more_jitter(c) for c in lost], context, rung, attempt=1))
    return [c if len(c.values) else given_up(next(again)) for c in candidates]


def _from_proposals(
    chunk: Sequence[Candidate], context: FitContext, rung: Rung, attempt: int
) -> list[Candidate]:
    starts, schedules = [], []
    for c in chunk:
        rng = candidate_rng(context.seed + attempt, c.expression)
        num, schedule = _plan(c, context, rung, again=c.restarts > 0)
        drawn = draw_starts(c.layout, context.summaries, num, rng, c.parent, context.starts)
        if c.given is not None:
            drawn = np.vstack([c.given.theta, drawn[: num - 1]])
        starts.append(drawn)
        schedules.append(schedule)
    evidence = context.evidence(rung.rows, highest_jitter(chunk))
    return optimise_from(chunk, starts, context, evidence, schedules, rung.evaluations)


def _plan(
    candidate: Candidate, context: FitContext, rung: Rung, *, again: bool = False
) -> tuple[int, Schedule]:
    parent = None if candidate.parent is None else candidate.parent.layout
    return screening_plan(candidate.layout, context, rung, parent, again=again)


def _optimise(
    chunk: Sequence[Candidate], context: FitContext, rung: Rung, before: Rung | None
) -> list[Candidate]:
    """The best optima of the screening to the top of their log posteriors, as far as a rung goes.

    Where no optimum has a finite value on some of the rows, candidates are as before; on all rows
    they have failed.
    """
    schedules = [rung.schedule if c.parent is None else rung.child_schedule for c in chunk]
    evidence = context.evidence(rung.rows, highest_jitter(chunk))
    if before is not None and before.rows == rung.rows:
        found = _continued(chunk, context, rung, before, schedules)
    else:
        if before is not None and before.rows == "intermediate":
            starts = [c.thetas[: context.screening.intermediate_starts] for c in chunk]
        else:
            starts = _screened_starts(chunk, context, evidence)
        found = optimise_from(chunk, starts, context, evidence, schedules, rung.evaluations)
    if rung.rows == "all":
        found = [given_up(c) for c in found]
    if rung.moves_parts and not (before is not None and before.moves_parts):
        found = move_parts(found, context, evidence)
    return [c if len(c.values) or c.reason else own for c, own in zip(found, chunk, strict=True)]


def _continued(
    chunk: Sequence[Candidate],
    context: FitContext,
    rung: Rung,
    before: Rung,
    schedules: Sequence[Schedule],
) -> list[Candidate]:
    """The rest of what a rung on the same rows has begun, from as many starts as were left."""
    done = before.evaluations
    left = [[num for e, num in schedule if e <= done] for schedule in schedules]
    starts = [c.thetas[: own[-1] if own else None] for c, own in zip(chunk, left, strict=True)]
    later = [[(e - done, num) for e, num in schedule if e > done] for schedule in schedules]
    evidence = context.evidence(rung.rows, highest_jitter(chunk))
    rest = rung.evaluations - done
    return [given_up(c) for c in optimise_from(chunk, starts, context, evidence, later, rest)]


def _screened_starts(
    chunk: Sequence[Candidate], context: FitContext, evidence: Evidence
) -> list[Array]:
    """The best optima, and the best with half of each period, unless an earlier fit goes on.

    Smooth terms that go from long to short start once more where the screening saw some of the
    rows, on which short ones may have become long. They have a head start, as others were screened.
    """
    starts = [c.thetas[: context.screening.screened_starts] for c in chunk]
    fresh = [k for k, c in enumerate(chunk) if not c.has_begun]
    for k in fresh:
        halved = halved_periods(chunk[k].layout, chunk[k].thetas[0], chunk[k].fixed)
        starts[k] = np.concatenate([starts[k], halved])
    if context.screens_all_rows:
        return starts
    more = {k: _long_to_short(chunk[k], context) for k in fresh if chunk[k].parent is None}
    more = {k: start for k, start in more.items() if len(start)}
    if more:
        chosen, begun = [chunk[k] for k in more], list(more.values())
        schedules: list[Schedule] = [()] * len(more)
        evaluations = context.screening.head_start
        ahead = optimise_from(chosen, begun, context, evidence, schedules, evaluations)
        for k, candidate in zip(more, ahead, strict=True):
            starts[k] = np.concatenate([starts[k], candidate.thetas])
    return starts


def _long_to_short(candidate: Candidate, context: FitContext) -> Array:
    rng = candidate_rng(context.seed, candidate.expression)
    return long_to_short(candidate.layout, context.summaries, rng, context.starts)
