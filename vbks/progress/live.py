"""One display on a terminal, redrawn in its place from the first second on.

A thread draws it, so that it moves while TensorFlow is imported and while a long step is computed.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from threading import Event, Thread
from typing import TextIO

from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from vbks.printable import printable
from vbks.progress.display import Display, harmless
from vbks.progress.frames import frame
from vbks.progress.tally import Tally

REFRESH_SECONDS = 0.2
"""Two drawings are this far apart: faster than anyone reads, slower than a terminal minds."""


class Terminal(Console):
    """A console that falls silent when nobody reads it any more, instead of ending the program."""

    def on_broken_pipe(self) -> None:
        """Be silent."""
        self.quiet = True

    @property
    def size(self) -> ConsoleDimensions:
        """That of the terminal which is written to, whatever became of the other streams."""
        if self._width is None and self._height is None and "COLUMNS" not in os.environ:
            with suppress(OSError, ValueError, AttributeError):
                found = os.get_terminal_size(self.file.fileno())
                if found.columns > 0:
                    return ConsoleDimensions(found.columns, found.lines or 25)
        return super().size

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


def own_stream(stream: TextIO) -> TextIO:
    """A stream to the same place, which stays open while the first one is led elsewhere."""
    try:
        return open(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="replace")
    except (OSError, ValueError, AttributeError):
        return stream


class LiveDisplay(Display):
    """A display in place on a terminal; in the end a line is left of it."""

    def __init__(self, console: Console | None = None, tally: Tally | None = None) -> None:
        super().__init__(tally)
        self._given = console
        self._own: TextIO | None = None
        self._console = Terminal(stderr=True) if console is None else console
        self._live: Live | None = None
        self._done = Event()
        self._thread: Thread | None = None

    def open(self) -> None:
        """Draw it for the first time, and have it redrawn until it is closed."""
        if self._live is not None:
            return
        if self._given is None:
            self._own = own_stream(sys.stderr)
            self._console = Terminal(file=self._own)
        self._live = Live(
            get_renderable=lambda: frame(self.tally),
            console=self._console,
            auto_refresh=False,
            transient=True,
            # What the user prints goes above the display, but never from a file to the terminal.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=sys.stderr.isatty(),
        )
        self._live.start(refresh=True)
        self._done.clear()
        self._thread = Thread(target=self._redraw, daemon=True)
        self._thread.start()

    def keep(self, line: str) -> None:
        """Print a line above the display."""
        self._console.print(Text(printable(line)))

    def close(self) -> None:
        """Take the display away and give the terminal back."""
        live, self._live = self._live, None
        thread, self._thread = self._thread, None
        self._done.set()
        if thread is not None:
            thread.join()
        try:
            if live is not None:
                live.stop()
        finally:
            self._close_own()

    def _close_own(self) -> None:
        """Close the stream that was made for the drawings."""
        own, self._own = self._own, None
        if own is not None and own is not sys.stderr:
            self._console = Terminal(stderr=True)
            own.close()

    def _redraw(self) -> None:
        while not self._done.wait(REFRESH_SECONDS):
            self._refresh()

    @harmless
    def _refresh(self) -> None:
        live = self._live
        if live is not None:
            live.refresh()
