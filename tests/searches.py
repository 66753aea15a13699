"""Searches with made-up evidences instead of fits."""

from __future__ import annotations

from collections.abc import Callable

from fits import made_up_fit

from vbks.grammar import canonical, leaves, parse
from vbks.inference.proposal import Proposal
from vbks.selection import SearchState, Strategy

Judge = Callable[[Proposal], float]


def run(
    search: Strategy, judge: Judge, max_rounds: int = 20
) -> tuple[SearchState, list[tuple[Proposal, ...]]]:
    """The last state of a search, and what it has proposed round after round."""
    state, asked = SearchState(), []
    for _ in range(max_rounds):
        state, proposals = search.propose(state)
        if not proposals:
            break
        asked.append(proposals)
        state = search.absorb(state, [made_up_fit(p, judge(p)) for p in proposals])
    return state, asked


def towards(target: str) -> Judge:
    """Higher the more leaves are shared with a target, with a price for each leaf."""
    wanted = [leaf.family for leaf in leaves(parse(target))]

    def judge(proposal: Proposal) -> float:
        have = [leaf.family for leaf in leaves(proposal.expression)]
        shared = sum(min(have.count(f), wanted.count(f)) for f in set(wanted))
        exact = 30.0 * (canonical(proposal.expression) == canonical(parse(target)))
        return 20.0 * shared - 3.0 * len(have) + exact

    return judge
