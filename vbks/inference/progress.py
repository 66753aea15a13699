"""What a long fit tells while it works: nothing, or a live table on the terminal.

A fit reports values to a `Progress` and need not know what becomes of them. The table is drawn by
the calls themselves, not by a thread, and a terminal that fails makes it silent, never the fit.
"""

from __future__ import annotations

import heapq
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

REFRESH_SECONDS = 0.25
"""Two drawings are at least this far apart: faster than anyone reads, slower than a terminal
minds."""

NUM_BEST = 5
"""This many candidates are shown: enough to see how close they are, few enough for a small
window."""

BAR_WIDTH = 30
"""The bar has this many columns; the words beside it fit a window of 100."""

P = ParamSpec("P")


class Progress(Protocol):
    """What a fit reports while it works."""

    def start(self, num_candidates: int, what: str) -> None:
        """The work begins: how many candidates, and in words what is done with them."""
        ...

    def stage(self, name: str, total: int) -> None:
        """The next stage begins, with ``total`` units of work."""
        ...

    def advance(self, amount: int = 1) -> None:
        """Units of work of this stage are done."""
        ...

    def finished(self, expression: str, elbo: float, ok: bool = True) -> None:
        """One candidate is done, or has failed."""
        ...

    def say(self, notice: str) -> None:
        """Tell the user a sentence."""
        ...

    def stop(self) -> None:
        """The work is over, whether or not it went well."""
        ...


class Quiet:
    """A progress that shows nothing."""

    def start(self, num_candidates: int, what: str) -> None:
        """Do nothing."""

    def stage(self, name: str, total: int) -> None:
        """Do nothing."""

    def advance(self, amount: int = 1) -> None:
        """Do nothing."""

    def finished(self, expression: str, elbo: float, ok: bool = True) -> None:
        """Do nothing."""

    def say(self, notice: str) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


def progress_for(wanted: bool | Progress) -> Progress:
    """A table on the terminal if wanted and there is a terminal; a progress of one's own as is."""
    if not isinstance(wanted, bool):
        return wanted
    console = _Terminal(stderr=True)
    return Table(console) if wanted and console.is_terminal else Quiet()


@contextmanager
def reporting(wanted: bool | Progress) -> Iterator[Progress]:
    """Like `progress_for`, and the terminal is as it was at the end, whatever happens."""
    progress = progress_for(wanted)
    try:
        yield progress
    finally:
        progress.stop()


class _Terminal(Console):
    """A console that falls silent when nobody reads it any more, instead of ending the program."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


@dataclass
class _Stage:
    """One stage: units of work, those done, and when it began."""

    name: str
    total: int
    began: float
    done: int = 0

    def seconds_left(self, now: float) -> float | None:
        """Time for the rest at the pace so far; not known before the first unit is done."""
        if self.done <= 0:
            return None
        return (now - self.began) / self.done * max(self.total - self.done, 0)


@dataclass
class _Tally:
    """All that was reported since the start."""

    num_candidates: int
    what: str
    began: float
    stage: _Stage | None = None
    done: int = 0
    failed: int = 0
    best: list[tuple[float, str]] = field(default_factory=list)

    def add(self, expression: str, elbo: float, ok: bool) -> None:
        """Count a candidate, and rank it if it has a value."""
        self.done += 1
        self.failed += not ok
        if ok and math.isfinite(elbo):
            self.best = heapq.nlargest(NUM_BEST, [*self.best, (elbo, expression)])


def _harmless(
    method: Callable[Concatenate[Table, P], None],
) -> Callable[Concatenate[Table, P], None]:
    """A method that silences its table if it fails, for a fit is worth more than its display."""

    @wraps(method)
    def guarded(self: Table, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if self._broken:
            return
        try:
            method(self, *args, **kwargs)
        except Exception:
            self._broken = True
            with suppress(Exception):
                self._close()

    return guarded


class Table:
    """A live table: bar of the stage, candidates done and failed, the best so far, time left."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.console = _Terminal(stderr=True) if console is None else console
        self._clock = clock
        self._tally = _Tally(0, "", clock())
        self._live: Live | None = None
        self._drawn = -math.inf
        self._broken = False

    @_harmless
    def start(self, num_candidates: int, what: str) -> None:
        """Open the table, empty."""
        self._close()
        self._tally = _Tally(num_candidates, what, self._clock())
        self._live = Live(
            get_renderable=self._render,
            console=self.console,
            auto_refresh=False,
            # What the user prints goes above the table, but never from a file to the terminal.
            redirect_stdout=self.console.stderr and sys.stdout.isatty(),
            redirect_stderr=self.console.stderr,
        )
        self._drawn = self._clock()
        self._live.start(refresh=True)

    @_harmless
    def stage(self, name: str, total: int) -> None:
        """Begin a new bar."""
        self._tally.stage = _Stage(name, total, self._clock())
        self._refresh()

    @_harmless
    def advance(self, amount: int = 1) -> None:
        """Move the bar."""
        if self._tally.stage is not None:
            self._tally.stage.done += amount
        self._refresh()

    @_harmless
    def finished(self, expression: str, elbo: float, ok: bool = True) -> None:
        """Count a candidate, and show it if it is one of the best."""
        self._tally.add(expression, elbo, ok)
        self._refresh()

    @_harmless
    def say(self, notice: str) -> None:
        """Print a sentence above the table."""
        self.console.print(Text(notice))

    @_harmless
    def stop(self) -> None:
        """Draw the table for the last time and give the terminal back."""
        self._close()

    def _close(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _refresh(self) -> None:
        now = self._clock()
        if self._live is not None and now - self._drawn >= REFRESH_SECONDS:
            self._drawn = now
            self._live.refresh()

    def _render(self) -> RenderableType:
        tally, now = self._tally, self._clock()
        parts: list[RenderableType] = [Text(tally.what, style="bold")]
        if tally.stage is not None:
            parts.append(_stage_line(tally.stage, now))
        parts.append(_count_line(tally, now))
        if tally.best:
            parts.append(_best_grid(tally.best))
        return Group(*parts)


def _stage_line(stage: _Stage, now: float) -> Grid:
    """Name, bar, units done, and the time left."""
    left = stage.seconds_left(now)
    grid = Grid.grid(padding=(0, 1))
    grid.add_row(
        Text(stage.name),
        ProgressBar(total=max(stage.total, 1), completed=stage.done, width=BAR_WIDTH),
        Text(f"{stage.done}/{stage.total}"),
        Text("" if left is None else f"about {_duration(left)} left"),
    )
    return grid


def _count_line(tally: _Tally, now: float) -> Text:
    """Candidates done and failed, and the time since the start."""
    failed = f", {tally.failed} failed" if tally.failed else ""
    return Text(
        f"{tally.done} of {tally.num_candidates} candidates done{failed}; "
        f"{_duration(now - tally.began)} elapsed"
    )


def _best_grid(best: list[tuple[float, str]]) -> Grid:
    """The best candidates with their ELBOs, and how far each is behind the first."""
    grid = Grid()
    # A text is shown as it is; a plain string would lose the [2] of SE[2] as a style of rich.
    grid.add_column("best so far", no_wrap=True, overflow="ellipsis")
    grid.add_column("ELBO", justify="right", no_wrap=True)
    grid.add_column("behind", justify="right", no_wrap=True)
    for elbo, expression in best:
        grid.add_row(Text(expression), f"{elbo:.2f}", f"{best[0][0] - elbo:.2f}")
    return grid


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
