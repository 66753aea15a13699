"""Candidates with one of their parts moved: a change, a period, or the zero of a line.

An optimiser moves these only a little, while another place has another optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.arrays import Array
from vbks.inference.candidate import Candidate, stacked
from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import Evidence
from vbks.inference.optim.halving import distinct
from vbks.inference.optimise import optimise_from
from vbks.kernels.starts.moved_changes import moved_changes
from vbks.kernels.starts.moved_lines import moved_lines
from vbks.kernels.starts.moved_periods import moved_periods

MOVES = (moved_changes, moved_periods, moved_lines)


def move_parts(
    chunk: Sequence[Candidate], context: FitContext, evidence: Evidence
) -> list[Candidate]:
    """Optimise again from other places of changes, other periods and other zeros of lines.

    Candidates that gain by it have their parts moved from there once more, as a periodic leaf with
    another period may go with a line on the other side. Children have had all this from their
    parents.
    """
    moved = list(chunk)
    going = [k for k, c in enumerate(chunk) if not c.has_begun and c.parent is None]
    for _ in range(context.starts.move_rounds):
        going = [k for k in going if len(moved[k].values)]
        places = {k: found for k in going if (found := _moved(moved[k], context))}
        if not places:
            break
        again = _optimise_from_places(
            [moved[k] for k in places], list(places.values()), context, evidence
        )
        least = {k: moved[k].best + context.starts.move_gain for k in places}
        going = [k for k, c in zip(places, again, strict=True) if c.best > least[k]]
        for k, candidate in zip(places, again, strict=True):
            moved[k] = candidate
    return moved


def _optimise_from_places(
    chunk: Sequence[Candidate],
    places: Sequence[Sequence[Array]],
    context: FitContext,
    evidence: Evidence,
) -> list[Candidate]:
    """Optimise from the best of each list of places; candidates keep what they had besides."""
    starts = _best_places(chunk, places, context, evidence)
    policy = context.starts
    schedules = [policy.move_schedule] * len(chunk)
    found = optimise_from(chunk, starts, context, evidence, schedules, policy.move_evaluations)
    return [_together(own, other) for own, other in zip(chunk, found, strict=True)]


def _moved(candidate: Candidate, context: FitContext) -> list[Array]:
    """θ [P, H] for each part that is moved, at each of its places."""
    c, summaries = candidate, context.summaries
    found = (move(c.layout, summaries, c.thetas[0], c.fixed, context.starts) for move in MOVES)
    return [places for own in found for places in own if len(places)]


def _best_places(
    chunk: Sequence[Candidate],
    places: Sequence[Sequence[Array]],
    context: FitContext,
    evidence: Evidence,
) -> list[Array]:
    """The best θ of each list of places [P, H], for each candidate: [S, H]."""
    posterior = context.log_posterior([c.expression for c in chunk], evidence)
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
