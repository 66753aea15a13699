"""All that was reported so far, and what follows from it: how much is done, and how long it takes.

Nothing is drawn here. Times are values of one clock, that of the tally.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

NUM_BEST = 3
"""This many candidates are shown: enough to see how close they are, few enough for a small
window."""

LEAST_SHARE = 0.05
"""The time left is estimated from the pace once this share of the work is done."""

WHOLE = 0.999
"""A share of the work from here on is all of it, but for rounding."""


@dataclass(frozen=True)
class PartOfWork:
    """One whole fit among several."""

    title: str
    number: int
    total: int


@dataclass(frozen=True)
class Goal:
    """What the work may take: seconds since ``began``, or candidates."""

    seconds: float = math.inf
    candidates: float = math.inf
    began: float = 0.0


@dataclass
class Batch:
    """Candidates that are fitted together, stage after stage."""

    num: int = 0
    num_stages: int = 1
    stage: int = 0
    name: str = ""
    total: int = 0
    done: int = 0

    @property
    def share(self) -> float:
        """How much of the work on them is done, all stages taken as equal."""
        if not self.stage:
            return 0.0
        own = min(1.0, self.done / self.total) if self.total else 1.0
        return min(1.0, (self.stage - 1 + own) / max(self.num_stages, self.stage))


@dataclass
class Tally:
    """Everything that was reported since the beginning of a fit."""

    clock: Callable[[], float] = time.perf_counter
    began: float = math.nan
    what: str = ""
    part: PartOfWork | None = None
    goal: Goal | None = None
    batch: Batch = field(default_factory=Batch)
    tried: dict[str, bool] = field(default_factory=dict)
    """Candidates that are done, and whether they could be fitted."""
    leader: str = ""
    """The candidate that is ahead where none has a value yet."""
    _before: int = 0
    _values: dict[str, float] = field(default_factory=dict)
    _measure: str = ""
    _part_began: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.began):
            self.began = self.clock()
        self._part_began = self.began

    def begin_part(self, part: PartOfWork) -> None:
        """Forget what was found, as another fit begins."""
        self.part, self.goal, self.batch = part, None, Batch()
        self.tried, self._values, self.leader, self._before = {}, {}, "", 0
        self._measure, self._part_began = "", self.clock()

    def start(self, num: int, what: str, num_stages: int, measure: str) -> None:
        """Begin with other candidates; values of another measure than before count no more."""
        self.what = what
        self._before += self.batch.num
        self.batch = Batch(num, max(1, num_stages))
        if num and measure != self._measure:
            self.leader = self.best[0][1] if self._values else self.leader
            self._values, self._measure = {}, measure

    def stage(self, name: str, total: int) -> None:
        """Begin the next stage."""
        self.batch.stage += 1
        self.batch.name, self.batch.total, self.batch.done = name, total, 0

    def finished(self, expression: str, value: float, ok: bool) -> None:
        """Count a candidate once, and rank it by its first value of this measure."""
        self.tried[expression] = ok
        if ok and math.isfinite(value):
            self._values.setdefault(expression, value)

    @property
    def best(self) -> list[tuple[float, str]]:
        """The best candidates so far, with their values."""
        return heapq.nlargest(NUM_BEST, ((value, name) for name, value in self._values.items()))

    @property
    def num_failed(self) -> int:
        """Candidates that could not be fitted."""
        return len(self.tried) - sum(self.tried.values())

    @property
    def seconds(self) -> float:
        """Seconds of this fit: since its goal began, where there is one."""
        began = self._part_began if self.goal is None else self.goal.began
        return max(0.0, self.clock() - began)

    def share(self) -> float | None:
        """How much of the whole is done, from 0 to 1; none where nobody knows its end."""
        own = self._own_share()
        if self.part is None:
            return own
        return (self.part.number - 1 + (own or 0.0)) / self.part.total

    def seconds_left(self) -> float | None:
        """Seconds until the end, if that can be told."""
        own = self._own_seconds_left()
        if own is None or self.part is None:
            return own
        each = self.seconds + own
        if self.goal is not None and math.isfinite(self.goal.seconds):
            each = self.goal.seconds
        return own + (self.part.total - self.part.number) * each

    def _own_share(self) -> float | None:
        """The share of this fit, by its budget in seconds or by the candidates it has."""
        goal = self.goal
        if goal is None:
            return None
        shares = []
        if math.isfinite(goal.seconds):
            shares.append(self.seconds / goal.seconds)
        if math.isfinite(goal.candidates):
            done = self._before + self.batch.share * self.batch.num
            shares.append(done / goal.candidates)
        return min(1.0, max(shares)) if shares else None

    def _own_seconds_left(self) -> float | None:
        """The rest of the budget, or the time for the rest at the pace so far."""
        goal, share = self.goal, self._own_share()
        if goal is None or share is None:
            return None
        if math.isfinite(goal.seconds):
            return max(0.0, goal.seconds - self.seconds)
        if not LEAST_SHARE <= share < WHOLE:
            return None
        return self.seconds * (1.0 - share) / share
