"""Candidates that contain others: the others' optima are theirs, too."""

from __future__ import annotations

from collections.abc import Sequence

from vbks.grammar.canonical import arrange
from vbks.grammar.nesting import special_cases
from vbks.inference.candidate import Candidate
from vbks.kernels import Parent

MARGIN = 2.0
"""Nats by which a special case has to be better: the priors of what it does not have cost some."""


def better_cases(candidates: Sequence[Candidate]) -> dict[int, Parent]:
    """Places of candidates with a better special case among the others, and the best of these."""
    known = {arrange(c.expression): c for c in candidates if c.is_going and len(c.values)}
    better: dict[int, Parent] = {}
    for place, candidate in enumerate(candidates):
        if not candidate.is_going:
            continue
        cases = [known[case] for case in special_cases(candidate.expression) if case in known]
        best = max(cases, key=lambda case: case.best, default=candidate)
        if best.best > candidate.best + MARGIN:
            better[place] = Parent(best.layout, best.thetas[0])
    return better
