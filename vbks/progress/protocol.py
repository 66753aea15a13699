"""What a fit reports while it works. It need not know what becomes of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """What a fit reports while it works; who shows it may subclass `Quiet`."""

    def part(self, title: str, number: int, total: int) -> None:
        """One of several whole fits begins, such as the second fold of three."""
        ...

    def goal(self, seconds: float, candidates: float, began: float) -> None:
        """How long it may take, from a value of `time.perf_counter` on; infinite if nobody said."""
        ...

    def start(self, num_candidates: int, what: str, num_stages: int = 1, measure: str = "") -> None:
        """Work begins: in words what, with how many candidates, and in how many stages.

        Values of candidates are compared with those of the same ``measure`` alone.
        """
        ...

    def stage(self, name: str, total: int) -> None:
        """The next stage begins, with ``total`` units of work."""
        ...

    def advance(self, amount: int = 1) -> None:
        """Units of work of this stage are done."""
        ...

    def leads(self, expression: str) -> None:
        """Before anything is finished, this candidate is ahead."""
        ...

    def finished(self, expression: str, value: float, ok: bool = True) -> None:
        """One candidate is done, or has failed; one that was pruned has no value, but NaN."""
        ...

    def say(self, notice: str) -> None:
        """Tell the user a sentence."""
        ...

    def stop(self) -> None:
        """The work is over, whether or not it went well."""
        ...


class Quiet:
    """A progress that shows nothing."""

    def part(self, title: str, number: int, total: int) -> None:
        """Do nothing."""

    def goal(self, seconds: float, candidates: float, began: float) -> None:
        """Do nothing."""

    def start(self, num_candidates: int, what: str, num_stages: int = 1, measure: str = "") -> None:
        """Do nothing."""

    def stage(self, name: str, total: int) -> None:
        """Do nothing."""

    def advance(self, amount: int = 1) -> None:
        """Do nothing."""

    def leads(self, expression: str) -> None:
        """Do nothing."""

    def finished(self, expression: str, value: float, ok: bool = True) -> None:
        """Do nothing."""

    def say(self, notice: str) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Part:
    """The progress of a fit that is one of several, so that its end is not that of the work."""

    whole: Progress

    def part(self, title: str, number: int, total: int) -> None:
        """Do nothing, as parts have no parts."""

    def goal(self, seconds: float, candidates: float, began: float) -> None:
        """Pass it on."""
        self.whole.goal(seconds, candidates, began)

    def start(self, num_candidates: int, what: str, num_stages: int = 1, measure: str = "") -> None:
        """Pass it on."""
        self.whole.start(num_candidates, what, num_stages, measure)

    def stage(self, name: str, total: int) -> None:
        """Pass it on."""
        self.whole.stage(name, total)

    def advance(self, amount: int = 1) -> None:
        """Pass it on."""
        self.whole.advance(amount)

    def leads(self, expression: str) -> None:
        """Pass it on."""
        self.whole.leads(expression)

    def finished(self, expression: str, value: float, ok: bool = True) -> None:
        """Pass it on."""
        self.whole.finished(expression, value, ok)

    def say(self, notice: str) -> None:
        """Pass it on."""
        self.whole.say(notice)

    def stop(self) -> None:
        """Do nothing: the whole is stopped by who began it."""
