"""Work that can be handed out: one stage for chunks of candidates, none of which needs another."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeAlias

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.grammar.expression import leaves
from vbks.inference.candidate import Candidate
from vbks.inference.comparison import Comparison
from vbks.inference.local_fit import LocalFit
from vbks.inference.paper.state import CandidateState
from vbks.inference.scratch import Scratch
from vbks.kernels import is_batchable, num_waves

USUAL_COST = 3.0
"""Cost of a candidate that counts as one: three leaves, one wave. More expensive ones fill a chunk
sooner."""

MANY = 8
"""Chunks from which on their number is a multiple of this: machines have 1, 2, 4 or 8 devices."""

_FAILURES = (tf.errors.OpError, MemoryError, np.linalg.LinAlgError)
"""What a candidate may do to the work that it is part of."""

Unfitted: TypeAlias = "Candidate | CandidateState"
"""Candidates on their way, of which both know their layout and have ``values`` once they began."""

Member: TypeAlias = "Unfitted | LocalFit"
"""All say what they are about by ``expression``, and how long that took by ``seconds``."""

Stage: TypeAlias = Callable[..., list[Any]]
"""``stage(members, comparison)`` gives a result for each, from them and the comparison alone."""

Failure: TypeAlias = Callable[[Any, Comparison, str], Any]
"""The result of a member that cannot be worked on, and why."""

Results: TypeAlias = Generator[tuple[int, list[Any]], None, None]
"""Places of chunks and their results. Closing it gives up what is not done."""


@dataclass(frozen=True, eq=False)
class Work:
    """A stage for several chunks; `do` is one of them, in whichever process it is called.

    ``scratches``, if there are any, are one for each chunk; a stage that ``is_long`` takes it, to
    go on from there if it was interrupted.
    """

    name: str
    stage: Stage
    comparison: Comparison
    chunks: tuple[tuple[Any, ...], ...]
    fail: Failure
    is_long: bool = False
    scratches: tuple[Scratch, ...] = ()

    def do(self, k: int) -> list[Any]:
        """Results for the members of chunk k, with the time that it took."""
        stage = self.stage
        if self.is_long and self.scratches:
            stage = partial(stage, scratch=self.scratches[k])
        began = time.perf_counter()
        done = self._safely(stage, self.chunks[k])
        share = (time.perf_counter() - began) / len(done)
        return [replace(result, seconds=result.seconds + share) for result in done]

    def cost(self, k: int) -> float:
        """The cost of chunk k relative to others."""
        return sum(cost_of(member) for member in self.chunks[k])

    def only(self, places: Sequence[int]) -> Work:
        """The same for some of the chunks."""
        return replace(
            self,
            chunks=tuple(self.chunks[k] for k in places),
            scratches=tuple(self.scratches[k] for k in places if self.scratches),
        )

    def _safely(self, stage: Stage, members: Sequence[Any]) -> list[Any]:
        """A stage; if it breaks, halves of the chunk, until the culprit is alone and fails."""
        try:
            return stage(members, self.comparison)
        except _FAILURES as error:
            if len(members) == 1:
                reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
                return [self.fail(members[0], self.comparison, reason)]
            half = len(members) // 2
            parts = (members[:half], members[half:])
            # The halves are other work than what a scratch was kept of.
            return [result for part in parts for result in self._safely(self.stage, part)]


class Executor(Protocol):
    """Has work done, somewhere."""

    def run(self, work: Work) -> Results:
        """Places of chunks and their results, as they are done."""
        ...


class InOrder:
    """Does all work here, chunk after chunk."""

    def run(self, work: Work) -> Results:
        """Places of chunks and their results, in their order."""
        for k in range(len(work.chunks)):
            yield k, work.do(k)


def carry_out(
    executor: Executor,
    work: Work,
    places: Sequence[Sequence[int]],
    tell: Callable[[list[Any]], object],
) -> dict[int, Any]:
    """Results by the places that members of the chunks have; ``tell`` hears of each chunk's."""
    results: dict[int, Any] = {}
    with closing(executor.run(work)) as chunks:
        for chunk, done in chunks:
            results |= dict(zip(places[chunk], done, strict=True))
            tell(done)
    return results


def cost_of(member: Member) -> float:
    """The cost of a candidate relative to others.

    It grows with its leaves and its starts, of which waves need more. What candidates share, such
    as the number of inducing points, is in the size of chunks.
    """
    num_leaves = len(leaves(member.expression))
    if isinstance(member, LocalFit) or len(member.values):
        return num_leaves
    return num_leaves * max(1, num_waves(member.layout)) ** 2


def cut(candidates: Sequence[Unfitted], comparison: Comparison) -> list[list[int]]:
    """Places of candidates that are worked on together: of one jitter, and batched or alone.

    They depend on nothing but the candidates and the comparison. The most expensive come first, and
    those in a chunk cost about the same.
    """
    most = comparison.chunk_size

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
