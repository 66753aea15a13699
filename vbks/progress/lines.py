"""A few plain lines, where nothing can be drawn in place: in files, pipes and logs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from math import inf
from typing import TextIO

from vbks.printable import printable
from vbks.progress.display import Display
from vbks.progress.tally import Tally
from vbks.progress.words import best_of, kernels_tried, time_of, title_of

WAITS = (5.0, 15.0, 40.0, 60.0)
"""Seconds from the beginning to the first line, from that to the second, and so on; the last goes
on. What is over before the first needs no lines."""


class PlainLines(Display):
    """A line now and then, and one in the end if there was any before."""

    def __init__(
        self, stream: Callable[[], TextIO] = lambda: sys.stderr, tally: Tally | None = None
    ) -> None:
        super().__init__(tally)
        self._stream = stream
        self._waits: Iterator[float] = iter(())
        self._due = inf
        self._has_spoken = False
        self._begin()

    def changed(self) -> None:
        """Write a line if the time has come."""
        now = self.tally.clock()
        if now >= self._due:
            self._due = now + next(self._waits)
            self._has_spoken = True
            self._write(_line(self.tally))

    def keep(self, line: str) -> None:
        """Write a line, unless it is the first."""
        if self._has_spoken:
            self._write(line)

    def close(self) -> None:
        """Begin anew with the next fit."""

    def stop(self) -> None:
        """Leave a line about what was done."""
        super().stop()
        self._begin()

    def _begin(self) -> None:
        self._waits = chain(WAITS, repeat(WAITS[-1]))
        self._due = self.tally.clock() + next(self._waits)
        self._has_spoken = False

    def _write(self, line: str) -> None:
        stream = self._stream()
        with suppress(BrokenPipeError):
            stream.write(f"vbks: {printable(line)}\n")
            stream.flush()


def _line(tally: Tally) -> str:
    """All that a display would show, in a line."""
    counts = kernels_tried(len(tally.tried), tally.num_failed) if tally.tried else ""
    best = best_of(tally)
    told = (title_of(tally), time_of(tally), counts, f"best so far {best}" if best else "")
    return "; ".join(filter(None, told))
