"""`vbks leaderboard`: all candidates of a saved selection beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vbks.errors import DataError
from vbks.ui.options import (
    DateFormat,
    DecimalMark,
    Encoding,
    Folder,
    Json,
    Sep,
    Sheet,
    file_settings,
)
from vbks.ui.paths import TABLES, refuse_file, refuse_without_selection
from vbks.ui.table_files import with_rounded_numbers, write_table
from vbks.ui.terminal import Terminal, records
from vbks.ui.working import loading

if TYPE_CHECKING:
    from vbks.data.files.opening import FileTable
    from vbks.selection.selection import Selection

SHOWN = 20
"""Rows that a table on a terminal has."""


def leaderboard(
    folder: Folder,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table of held-out rows, to score candidates by."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or JSON file with all rows.")
    ] = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    json: Json = False,
) -> None:
    """Show the average and all candidates, best first, with how well each predicts."""
    refuse_without_selection(folder)
    refuse_file(out, TABLES, force)
    table: FileTable | None = None
    if data is not None:
        from vbks.data.files.opening import open_file

        table = open_file(data, file_settings(sep, decimal, date_format, encoding, sheet))
    with loading("Scoring the candidates"):
        from vbks.selection.loading import load
        from vbks.ui.tables import leaderboard_table

        selection = load(folder)
        rows = None if table is None else _held_out(selection, table)
        found = selection.leaderboard(rows)
    terminal = Terminal(json)
    if out is not None:
        write_table(with_rounded_numbers(found), out)
    terminal.answer({"candidates": records(found)})
    terminal.show(leaderboard_table(found, SHOWN))
    if out is not None:
        terminal.say(f"Written to {out}.")


def _held_out(selection: Selection, table: FileTable) -> tuple[Any, Any]:
    """Inputs and targets of held-out rows, by the names of the fit."""
    from vbks.data.files.choosing import read_inputs

    target = selection.target_name
    if target is None or target not in table.names:
        known = ", ".join(table.names)
        raise DataError(f"there is no column '{target}' to score by. The columns: {known}.")
    names = selection.feature_names or [name for name in table.names if name != target]
    X = read_inputs(table, names, selection.num_inputs)
    return X, table.reading(target, is_target=True).values.rename(target)
