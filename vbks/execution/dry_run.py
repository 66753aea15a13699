"""What a fit would do on some number of devices, without doing it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from vbks.errors import SettingsError
from vbks.execution.placement import Placement, costliest_first, placed
from vbks.execution.work import Executor, Results, Work
from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.result import LocalFit

SHOWN = 3
"""Candidates of a chunk that a table names."""


@dataclass(frozen=True)
class PlannedChunk:
    """A chunk of candidates in one stage of their fits, and what it needs where it goes.

    ``num_rows`` are those of an evaluation: of a minibatch where fits are stochastic. ``cost`` is
    in units of leaves. ``num_bytes`` is what kernel matrices and work on them take. Looks choose
    inducing points of their own, and exact fits have none.
    """

    placement: Placement
    bound: str
    num_rows: int
    num_inducing: int | None
    num_bytes: int
    cost: float


@dataclass(frozen=True)
class DryRun:
    """Which chunk of candidates would go to which of some number of devices.

    Chunks are those of a real run in which no candidate is pruned. Idle devices take the most
    expensive chunk that is left, here by its expected cost. A row of the table takes 8 bytes for
    each of its numbers in the memory of every process beside what is said here.
    """

    num_workers: int
    chunks: tuple[PlannedChunk, ...]

    @property
    def placements(self) -> tuple[Placement, ...]:
        """All chunks in the order in which they begin, as executors note them."""
        return tuple(chunk.placement for chunk in self.chunks)

    def num_bytes(self, worker: str) -> int:
        """Bytes that a device needs at most at once."""
        own = [chunk.num_bytes for chunk in self.chunks if chunk.placement.worker == worker]
        return max(own, default=0)

    def busy(self, worker: str) -> float:
        """Share of the time for which a device has work, by expected costs."""
        longest = total = 0.0
        for stage in dict.fromkeys(chunk.placement.stage for chunk in self.chunks):
            loads = dict.fromkeys(self.workers, 0.0)
            for chunk in self.chunks:
                if chunk.placement.stage == stage:
                    loads[chunk.placement.worker] += chunk.cost
            longest += max(loads.values())
            total += loads[worker]
        return total / longest

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of the devices."""
        return tuple(f"device {i}" for i in range(self.num_workers))

    def __str__(self) -> str:
        lines = [f"{self.num_workers} device{'s' * (self.num_workers > 1)}"]
        for worker in self.workers:
            most = f"{self.num_bytes(worker) / 2**20:,.0f} MB"
            lines.append(f"  {worker}: at most {most}, busy {self.busy(worker):.0%} of the time")
            for chunk in self.chunks:
                if chunk.placement.worker == worker:
                    lines.append(f"    {_line(chunk)}")
        return "\n".join(lines)


def plan(fit: Callable[[Executor], object], num_workers: Sequence[int]) -> tuple[DryRun, ...]:
    """Where the work of a fit would go, which is called with an executor that does none of it.

    A search is planned up to the end of its first round, as no one knows what it proposes then.
    """
    for num in num_workers:
        if num < 1:
            raise SettingsError(f"a dry run for {num} devices was asked for. Ask for 1 or more.")
    notes = _Notes()
    with suppress(_PlannedError):
        fit(notes)
    return tuple(DryRun(num, tuple(_planned(notes.works, num))) for num in num_workers)


def schedule(work: Work, num_workers: int) -> list[tuple[int, int]]:
    """Indices of chunks, the most expensive first, each with that of the first idle worker."""
    idle = [(0.0, i) for i in range(num_workers)]
    found = []
    for k in costliest_first(work):
        time, i = heapq.heappop(idle)
        heapq.heappush(idle, (time + work.cost(k), i))
        found.append((k, i))
    return found


class _PlannedError(Exception):
    """Raised where a fit would have results that cannot be made up."""


@dataclass
class _Notes:
    """An executor that notes all work and does none, up to results that cannot be made up."""

    works: list[Work] = field(default_factory=list)

    def run(self, work: Work) -> Results:
        """Candidates as they might come back."""
        self.works.append(work)
        first = work.chunks[0][0]
        ends_in_fits = isinstance(work.fail(first, work.context, "dry run"), LocalFit)
        if ends_in_fits or not isinstance(first, Candidate):
            raise _PlannedError
        for k, chunk in enumerate(work.chunks):
            yield k, [_as_if_done(member) for member in chunk]


def _as_if_done(candidate: Candidate) -> Candidate:
    """A candidate after a stage in which all were found to be as good as each other."""
    H = len(candidate.layout)
    return replace(candidate, thetas=np.zeros((1, H)), values=np.zeros(1))


def _planned(works: Sequence[Work], num_workers: int) -> list[PlannedChunk]:
    chunks = []
    for work in works:
        context = work.context
        for k, i in schedule(work, num_workers):
            members = work.chunks[k]
            is_look = all(isinstance(m, Candidate) and not len(m.values) for m in members)
            chunks.append(
                PlannedChunk(
                    placed(work.name, f"device {i}", members),
                    context.bound,
                    context.num_screening_rows if is_look else _num_rows(context),
                    None if is_look or context.bound == "exact" else context.num_inducing,
                    context.screening_bytes() if is_look else context.fit_bytes(len(members)),
                    work.cost(k),
                )
            )
    return chunks


def _num_rows(context: FitContext) -> int:
    is_stochastic = context.bound == "stochastic"
    return min(context.batch_size, context.num_rows) if is_stochastic else context.num_rows


def _line(chunk: PlannedChunk) -> str:
    names = chunk.placement.candidates
    named = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    many = f"{len(names)} candidate{'s' * (len(names) > 1)}"
    size = f"{chunk.num_rows:,} rows"
    if chunk.num_inducing:
        size += f", {chunk.num_inducing} inducing points"
    return f"{chunk.placement.stage}: {many} ({named}), {size}, {chunk.num_bytes / 2**20:,.0f} MB"
