"""Tables of results as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from vbks.ui.terminal import records

if TYPE_CHECKING:
    import pandas as pd

    from vbks.arrays import Array
    from vbks.data.files.choosing import FileRows
    from vbks.ui.terminal import Terminal

DIGITS = 8
"""Significant digits of predictions in a file."""


def say_what_was_read(rows: FileRows, terminal: Terminal) -> None:
    """Say what was taken from a file, and what was guessed in reading it."""
    terminal.say(rows.summary)
    for notice in rows.notices:
        terminal.say(f"- {notice}")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, or as a list of its rows where the name ends in .json."""
    if path.suffix.lower() == ".json":
        path.write_text(json.dumps(records(table), indent=1, ensure_ascii=False) + "\n", "utf-8")
    else:
        table.to_csv(path, index=False)


def rounded(values: Array) -> list[float]:
    """Numbers [N] without the digits that nobody needs."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def with_rounded_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose real numbers are rounded."""
    reals = table.select_dtypes("float").columns
    return table.assign(**{name: rounded(table[name].to_numpy(float)) for name in reals})
