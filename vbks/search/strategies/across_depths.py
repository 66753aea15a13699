"""A search that does not wait for the last candidates of a depth (appendix G of SKC's paper)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock, Thread
from typing import Protocol

from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit
from vbks.progress import Quiet
from vbks.search.protocol import SearchState, Strategy
from vbks.search.runner import SearchResult, SearchRunner


class EarlyStrategy(Strategy, Protocol):
    """A strategy that knows what to propose before all fits of a depth are there."""

    def propose_early(
        self, state: SearchState, fits: Sequence[LocalFit], num_waiting: int
    ) -> tuple[SearchState, tuple[Proposal, ...]]:
        """What to fit of the next depth, given some fits of this one and how many are not done."""
        ...


@dataclass(eq=False)
class _Lane:
    """Proposals that are fitted together, and those of their fits that are done, by place."""

    proposals: tuple[Proposal, ...]
    done: dict[int, LocalFit] = field(default_factory=dict)
    thread: Thread | None = None
    error: BaseException | None = None

    @property
    def num_waiting(self) -> int:
        """How many are not done."""
        return len(self.proposals) - len(self.done)

    def fits(self) -> list[LocalFit]:
        """Those that are done, in the order of the proposals."""
        return [self.done[k] for k in sorted(self.done)]


@dataclass
class AcrossDepths(SearchRunner):
    """A search whose next depth begins as soon as workers have nothing else to do.

    While the last upper bounds of a depth are computed, children of the best that are known by
    then are fitted by idle workers, in lists of their own. With one worker, with a budget, or with
    a checkpoint, whose work has to be repeatable, it is the search that waits. What is tried
    follows from the order in which fits are done, and from nothing else.
    """

    strategy: EarlyStrategy
    _lock: RLock = field(default_factory=RLock)
    _lanes: list[_Lane] = field(default_factory=list)
    """Lanes of the depth that is not done."""
    _early: list[_Lane] = field(default_factory=list)
    """Lanes of the next depth."""
    _is_over: bool = False

    @property
    def num_workers(self) -> int:
        """Chunks of work that are done at once; an executor that does not say it has one."""
        return getattr(self.evaluator.executor, "num_workers", 1)

    def run(self) -> SearchResult:
        """Search depth after depth, and fit the best as well as can be."""
        budget = self.tracker.budget
        is_limited = not (math.isinf(budget.seconds) and math.isinf(budget.candidates))
        if is_limited or self.num_workers < 2:
            return super().run()
        try:
            while self._begin_depth():
                self._finish_depth()
        finally:
            self._is_over = True
        return self._result(())

    def _begin_depth(self) -> bool:
        """Propose what was not begun early; whether there is anything in this depth."""
        with self._lock:
            self.state, proposals = self.strategy.propose(self.state)
            fresh = self._not_begun(proposals)
            self._lanes, self._early = self._early, []
            if self._lanes:
                self.state = replace(self.state, ending="")
            if fresh:
                self._lanes.append(_Lane(fresh))
            return bool(self._lanes)

    def _finish_depth(self) -> None:
        """Have all of this depth fitted, here what nobody else has begun."""
        for lane in self._lanes:
            if lane.thread is None:
                self._fit(lane, self.evaluator)
        for lane in self._lanes:
            if lane.thread is not None:
                lane.thread.join()
            if lane.error is not None:
                raise lane.error
        with self._lock:
            self.tracker.spend([self.cost(p) for lane in self._lanes for p in lane.proposals])
            fits = [fit for lane in self._lanes for fit in lane.fits()]
            self.state = self.strategy.absorb(self.state, fits)
            self._note()

    def _fit(self, lane: _Lane, evaluator: Evaluator) -> None:
        def hear(fits: Mapping[int, LocalFit]) -> None:
            with self._lock:
                if self._is_over:
                    raise RuntimeError("the search is over")
                lane.done |= fits
                self._begin_early()

        fits = evaluator.fit(lane.proposals, self.plan.search, hear)
        with self._lock:
            lane.done = dict(enumerate(fits))

    def _begin_early(self) -> None:
        """If workers are idle, have them fit what the next depth is known to have."""
        num_waiting = sum(lane.num_waiting for lane in self._lanes)
        num_early = sum(lane.num_waiting for lane in self._early)
        if not num_waiting or num_waiting + num_early >= self.num_workers:
            return
        known = [fit for lane in self._lanes for fit in lane.fits()]
        self.state, proposals = self.strategy.propose_early(self.state, known, num_waiting)
        fresh = self._not_begun(proposals)
        if fresh:
            lane = _Lane(fresh)
            lane.thread = Thread(target=self._fit_apart, args=[lane], daemon=True)
            self._early.append(lane)
            lane.thread.start()

    def _fit_apart(self, lane: _Lane) -> None:
        """Fit in a thread of its own, without a word to the user; errors wait for the depth."""
        try:
            self._fit(lane, replace(self.evaluator, report=Quiet()))
        except BaseException as error:
            lane.error = error

    def _not_begun(self, proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
        lanes = (*self._lanes, *self._early)
        begun = {p.structure for lane in lanes for p in lane.proposals}
        return tuple(p for p in proposals if p.structure not in begun)
