"""Candidates from starts to the optima of their log posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.arrays import Array
from vbks.inference.candidate import Candidate, stacked
from vbks.inference.context import FitContext
from vbks.inference.objectives.log_posterior import Evidence, maximise
from vbks.inference.optim.halving import Halving, Schedule, distinct
from vbks.kernels.starts.first_steps import start_scales

MORE_JITTER = 100.0
"""The jitter of a candidate without a finite value, curvature or bound grows by this factor. It is
a numerical constant: a factor of ten in rounding errors of Cholesky factors."""

LEAST_JITTER = 1e-8
"""A jitter of zero counts as this where it grows: a numerical constant."""


def optimise_from(
    chunk: Sequence[Candidate],
    starts: Sequence[Array],
    context: FitContext,
    evidence: Evidence,
    schedules: Sequence[Schedule],
    evaluations: int,
) -> list[Candidate]:
    """Candidates with the optima that were reached from starts [S, H] of each, best first.

    Whatever the starts say, fixed values are as they were given.
    """
    starts = [s if c.given is None else c.given.hold(s) for c, s in zip(chunk, starts, strict=True)]
    owners = np.repeat(np.arange(len(chunk)), [len(s) for s in starts])
    posterior = context.log_posterior([chunk[k].expression for k in owners], evidence)
    rows = stacked([theta for s in starts for theta in s], posterior.num_slots)
    scales = np.ones_like(rows)
    for k, candidate in enumerate(chunk):
        own, H = owners == k, len(candidate.layout)
        scales[own, :H] = start_scales(
            candidate.layout, context.summaries, starts[k], context.starts
        )
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


def highest_jitter(chunk: Sequence[Candidate]) -> float:
    """The jitter of an objective that all of them share."""
    return max(c.jitter for c in chunk)


def with_more_jitter(candidate: Candidate) -> Candidate:
    """The candidate before another attempt with matrices that are easier to factorise."""
    return replace(candidate, jitter=max(candidate.jitter, LEAST_JITTER) * MORE_JITTER)


def given_up(candidate: Candidate) -> Candidate:
    """The candidate as failed if no start of it has a finite value, else as it is."""
    if len(candidate.values):
        return candidate
    return candidate.failed(
        f"no covariance could be factorised at any of {candidate.restarts} starts, "
        f"also with a jitter of {candidate.jitter:g}."
    )
