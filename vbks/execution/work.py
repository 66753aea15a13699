"""Work that can be handed out: one stage for chunks of candidates, none of which needs another."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
import tensorflow as tf

from vbks.execution.stage_state import StageState

_FAILURES = (tf.errors.OpError, MemoryError, np.linalg.LinAlgError)
"""What a candidate may do to the work that it is part of."""

Stage: TypeAlias = Callable[..., list[Any]]
"""``stage(members, context)`` gives a result for each, from them and the context alone."""

Failure: TypeAlias = Callable[[Any, Any, str], Any]
"""The result of a member that cannot be worked on, and why."""

Results: TypeAlias = Generator[tuple[int, list[Any]], None, None]
"""Places of chunks and their results. Closing it gives up what is not done."""


def alike(member: object) -> float:
    """The cost of a member where all cost the same."""
    return 1.0


@dataclass(frozen=True, eq=False)
class Work:
    """A stage for several chunks; `do` is one of them, in whichever process it is called.

    ``stage_states``, if there are any, are one for each chunk; a stage that ``is_long`` takes its
    own, to go on from there if it was interrupted.
    """

    name: str
    stage: Stage
    context: Any
    chunks: tuple[tuple[Any, ...], ...]
    fail: Failure
    is_long: bool = False
    stage_states: tuple[StageState, ...] = ()
    cost_of: Callable[[Any], float] = alike
    """The cost of a member relative to others."""

    def do(self, k: int) -> list[Any]:
        """Results for the members of chunk k, with the time that it took."""
        stage = self.stage
        if self.is_long and self.stage_states:
            stage = partial(stage, stage_state=self.stage_states[k])
        began = time.perf_counter()
        try:
            done = stage(self.chunks[k], self.context)
        except _FAILURES as error:
            done = self._in_halves(self.chunks[k], error)
        share = (time.perf_counter() - began) / len(done)
        return [replace(result, seconds=result.seconds + share) for result in done]

    def cost(self, k: int) -> float:
        """The cost of chunk k relative to others."""
        return sum(map(self.cost_of, self.chunks[k]))

    def only(self, places: Sequence[int]) -> Work:
        """The same for some of the chunks."""
        return replace(
            self,
            chunks=tuple(self.chunks[k] for k in places),
            stage_states=tuple(self.stage_states[k] for k in places if self.stage_states),
        )

    def _in_halves(self, members: Sequence[Any], error: BaseException) -> list[Any]:
        """What a stage that broke gives for halves of a chunk, until the culprit is alone."""
        if len(members) == 1:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return [self.fail(members[0], self.context, reason)]
        half, done = len(members) // 2, []
        # The halves are other work than what a state of the stage was kept of.
        for part in (members[:half], members[half:]):
            try:
                done += self.stage(part, self.context)
            except _FAILURES as again:
                done += self._in_halves(part, again)
        return done


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
