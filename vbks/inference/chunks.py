"""Which candidates are worked on together, and what they cost relative to others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from vbks.arrays import Array
from vbks.grammar.expression import leaves
from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.paper.state import CandidateState
from vbks.inference.result import LocalFit
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.starts.suggestions import num_periodic

Unfitted: TypeAlias = "Candidate | CandidateState"
"""Candidates on their way, of which both know their layout and have ``values`` once they began."""

Member: TypeAlias = "Unfitted | LocalFit"
"""All say what they are about by ``expression``, and how long that took by ``seconds``."""

MANY = 8
"""From this many chunks on their number is a multiple of this: machines have 1, 2, 4 or 8 devices,
so it is a constant of machines."""

USUAL_COST = 3.0
"""A candidate of this cost counts as one: three leaves, one of them periodic. It is the unit of
costs, and more expensive ones fill a chunk sooner."""


def cost_of(member: Member) -> float:
    """The cost of a candidate relative to others.

    It grows with its leaves and its starts, of which periodic leaves need more. What candidates
    share, such as the number of inducing points, is in the size of chunks.
    """
    num_leaves = len(leaves(member.expression))
    if isinstance(member, LocalFit) or len(member.values):
        return num_leaves
    return num_leaves * max(1, num_periodic(member.layout)) ** 2


def cut(candidates: Sequence[Unfitted], context: FitContext) -> list[list[int]]:
    """Places of candidates that are worked on together: of one jitter, and batched or alone.

    They depend on nothing but the candidates and the context. The most expensive come first, and
    those in a chunk cost about the same.
    """
    most = context.chunk_size

    def kind(k: int) -> tuple[bool, float]:
        c = candidates[k]
        return is_batchable(c.expression, c.layout.num_inputs), c.jitter

    def order(k: int) -> tuple[Any, ...]:
        return *kind(k), -cost_of(candidates[k]), k

    chunks = []
    for (batched, _), group in groupby(sorted(range(len(candidates)), key=order), key=kind):
        chunks += _filled(list(group), candidates, most if batched else 1)
    return chunks


def _filled(places: Sequence[int], candidates: Sequence[Unfitted], most: int) -> list[list[int]]:
    """Chunks that cost about the same, of at most ``most`` candidates of the usual cost."""
    if most == 1:
        return [[k] for k in places]
    sizes = np.array([max(1.0, cost_of(candidates[k]) / USUAL_COST) for k in places])
    num = num_chunks(sizes.sum() / most)
    while max(map(len, chunks := _shared_out(places, sizes, num))) > most:
        num = num_chunks(num + 1)
    return chunks


def _shared_out(places: Sequence[int], sizes: Array, num: int) -> list[list[int]]:
    """Up to ``num`` chunks, each of which ends where it has had its share of the cost."""
    middles = np.cumsum(sizes) - 0.5 * sizes
    owners = (num * middles / sizes.sum()).astype(int)
    return [
        [places[k] for k in np.flatnonzero(owners == own)] for own in dict.fromkeys(owners.tolist())
    ]


def num_chunks(least: float) -> int:
    """The next number of chunks from ``least`` on that is 1, 2, 4 or a multiple of 8.

    Then that many devices, or a part of them, have as much to do as each other.
    """
    num = max(1, math.ceil(least))
    return 1 << (num - 1).bit_length() if num <= MANY else MANY * math.ceil(num / MANY)
