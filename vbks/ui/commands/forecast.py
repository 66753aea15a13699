"""`vbks forecast`: what comes after the last row of a saved selection."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vbks.errors import SettingsError
from vbks.ui.options import Folder, Freq, Json, step_of
from vbks.ui.paths import PICTURES, TABLES, refuse_file, refuse_without_selection
from vbks.ui.table_files import with_rounded_numbers, write_table
from vbks.ui.terminal import Terminal, records, write
from vbks.ui.working import loading

if TYPE_CHECKING:
    from vbks.selection.forecast import Forecast

LEVELS = (0.5, 0.8, 0.9)
"""Shares of new targets that intervals hold, as in `Selection.forecast`."""


def forecast(
    folder: Folder,
    periods: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="How many steps after the last row.")
    ],
    freq: Freq = None,
    level: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SHARE", help="Share that an interval holds; may be repeated. 0.5, 0.8, 0.9."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or JSON file with all columns.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture: .png, .svg or .pdf.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files.")] = False,
    json: Json = False,
) -> None:
    """Forecast the steps after the last row: a table on a terminal, CSV anywhere else."""
    levels = _levels(level)
    refuse_without_selection(folder)
    refuse_file(out, TABLES, force)
    refuse_file(plot, PICTURES, force, "--plot")
    with loading("Forecasting"):
        from vbks.selection.loading import load

        found = load(folder).forecast(periods, freq=step_of(freq), levels=levels)
    table = with_rounded_numbers(found.table)
    terminal = Terminal(json)
    if out is not None:
        write_table(table, out)
    if plot is not None:
        _draw(found, plot)
    if json:
        terminal.answer({"step": found.step, "notices": [*found.notices], "rows": records(table)})
    elif out is None and not sys.stdout.isatty():
        write(table.to_csv(index=False))
    else:
        _show(found, terminal)
        for path in filter(None, (out, plot)):
            terminal.say(f"Written to {path}.")


def _draw(found: Forecast, path: Path) -> None:
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(8.0, 4.5), layout="constrained")
    found.plot(canvas.subplots())
    canvas.savefig(path, dpi=120)


def _show(found: Forecast, terminal: Terminal) -> None:
    from vbks.ui.tables import forecast_table

    terminal.show(forecast_table(found))
    for notice in found.notices:
        terminal.say(f"- {notice}")


def _levels(given: list[float] | None) -> tuple[float, ...]:
    """Shares between 0 and 1."""
    for level in given or ():
        if not 0.0 < level < 1.0:
            raise SettingsError(f"--level is {level:g}, expected a share between 0 and 1.")
    return tuple(given or LEVELS)
