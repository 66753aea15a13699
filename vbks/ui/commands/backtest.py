"""`vbks backtest`: forecasts of the past, beside simple ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vbks.ui.interruptions import stoppable
from vbks.ui.options import (
    DataFile,
    DateFormat,
    DecimalMark,
    Encoding,
    Freq,
    InputColumns,
    Json,
    MissingRows,
    Seed,
    Sep,
    Sheet,
    TargetColumn,
    file_settings,
    step_of,
)
from vbks.ui.paths import PICTURES, TABLES, refuse_file
from vbks.ui.table_files import say_what_was_read, with_rounded_numbers, write_table
from vbks.ui.terminal import Terminal, records
from vbks.ui.working import start_tensorflow, working

if TYPE_CHECKING:
    from vbks.backtesting.results import Backtest

STOPPED = "Nothing was kept. Fewer --folds or a smaller --budget take less time."


def backtest(
    data: DataFile,
    x: InputColumns = None,
    y: TargetColumn = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: MissingRows = "refuse",
    horizon: Annotated[
        int | None,
        typer.Option(min=1, metavar="STEPS", help="Steps to forecast. By default a season."),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="How many forecasts; each takes a fit.")
    ] = 3,
    step: Annotated[
        int | None,
        typer.Option(min=1, metavar="STEPS", help="Steps between them. By default the horizon."),
    ] = None,
    freq: Freq = None,
    season: Annotated[
        int | None,
        typer.Option(min=1, metavar="STEPS", help="Steps after which a cycle repeats."),
    ] = None,
    budget: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="How long each fit may search.")
    ] = 30.0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or JSON file with all predictions.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture: .png, .svg or .pdf.")
    ] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace files.")] = False,
    json: Json = False,
) -> None:
    """Forecast the last rows from those before, several times, and score it beside baselines."""
    from vbks.data.files.choosing import read_rows
    from vbks.data.files.opening import open_file
    from vbks.data.training import prepare

    refuse_file(out, TABLES, force)
    refuse_file(plot, PICTURES, force, "--plot")
    asked = file_settings(sep, decimal, date_format, encoding, sheet, missing)
    terminal = Terminal(json)
    with stoppable(STOPPED), working(f"Reading {data.name}") as progress:
        rows = read_rows(open_file(data, asked), x or (), y)
        prepare((rows.X, rows.y))
        say_what_was_read(rows, terminal)
        start_tensorflow(progress)
        from vbks.backtesting.rolling import backtest as forecast_past

        found = forecast_past(
            rows.X,
            rows.y,
            horizon=horizon,
            folds=folds,
            step=step,
            freq=step_of(freq),
            season=season,
            progress=progress,
            budget=budget,
            seed=seed,
        )
    if out is not None:
        write_table(with_rounded_numbers(found.predictions), out)
    if plot is not None:
        found.plot().savefig(plot, dpi=120)
    terminal.answer(_plain(found))
    _show(found, terminal)
    for path in filter(None, (out, plot)):
        terminal.say(f"Written to {path}.")


def _show(found: Backtest, terminal: Terminal) -> None:
    from vbks.ui.tables import horizon_table, scores_table

    terminal.show(scores_table(found))
    terminal.show(horizon_table(found))
    terminal.say(found.summary)
    for (name, fold), reason in found.failures.items():
        terminal.say(f"- {name} has no forecast in fold {fold}: {reason}")
    for notice in found.notices:
        terminal.say(f"- {notice}")


def _plain(found: Backtest) -> dict[str, object]:
    failures = [{"model": m, "fold": k, "reason": why} for (m, k), why in found.failures.items()]
    return {
        "horizon": found.horizon,
        "step": found.step,
        "season": found.season,
        "scores": records(found.table),
        "by_horizon": records(found.by_horizon),
        "fits": records(found.fits),
        "failures": failures,
        "notices": [*found.notices],
    }
