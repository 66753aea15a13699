"""Pruning: candidates far behind the best leave, with their numbers on record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.result import PruningStep
from vbks.inference.screening import Rung

LogPrior = Callable[[Candidate], float]
"""log p(θ) at the best θ of a candidate."""


def without_prior(candidate: Candidate) -> float:
    """Zero, where values are log likelihoods."""
    return 0.0


def margin_of(rung: Rung, context: FitContext) -> float:
    """Nats behind the best within which a rung keeps candidates."""
    if not rung.prunes_points and not context.bounds_theta:
        return math.inf
    margin = rung.margin
    if rung.close_margin is not None and context.screens_closely:
        margin = rung.close_margin
    return max(margin, rung.margin_per_row * context.num_rows_of(rung))


def prune(
    candidates: Sequence[Candidate],
    stage: str,
    margin: float,
    num_rows: int,
    *,
    keep: int,
    penalty: float,
    log_prior: LogPrior = without_prior,
) -> list[Candidate]:
    """Write every candidate's standing into its record, and whether it goes on.

    Standings are log likelihoods at the best θ less ``penalty`` p log N. Log posteriors would be
    lower by the log prior density of all parameters, also of those that data say nothing of, while
    evidences are not.
    """
    standings = np.array([_standing(c, num_rows, penalty, log_prior) for c in candidates])
    best = standings.max(initial=-math.inf)
    sure = set(np.argsort(-standings)[:keep])
    pruned = []
    for k, (candidate, standing) in enumerate(zip(candidates, standings, strict=True)):
        goes_on = bool(k in sure or standing > best - margin)
        step = PruningStep(stage, standing, best, goes_on)
        pruned.append(replace(candidate, pruning=(*candidate.pruning, step)))
    return pruned


def _standing(candidate: Candidate, num_rows: int, penalty: float, log_prior: LogPrior) -> float:
    if not len(candidate.values):
        return -math.inf
    cost = penalty * candidate.num_free * math.log(num_rows)
    return candidate.best - log_prior(candidate) - cost
