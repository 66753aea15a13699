"""`vbks compare`: methods of search beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from vbks.errors import DataError, SettingsError
from vbks.ui.interruptions import stoppable
from vbks.ui.options import (
    DataFile,
    DateFormat,
    DecimalMark,
    Encoding,
    InputColumns,
    Json,
    MethodName,
    MissingRows,
    Seed,
    Sep,
    Sheet,
    TargetColumn,
    file_settings,
)
from vbks.ui.paths import PICTURES, refuse_file
from vbks.ui.table_files import say_what_was_read
from vbks.ui.terminal import Terminal, records
from vbks.ui.working import start_tensorflow, working

STOPPED = "Nothing was kept. Fewer --methods or a smaller --budget take less time."


def compare(
    data: DataFile,
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help="Some of vbks, cks, skc, abcd, bo, random.")
    ] = ",".join(get_args(MethodName)),
    x: InputColumns = None,
    y: TargetColumn = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: MissingRows = "refuse",
    budget: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="How long each may search.")
    ] = 60.0,
    test: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the rows that are held out.")
    ] = 0.1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Picture to write. By default the name and -methods.png"),
    ] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the picture.")] = False,
    json: Json = False,
) -> None:
    """Let methods search beside each other, and show how good their kernels are after how long."""
    from vbks.data.files.choosing import read_rows
    from vbks.data.files.opening import open_file
    from vbks.data.training import prepare

    names = _method_names(methods)
    if not 0.0 < test < 1.0:
        raise SettingsError(f"--test is {test:g}, expected a share between 0 and 1.")
    picture = Path(f"{data.stem}-methods.png") if out is None else out
    refuse_file(picture, PICTURES, force)
    asked = file_settings(sep, decimal, date_format, encoding, sheet, missing)
    terminal = Terminal(json)
    with stoppable(STOPPED), working(f"Reading {data.name}") as progress:
        rows = read_rows(open_file(data, asked), x or (), y)
        prepare((rows.X, rows.y))
        say_what_was_read(rows, terminal)
        start_tensorflow(progress)
        from vbks.comparing import compare as compare_methods
        from vbks.ui.tables import answers_table

        found = compare_methods(
            rows.X,
            rows.y,
            names,
            budget=budget,
            test_share=test,
            seed=seed,
            progress=progress,
        )
    found.plot().savefig(picture, dpi=120)
    terminal.answer({"answers": records(found.answers), "failures": found.failures})
    terminal.show(answers_table(found.answers))
    for name, reason in found.failures.items():
        terminal.say(f"- {name} gave no answer: {reason}")
    terminal.say(f"Drawn to {picture}.")


def _method_names(text: str) -> list[str]:
    """Names of methods between commas, if they are known."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in get_args(MethodName):
            raise DataError(f"'{name}' is no method. Known: {', '.join(get_args(MethodName))}.")
    return names
