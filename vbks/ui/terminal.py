"""What commands write to standard output: sentences and tables for people, or JSON."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any

from vbks.printable import printable
from vbks.ui.wording import in_options

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

WIDTH = 120
"""Tables have up to this many columns of letters in files, and in pipes."""


@dataclass(frozen=True)
class Terminal:
    """Standard output for people, who read sentences and tables; or, asked for JSON, for programs.

    If nobody reads it any more, the work goes on in silence.
    """

    is_json: bool = False

    def say(self, sentence: str) -> None:
        """Write a line for people, in the words of the command line."""
        if not self.is_json:
            write(f"{_wrapped(printable(in_options(sentence)))}\n")

    def show(self, table: RenderableType) -> None:
        """Draw a table for people."""
        if self.is_json:
            return
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else WIDTH)
        with console.capture() as drawn:
            console.print(table)
        write(drawn.get())

    def answer(self, values: dict[str, Any]) -> None:
        """Write what a program asked for, and nothing for people."""
        if self.is_json:
            write(json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def _wrapped(sentence: str) -> str:
    """A sentence cut between its words where a terminal ends; anywhere else it is one line."""
    if not sys.stdout.isatty():
        return sentence
    return fill(
        sentence,
        get_terminal_size().columns,
        subsequent_indent="  " if sentence.startswith("- ") else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def write(text: str) -> None:
    """Write to standard output at once; without a reader, this and what follows goes nowhere."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would try once more to write what is left, when it ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain values: dates as ISO texts, null where nothing is known."""
    found: list[dict[str, Any]] = json.loads(
        table.to_json(orient="records", date_format="iso", double_precision=12)
    )
    return found
