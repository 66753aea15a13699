"""The display in a notebook: a text that is replaced in place, without widgets."""

from __future__ import annotations

import sys
from html import escape
from importlib import import_module
from typing import Any

from vbks.progress.display import Display
from vbks.progress.frames import frame_text
from vbks.progress.tally import Tally
from vbks.progress.words import summary_of

WIDTH = 80
"""Columns of the text: what fits beside a notebook's margins."""

REFRESH_SECONDS = 0.5
"""Two texts are at least this far apart, as each is a message to the browser."""


class Shown:
    """Text as notebooks show it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<pre style="line-height:1.3;white-space:pre">{escape(self.text)}</pre>'


def has_notebook() -> bool:
    """Whether this process shows what it displays in a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return type(shell).__name__ in ("ZMQInteractiveShell", "Shell")


class NotebookDisplay(Display):
    """A display in place in the output of a cell; in the end a line is left of it."""

    def __init__(self, tally: Tally | None = None) -> None:
        super().__init__(tally)
        self._handle: Any = None
        self._drawn = 0.0
        self._kept: list[str] = []

    def open(self) -> None:
        """Show it for the first time."""
        if self._handle is None:
            self._handle = import_module("IPython.display").display(self._shown(), display_id=True)
            self._drawn = self.tally.clock()

    def changed(self) -> None:
        """Replace the text, if the last one is old enough."""
        now = self.tally.clock()
        if self._handle is not None and now - self._drawn >= REFRESH_SECONDS:
            self._drawn = now
            self._handle.update(self._shown())

    def keep(self, line: str) -> None:
        """Add a line above what is replaced."""
        self._kept.append(line)
        self._drawn = 0.0

    def close(self) -> None:
        """Replace it for the last time by the lines that stay."""
        handle, self._handle = self._handle, None
        if handle is not None:
            lines = [*self._kept, summary_of(self.tally)]
            handle.update(Shown("\n".join(filter(None, lines))))
        self._kept = []

    def _shown(self) -> Shown:
        return Shown("\n".join([*self._kept, frame_text(self.tally, WIDTH)]))
