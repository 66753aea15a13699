"""What was reported as a picture of a few lines, for terminals of any width."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from vbks.printable import printable
from vbks.progress.tally import Tally
from vbks.progress.words import count_of, time_of, title_of

LONGEST_BAR = 40
"""The bar has up to this many columns."""

LEAST_BAR = 10
"""There is no bar in a window that leaves fewer columns for it."""


def frame(tally: Tally) -> RenderableType:
    """What is tried, the bar with the time left, counts, and the best so far."""
    parts: list[RenderableType] = [_line(title_of(tally), "bold"), _Bar(tally)]
    count = count_of(tally)
    if count:
        parts.append(_line(count, "dim"))
    if tally.best:
        parts.append(_Best(tally.best))
    elif tally.leader:
        parts.append(_line(f"Ahead: {tally.leader}"))
    return Group(*parts)


def frame_text(tally: Tally, width: int) -> str:
    """The same as text without colours."""
    console = Console(width=width, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as drawn:
        console.print(frame(tally))
    return drawn.get()


BEST = "Best so far"
"""What stands before the best candidate."""


LEAST_NAME = 12
"""Values are left out in a window that leaves fewer columns for the names of candidates."""

LONGEST_WORDS = 34
"""This many columns are kept for the time beside the bar."""

GAP = 2
"""Columns between two parts of a line."""


class _Bar:
    """A bar that is as wide as the window allows; one without an end moves to and fro."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        words, share = time_of(self.tally), self.tally.share()
        # The bar keeps its width while the words change theirs.
        free = options.max_width - max(len(words), LONGEST_WORDS) - GAP
        width = min(LONGEST_BAR, free)
        if width < LEAST_BAR:
            yield _line(words)
            return
        total = None if share is None else 1.0
        grid = Table.grid(padding=(0, GAP, 0, 0))
        grid.add_row(ProgressBar(total=total, completed=share or 0.0, width=width), Text(words))
        yield grid


class _Best:
    """The best candidates with their log evidence, and how far each is behind the first."""

    def __init__(self, best: list[tuple[float, str]]) -> None:
        self.best = best

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        highest = self.best[0][0]
        told = [f"log evidence {highest:.1f}"]
        told += [f"{value - highest:.1f}" for value, _ in self.best[1:]]
        longest = max(map(len, told))
        room = options.max_width - len(BEST) - longest - 2 * GAP
        if room < LEAST_NAME:
            told, longest, room = [""] * len(told), -GAP, options.max_width - len(BEST) - GAP
        width = min(room, max(len(name) for _, name in self.best))
        for place, (words, (_, name)) in enumerate(zip(told, self.best, strict=True)):
            label = "" if place else BEST
            # A text is shown as it is; a string would lose the [2] of SE[2] as a style of rich.
            cut = Text(printable(name))
            cut.truncate(width, overflow="ellipsis", pad=True)
            line = Text(f"{label:{len(BEST) + GAP}}").append_text(cut)
            yield _line(line.append(f"{words:>{longest + GAP}}" if longest > 0 else ""))


def _line(words: str | Text, style: str = "") -> Text:
    """One line, cut where the window ends."""
    line = Text(printable(words), style=style) if isinstance(words, str) else words
    line.no_wrap, line.overflow = True, "ellipsis"
    return line
