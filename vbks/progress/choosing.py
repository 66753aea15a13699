"""Which display is meant: one in place where there is a terminal or a notebook, else few lines."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from vbks.errors import SettingsError
from vbks.progress.lines import PlainLines
from vbks.progress.live import LiveDisplay, Terminal
from vbks.progress.notebook import NotebookDisplay, has_notebook
from vbks.progress.protocol import Progress, Quiet

STDERR = 2
"""The file descriptor that libraries of C++ write to."""


def progress_for(wanted: bool | Progress) -> Progress:
    """What shows progress if that is wanted; a progress of one's own as it is."""
    if not isinstance(wanted, bool):
        if not hasattr(wanted, "finished"):
            raise SettingsError(
                f"progress is {wanted!r}, expected True, False or a `vbks.progress.Progress`."
            )
        return wanted
    if not wanted:
        return Quiet()
    if has_notebook():
        return NotebookDisplay()
    return LiveDisplay() if Terminal(stderr=True).is_terminal else PlainLines()


@contextmanager
def reporting(wanted: bool | Progress) -> Iterator[Progress]:
    """Like `progress_for`, and the terminal is as it was at the end, whatever happens."""
    progress = progress_for(wanted)
    try:
        yield progress
    finally:
        progress.stop()


@contextmanager
def above(progress: Progress) -> Iterator[None]:
    """Have what C++ writes to a terminal meanwhile appear above a display there, not through it."""
    if not isinstance(progress, LiveDisplay) or not os.isatty(STDERR):
        yield
        return
    with tempfile.TemporaryFile() as written:
        before = os.dup(STDERR)
        os.dup2(written.fileno(), STDERR)
        try:
            yield
        finally:
            os.dup2(before, STDERR)
            os.close(before)
            written.seek(0)
            text = written.read().decode(errors="replace").rstrip()
            if text:
                sys.stderr.write(f"{text}\n")
