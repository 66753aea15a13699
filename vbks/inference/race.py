"""The race: candidates far behind leave it, with their numbers on record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.inference.candidate import Candidate
from vbks.inference.local_fit import RaceStep
from vbks.kernels import num_free_parameters

GLANCE_MARGIN = 30.0
"""Nats behind the best after the beginning of a first look that are still a chance ..."""

FEW = 12
"""... where there are more candidates than so many; fewer have a whole look each. Of 569 children
of eight kernels for the airline series, the best after a look was at most 8 nats behind after its
beginning, and the next four 21."""

LOOK_MARGIN = 25.0
"""Nats behind the best after a first look that are still a chance: looks have not converged."""

CLOSE_LOOK_MARGIN = 15.0
"""The same where the look was by the bound that counts."""

CLIMB_MARGIN = 12.0
"""Nats behind the best after the climb: a share of e⁻¹² that q(θ) will hardly change."""

ALWAYS = 10
"""Candidates that go on however far behind ..."""

ALWAYS_CLIMBING = 4
"""... and those that do in the midst of climbs where all rows are dear."""


def decide(
    candidates: Sequence[Candidate],
    stage: str,
    margin: float,
    num_rows: int,
    always: int = ALWAYS,
) -> list[Candidate]:
    """Write every candidate's standing into its record.

    Standings are log posteriors less ½ p log N, so that larger kernels have no head start.
    """
    standings = np.array([_standing(c, num_rows) for c in candidates])
    best = standings.max(initial=-math.inf)
    sure = set(np.argsort(-standings)[:always])
    return [
        replace(c, race=(*c.race, RaceStep(stage, s, best, bool(k in sure or s > best - margin))))
        for k, (c, s) in enumerate(zip(candidates, standings, strict=True))
    ]


def _standing(candidate: Candidate, num_rows: int) -> float:
    layout = candidate.layout
    p = num_free_parameters(candidate.expression, layout.num_inputs, layout.ard)
    return candidate.best - 0.5 * p * math.log(num_rows)
