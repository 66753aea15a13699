"""Candidates that are below others with the same parts, whose optima they must have missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression, leaves
from vbks.grammar.nesting import special_cases
from vbks.inference.candidate import Candidate
from vbks.inference.screening import ScreeningPolicy
from vbks.kernels.parts import has_lengthscale
from vbks.kernels.starts.inheritance import Parent


def better_relatives(candidates: Sequence[Candidate], policy: ScreeningPolicy) -> dict[int, Parent]:
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
        if best.best <= candidate.best + policy.relative_margin:
            best = _best_relative(candidate, ranked, parts, policy)
        if best.best > candidate.best + policy.relative_margin:
            better[place] = Parent(best.layout, best.thetas[0])
    return better


def _best_relative(
    candidate: Candidate,
    ranked: Sequence[Candidate],
    parts: Mapping[int, Counter[str]],
    policy: ScreeningPolicy,
) -> Candidate:
    """The best of those that have nearly the same leaves, or the candidate itself."""
    own = parts[id(candidate)]
    least = max(policy.relative_shared_leaves, own.total() - policy.relative_other_leaves)
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
