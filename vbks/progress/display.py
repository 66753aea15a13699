"""What all displays have in common: they keep a tally, and are worth less than the fit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from vbks.progress.protocol import Quiet
from vbks.progress.tally import Goal, PartOfWork, Tally
from vbks.progress.words import summary_of

P = ParamSpec("P")
D = TypeVar("D", bound="Display")


def harmless(
    method: Callable[Concatenate[D, P], None],
) -> Callable[Concatenate[D, P], None]:
    """A method that silences its display if it fails, for a fit is worth more than its display."""

    @wraps(method)
    def guarded(self: D, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if self.is_broken:
            return
        try:
            method(self, *args, **kwargs)
        except Exception:
            self.is_broken = True
            with suppress(Exception):
                self.close()

    return guarded


class Display(Quiet):
    """A progress that keeps a tally, and shows it somewhere by the methods of its subclasses."""

    def __init__(self, tally: Tally | None = None) -> None:
        self.tally = Tally() if tally is None else tally
        self.is_broken = False

    def open(self) -> None:
        """Begin to show, if that was not done yet."""

    def changed(self) -> None:
        """Show what is new, if it is time to."""

    def keep(self, line: str) -> None:
        """Show a line that stays."""

    def close(self) -> None:
        """Give back what was taken, as often as one likes."""

    @harmless
    def part(self, title: str, number: int, total: int) -> None:
        """Leave a line about the part that is done, and begin another."""
        self._sum_up()
        self.tally.begin_part(PartOfWork(title, number, total))
        self.changed()

    @harmless
    def goal(self, seconds: float, candidates: float, began: float) -> None:
        """Measure the bar against this."""
        self.tally.goal = Goal(seconds, candidates, began)
        self.changed()

    @harmless
    def start(self, num_candidates: int, what: str, num_stages: int = 1, measure: str = "") -> None:
        """Show what begins."""
        self.tally.start(num_candidates, what, num_stages, measure)
        self.open()
        self.changed()

    @harmless
    def stage(self, name: str, total: int) -> None:
        """Show the stage."""
        self.tally.stage(name, total)
        self.changed()

    @harmless
    def advance(self, amount: int = 1) -> None:
        """Count units of work of the stage."""
        self.tally.batch.done += amount
        self.changed()

    @harmless
    def leads(self, expression: str) -> None:
        """Show who is ahead as long as there is nothing better to tell."""
        self.tally.leader = expression
        self.changed()

    @harmless
    def finished(self, expression: str, value: float, ok: bool = True) -> None:
        """Count a candidate, and show it if it is one of the best."""
        self.tally.finished(expression, value, ok)
        self.changed()

    @harmless
    def say(self, notice: str) -> None:
        """Show a sentence that stays."""
        self.keep(notice)

    @harmless
    def stop(self) -> None:
        """Leave a line about what was done, and nothing else."""
        self.close()
        self._sum_up()
        self.tally = Tally(self.tally.clock)

    def _sum_up(self) -> None:
        line = summary_of(self.tally)
        if line:
            self.keep(line)
