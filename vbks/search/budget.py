"""How long a search may go on: seconds, candidates, or both."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from vbks.errors import SettingsError, is_real
from vbks.policies import BudgetPolicy


@dataclass(frozen=True)
class Budget:
    """Seconds and candidates that a search may spend; one in candidates can be repeated exactly.

    Seconds run from ``began`` on, a value of `time.perf_counter()`; by default it is that of the
    call of `vbks.fit`.
    """

    seconds: float = math.inf
    candidates: float = math.inf
    began: float = field(default=math.nan, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, amount in (("seconds", self.seconds), ("candidates", self.candidates)):
            if not is_real(amount) or not amount > 0:
                raise SettingsError(f"the budget has {amount!r} {name}, expected more than 0.")


def budget_of(budget: float | Budget | None, began: float = math.nan) -> Budget | None:
    """A budget from what a user gives: a number means seconds, from when the call ``began``."""
    if budget is None:
        return None
    if isinstance(budget, Budget):
        return replace(budget, began=began) if math.isnan(budget.began) else budget
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise SettingsError(
            f"budget is {budget!r}, expected seconds or vbks.Budget(candidates=...). "
            "Give a number, or leave it out."
        )
    return Budget(seconds=float(budget), began=began)


def beginning_of(budget: Budget | None) -> float:
    """When the time of a call began to run: now, unless its budget says."""
    is_known = budget is not None and not math.isnan(budget.began)
    return budget.began if budget is not None and is_known else time.perf_counter()


Decide = Callable[[Callable[[], int]], int]
"""Makes a decision, or knows how it was made."""


def made_now(decision: Callable[[], int]) -> int:
    """Make a decision for the first time."""
    return decision()


@dataclass
class BudgetTracker:
    """What is left of a budget, and the pace at which it is spent.

    All that is done or left undone for want of time is decided by `affordable`. Costs are rough
    prices of fits in seconds; what a second of them really takes is learnt from those made so far.
    """

    budget: Budget
    began: float = math.nan
    """When the time began to run: now, unless it is given."""
    clock: Callable[[], float] = time.perf_counter
    candidates: int = 0
    """Candidates that were fitted."""
    cost: float = 0.0
    """Sum of the costs so far, in which those of earlier calls have less and less weight."""
    time_taken: float = 0.0
    """Seconds that the costs in `cost` took, with the same weights."""
    decide: Decide = made_now
    """What makes decisions: they may have been made before."""
    policy: BudgetPolicy = field(default_factory=BudgetPolicy)
    startup: float = 0.0
    """What the first call costs beside its candidates, such as graphs that are made then."""
    _last: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.began):
            self.began = self.clock()
        if math.isnan(self._last):
            # What was done before, such as imports, says nothing about the pace of fits.
            self._last = self.clock()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.began

    @property
    def pace(self) -> float:
        """Seconds that one second of costs takes."""
        return self.time_taken / self.cost if self.cost else self.policy.first_pace

    def affordable(self, costs: Sequence[float], reserve: Sequence[float] = ()) -> int:
        """How many of the next candidates are to be fitted together now; 0 ends it.

        ``costs`` are theirs, in their order; ``reserve`` are those of fits that are to be made
        later. Time is not spent at once, as costs are uncertain: ask again until nothing is left.
        """
        num = int(min(len(costs), max(self.budget.candidates - self.candidates, 0)))
        if math.isinf(self.budget.seconds) or not num:
            return num
        return min(num, self.decide(lambda: self._in_time(costs, num, reserve)))

    def _in_time(self, costs: Sequence[float], num: int, reserve: Sequence[float]) -> int:
        """How many of the first ``num`` candidates there is time for now."""
        durations = self._durations(costs[:num])
        if not self.candidates:
            return self._first(durations)
        left = self.budget.seconds - self.seconds - self._reserved(reserve)
        own = self.policy
        at_end = min(left, own.share_at_end * self.budget.seconds)
        at_once = max(own.share_at_once * left, at_end)
        return _num_within(durations, at_once) or int(durations[0] <= own.share_alone * left)

    def spend(self, costs: Sequence[float]) -> None:
        """Count candidates that were fitted together, since what was spent before."""
        now, cost = self.clock(), self._together(costs)[-1]
        self.candidates += len(costs)
        memory = self.policy.memory
        self.cost = memory * self.cost + cost
        self.time_taken = memory * self.time_taken + max(now - self._last, 0.0)
        self._last = now

    def for_final_fits(self, decide: Decide = made_now) -> BudgetTracker:
        """The same time for fits of candidates that were counted before, soon at their own pace."""
        return replace(
            self,
            decide=decide,
            budget=replace(self.budget, candidates=math.inf),
            startup=0.0,
            cost=self.policy.call_cost,
            time_taken=self.policy.call_cost * self.pace,
        )

    def _durations(self, costs: Sequence[float]) -> list[float]:
        """Seconds that the first, the first two, ... will take together."""
        return [self.pace * cost for cost in self._together(costs)]

    def _reserved(self, costs: Sequence[float]) -> float:
        """Seconds for as many of later fits as may be made, if that is any."""
        most = self.policy.reserved_share * self.budget.seconds
        return max((d for d in self._durations(costs) if d <= most), default=0.0)

    def _first(self, durations: Sequence[float]) -> int:
        """How many are fitted first: some whatever the budget is, so that there is an answer."""
        own, startup = self.policy, self.pace * self.startup
        left = self.budget.seconds - self.seconds - startup
        few = _num_within(durations[: own.few], startup + max(left, own.few_seconds))
        return max(1, few, _num_within(durations, startup + own.first_share * left))

    def _together(self, costs: Sequence[float]) -> list[float]:
        """Costs of the first, of the first two, ... if these are fitted together."""
        most, share = self.policy.full_cost_candidates, self.policy.pruned_cost_share
        fixed = self.policy.call_cost + self.startup * (not self.candidates)
        counted = (cost if k < most else share * cost for k, cost in enumerate(costs))
        return [fixed + total for total in accumulate(counted)]


def _num_within(durations: Sequence[float], most: float) -> int:
    """How many of growing durations are within ``most`` seconds."""
    return sum(duration <= most for duration in durations)
