"""What was reported, in words: for a display, and for lines where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vbks.progress.tally import WHOLE, Tally

NAMED = 3
"""A sentence names up to this many candidates."""


def title_of(tally: Tally) -> str:
    """What is done now, and in which of several fits."""
    part = tally.part
    if part is None:
        return tally.what
    return f"{part.title} ({part.number} of {part.total}): {tally.what}"


def time_of(tally: Tally) -> str:
    """The time taken, beside that which there is, and the time left."""
    taken, goal = tally.seconds, tally.goal
    words = duration(taken)
    if goal is not None and math.isfinite(goal.seconds):
        words = f"{words} of {duration(goal.seconds)}"
    left = tally.seconds_left()
    share = tally.share()
    if share is not None and share >= WHOLE:
        return f"{words}, finishing"
    return words if left is None else f"{words}, about {duration(left)} left"


def count_of(tally: Tally) -> str:
    """How many candidates were tried, and how far the work on those of now has come."""
    words = kernels_tried(len(tally.tried), tally.num_failed) if tally.tried else ""
    batch = tally.batch
    now = f"{batch.name} {min(batch.done, batch.total)} of {batch.total}" if batch.name else ""
    return "; ".join(filter(None, (words, now)))


def best_of(tally: Tally) -> str:
    """The best candidate so far, or nothing."""
    return tally.best[0][1] if tally.best else tally.leader


def summary_of(tally: Tally) -> str:
    """What a fit has come to, in a line, or nothing if no candidate was tried."""
    if not tally.tried:
        return ""
    best = best_of(tally)
    words = f"{kernels_tried(len(tally.tried), tally.num_failed)} in {duration(tally.seconds)}"
    words = f"{tally.part.title}: {words}" if tally.part is not None else words
    return f"{words}; the best is {best}." if best else f"{words}."


def kernels_tried(num: int, failed: int = 0) -> str:
    """How many kernels were tried, and how many of them could not be fitted."""
    words = f"{num} kernel{'s' * (num != 1)} tried"
    return f"{words}, {failed} failed" if failed else words


def some_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown, more = ", ".join(names[:NAMED]), len(names) - NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


def duration(seconds: float) -> str:
    """Seconds up to two minutes, then minutes, then hours."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
