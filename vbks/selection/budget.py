"""How long a search may go on: seconds, candidates, or both."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from vbks.errors import DataError


@dataclass(frozen=True)
class Budget:
    """Seconds and candidates that a search may spend; one in candidates can be repeated exactly."""

    seconds: float = math.inf
    candidates: float = math.inf

    def __post_init__(self) -> None:
        for name, amount in (("seconds", self.seconds), ("candidates", self.candidates)):
            if not amount > 0:
                raise DataError(f"the budget has {amount} {name}, expected more than 0.")


def budget_of(budget: float | Budget | None) -> Budget | None:
    """A budget from what a user gives: a number means seconds."""
    if budget is None or isinstance(budget, Budget):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise DataError(
            f"budget is {budget!r}, expected seconds or vbks.Budget(candidates=...). "
            "Give a number, or leave it out."
        )
    return Budget(seconds=float(budget))


@dataclass
class Purse:
    """What is left of a budget."""

    budget: Budget
    candidates: int = 0
    began: float = field(default_factory=time.perf_counter)
    busy: float = 0.0
    """Seconds spent on the candidates so far."""

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.began

    def affordable(self, num: int) -> int:
        """How many of so many more candidates there is budget for, at the pace so far."""
        left = self.budget.candidates - self.candidates
        if self.candidates and math.isfinite(self.budget.seconds):
            pace = max(self.busy / self.candidates, 1e-6)
            left = min(left, max(0.0, self.budget.seconds - self.seconds) / pace)
        return int(min(num, max(left, 0)))

    def spend(self, num: int, seconds: float) -> None:
        """Count candidates that were fitted."""
        self.candidates += num
        self.busy += seconds
