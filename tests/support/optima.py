"""Optima of a small series, and candidates as if θ of one's own were theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.inference.candidate import Candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.settings import FitSettings


def wave_context(posterior: Any = "point") -> FitContext:
    """The context of exact fits to a noisy wave."""
    rng = np.random.default_rng(0)
    X = np.linspace(0, 10, 40)
    y = np.sin(2 * X) + 0.2 * rng.normal(size=40)
    fits = FitSettings(inference="exact", posterior=posterior, restarts=4)
    return make_context((X, y), 1, fits)[0]


def log_posteriors(candidate: Candidate, context: FitContext, thetas: Sequence[Array]) -> Array:
    evidence = context.final_evidence(candidate.jitter)
    posterior = context.log_posterior([candidate.expression] * len(thetas), evidence)
    value, _ = posterior(np.arange(len(thetas)), np.stack(thetas))
    return value


def candidate_at(candidate: Candidate, context: FitContext, thetas: Sequence[Array]) -> Candidate:
    """The candidate as if these θ were its optima."""
    values = log_posteriors(candidate, context, thetas)
    order = np.argsort(-values)
    return replace(candidate, thetas=np.stack(thetas)[order], values=values[order])


def moved_theta(theta: Array, candidate: Candidate, name: str, step: float) -> Array:
    """θ with the slot of a name moved."""
    there = theta.copy()
    there[candidate.layout.names.index(name)] += step
    return there
