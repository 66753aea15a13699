"""The race: candidates far behind leave it, with their numbers on record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from vbks.inference.candidate import Candidate
from vbks.inference.result import PruningStep

GLANCE_MARGIN = 30.0
"""Nats behind the best after the first evaluations of a look within which candidates are kept. It
is `GLANCE_MARGIN_PER_ROW` times the rows if that is more."""

GLANCE_MARGIN_PER_ROW = 0.25
"""Nats for each row of the look within which candidates are kept after its first evaluations, but
`GLANCE_MARGIN` at least. Of 569 children of eight kernels for the airline series (129 rows), the
best after a look was at most 8 nats behind after its beginning, and the next four 21; on Mauna Loa
(245 rows) the best was 19 and 37 behind."""

FEW = 12
"""Candidates that have a whole look each; where there are more, some may be left behind before."""

LOOK_MARGIN = 25.0
"""Nats behind the best within which candidates are kept after a first look: looks have not
converged."""

CLOSE_LOOK_MARGIN = 15.0
"""Nats behind the best within which candidates are kept after a first look by the bound that
counts."""

CLIMB_MARGIN = 12.0
"""Nats behind the best after the climb: a share of e⁻¹² that q(θ) will hardly change."""

PENALTY = 0.25
"""Penalty for each free parameter, in units of log N. It is half of what one costs that the data
determine, as one that they say nothing of costs nothing. Margins allow for the other half either
way."""

ALWAYS = 10
"""Pruning keeps at least this many candidates, however far behind they are."""

ALWAYS_CLIMBING = 4
"""Pruning in the midst of climbs keeps at least this many candidates where all rows are
expensive."""


LogPrior = Callable[[Candidate], float]
"""log p(θ) at the best θ of a candidate."""


def without_prior(candidate: Candidate) -> float:
    """Zero, where values are log likelihoods."""
    return 0.0


def glance_margin(num_rows: int) -> float:
    """Nats within which candidates are kept after the beginning of a look at ``num_rows`` rows."""
    return max(GLANCE_MARGIN, GLANCE_MARGIN_PER_ROW * num_rows)


def decide(
    candidates: Sequence[Candidate],
    stage: str,
    margin: float,
    num_rows: int,
    always: int = ALWAYS,
    log_prior: LogPrior = without_prior,
) -> list[Candidate]:
    """Write every candidate's standing into its record.

    Standings are log likelihoods at the best θ less ¼ p log N. Log posteriors would be lower by the
    log prior density of all parameters, also of those that data say nothing of, while evidences are
    not.
    """
    standings = np.array([_standing(c, num_rows, log_prior) for c in candidates])
    best = standings.max(initial=-math.inf)
    sure = set(np.argsort(-standings)[:always])
    return [
        replace(
            c, race=(*c.race, PruningStep(stage, s, best, bool(k in sure or s > best - margin)))
        )
        for k, (c, s) in enumerate(zip(candidates, standings, strict=True))
    ]


def _standing(candidate: Candidate, num_rows: int, log_prior: LogPrior) -> float:
    if not len(candidate.values):
        return -math.inf
    penalty = PENALTY * candidate.num_free * math.log(num_rows)
    return candidate.best - log_prior(candidate) - penalty
