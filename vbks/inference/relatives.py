"""Candidates that are below others with the same parts, whose optima they must have missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression, leaves
from vbks.grammar.nesting import special_cases
from vbks.inference.candidate import Candidate
from vbks.kernels.parts import has_lengthscale
from vbks.kernels.starts.inheritance import Parent

MARGIN = 2.0
"""Nats by which a special case has to be better: the priors of what it does not have cost some."""

OTHER_LEAVES = 1
"""Leaves of a candidate at most that a relative does not have: the values of all others are known
from it."""

SHARED_LEAVES = 2
"""Leaves at least that a relative has in common: a single one is found without it."""


def better_relatives(candidates: Sequence[Candidate]) -> dict[int, Parent]:
    """Places of candidates below a relative among the others, and the best of these.

    A special case of a candidate comes first, which cannot be better; then the best of those that
    have nearly the same leaves.
    """
    going = [c for c in candidates if c.is_going and len(c.values)]
    known = {arrange(c.expression): c for c in going}
    parts = {id(c): _parts(c.expression) for c in going}
    ranked = sorted(going, key=lambda c: -c.best)
    better: dict[int, Parent] = {}
    for place, candidate in enumerate(candidates):
        if id(candidate) not in parts:
            continue
        cases = [known[case] for case in special_cases(candidate.expression) if case in known]
        best = max(cases, key=lambda case: case.best, default=candidate)
        if best.best <= candidate.best + MARGIN:
            best = _best_relative(candidate, ranked, parts)
        if best.best > candidate.best + MARGIN:
            better[place] = Parent(best.layout, best.thetas[0])
    return better


def _best_relative(
    candidate: Candidate, ranked: Sequence[Candidate], parts: Mapping[int, Counter[str]]
) -> Candidate:
    """The best of those that have nearly the same leaves, or the candidate itself."""
    own = parts[id(candidate)]
    least = max(SHARED_LEAVES, own.total() - OTHER_LEAVES)
    for other in ranked:
        if other.best <= candidate.best:
            break
        if (own & parts[id(other)]).total() >= least:
            return other
    return candidate


def _parts(expression: Expression) -> Counter[str]:
    """Leaves with their inputs; those whose lengthscales mean the same count as one kind."""
    return Counter(
        ("smooth" if has_lengthscale(leaf.family) else leaf.family) + f"[{leaf.dim}]"
        for leaf in leaves(expression)
    )
