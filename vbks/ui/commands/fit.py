"""`vbks fit`: choose kernels for a table, and save them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vbks.errors import DataError, FileError, SettingsError
from vbks.grammar.space import parse_space
from vbks.progress import Progress
from vbks.ui.commands.report import write_reports
from vbks.ui.interruptions import stoppable
from vbks.ui.options import (
    DateFormat,
    DecimalMark,
    Encoding,
    InputColumns,
    Json,
    LikelihoodName,
    MethodName,
    MissingRows,
    PresetName,
    Seed,
    Sep,
    Sheet,
    TargetColumn,
    file_settings,
)
from vbks.ui.paths import refuse_checkpoint, refuse_existing, refuse_unusable
from vbks.ui.table_files import say_what_was_read
from vbks.ui.tensorflow import import_tensorflow
from vbks.ui.terminal import Terminal, records
from vbks.ui.working import STARTED, start_tensorflow, working

if TYPE_CHECKING:
    from vbks.data.files.choosing import FileRows
    from vbks.data.files.settings import FileSettings
    from vbks.selection.selection import Selection


SPEEDS = ("fast", "medium", "best")
"""Presets that are budgets."""


def fit(
    data: Annotated[
        Path | None,
        typer.Argument(help="A table with a header: CSV, a workbook (.xlsx) or Parquet."),
    ] = None,
    x: InputColumns = None,
    y: TargetColumn = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to save. By default the file's name and -vbks."),
    ] = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: MissingRows = "refuse",
    space: Annotated[
        str, typer.Option(metavar="KERNELS", help="grow, K12, K144, or such as 'SE, SE * PER'.")
    ] = "grow",
    method: Annotated[MethodName, typer.Option(help="How kernels are searched.")] = "vbks",
    belief: Annotated[
        Literal["bayes", "vbks", "stacking"] | None,
        typer.Option(help="How the belief is formed; stacking: Bayes', with its weights."),
    ] = None,
    weights: Annotated[
        Literal["auto", "belief", "stacking"] | None,
        typer.Option(help="What predictions are averaged with."),
    ] = None,
    inference: Annotated[
        Literal["auto", "exact", "collapsed", "stochastic"],
        typer.Option(help="How they are fitted."),
    ] = "auto",
    preset: Annotated[
        PresetName | None,
        typer.Option(
            help="fast, medium, best: for about 2, 10, 60 seconds once TensorFlow is there; "
            "paper: minibatches, as the VBKS paper has it, with K144."
        ),
    ] = None,
    inducing: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="Inducing points, if not exact.")
    ] = None,
    likelihood: Annotated[
        LikelihoodName,
        typer.Option(help="How targets vary: poisson for counts, student_t for outliers, ..."),
    ] = "gaussian",
    mean: Annotated[
        Literal["linear"] | None, typer.Option(help="A line that targets vary around.")
    ] = None,
    noise_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Known variances of the noise of each row."),
    ] = None,
    warps: Annotated[
        str, typer.Option(metavar="WARPS", help="auto, or some of identity, log, softplus, logit.")
    ] = "auto",
    target_range: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH", help="Range that targets cannot leave, such as 0 100 for shares."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=1.0, metavar="SECONDS", help="How long to search, TensorFlow's start included."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep finished work there, to go on after a stop."),
    ] = None,
    seed: Seed = 0,
    report: Annotated[
        bool, typer.Option(help="Write a page for people about it into the folder, too.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier selection.")] = False,
    json: Json = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print every setting and policy, and fit nothing.")
    ] = False,
) -> None:
    """Choose kernels for a table, and save them for forecasts and predictions."""
    names = warps if warps == "auto" else [name.strip() for name in warps.split(",")]
    settings: dict[str, Any] = {
        "space": space if space == "grow" else parse_space(space),
        "method": method,
        "belief": belief,
        "weights": weights,
        "inference": inference,
        "preset": preset,
        "num_inducing": inducing,
        "likelihood": likelihood,
        "warps": names,
        "target_range": target_range,
        "budget": budget,
        "checkpoint": checkpoint,
        "seed": seed,
    }
    if mean is not None:
        settings["mean_function"] = mean
    terminal = Terminal(json)
    if explain:
        _explain(settings, terminal)
        return
    if data is None:
        raise SettingsError("there is no table to fit. Give a CSV file with a header.")
    asked = file_settings(sep, decimal, date_format, encoding, sheet, missing)
    folder = Path(f"{data.stem}-vbks") if out is None else out
    refuse_existing(folder, force)
    refuse_unusable(folder)
    refuse_checkpoint(checkpoint)
    _refuse_two_budgets(preset, budget)
    with working(f"Reading {data.name}", budget) as progress:
        with stoppable(_kept(checkpoint)):
            rows = _read(data, asked, x or (), y, noise_column, settings)
            say_what_was_read(rows, terminal)
            start_tensorflow(progress)
            selection = _fit(rows, settings, progress)
        _save(selection, folder)
    with stoppable(f"The fit is in {folder}: vbks report {folder} writes its page."):
        _tell(selection, folder, terminal, report, rows.notices)


def _refuse_two_budgets(preset: PresetName | None, budget: float | None) -> None:
    """Refuse a budget beside a preset that is one."""
    if budget is not None and preset in SPEEDS:
        raise SettingsError(
            f"--preset {preset} is a budget, and --budget {budget:g} is another. Leave out one of "
            "the two."
        )


def _read(
    data: Path,
    asked: FileSettings,
    x: Sequence[str],
    y: str | None,
    noise_column: str | None,
    settings: dict[str, Any],
) -> FileRows:
    """Rows of a file, checked as far as that needs no TensorFlow.

    Known noise is added to the settings.
    """
    from vbks.data.files.choosing import read_rows
    from vbks.data.files.opening import open_file
    from vbks.data.training import prepare
    from vbks.data.warp_choice import choose_warps

    rows = read_rows(open_file(data, asked), x, y, noise_column)
    try:
        prepared = prepare((rows.X, rows.y), noise_variance=rows.noise)
    except DataError as error:
        named = f"the noise column '{noise_column}'"
        raise DataError(str(error).replace("noise_variance", named)) from None
    choose_warps(settings["warps"], prepared, settings["target_range"])
    if rows.noise is not None:
        settings["noise_variance"] = rows.noise
    return rows


def _fit(rows: FileRows, settings: dict[str, Any], progress: Progress) -> Selection:
    """Call `vbks.fit`, with a budget that runs since this process began."""
    from vbks.api import fit as fit_rows
    from vbks.search.budget import Budget

    seconds = settings["budget"]
    limit = None if seconds is None else Budget(seconds, began=STARTED)
    selection = fit_rows(rows.X, rows.y, **{**settings, "budget": limit, "progress": progress})
    return selection.with_notices(*rows.notices)


def _kept(checkpoint: Path | None) -> str:
    """What is left of a fit that was stopped, and how to go on."""
    if checkpoint is None:
        return "Nothing was kept: with --checkpoint FOLDER the same command would go on from here."
    return f"Finished work is in {checkpoint}: the same command goes on from there."


def _save(selection: Selection, folder: Path) -> None:
    """Save a fit before all else, elsewhere if its place was lost meanwhile."""
    try:
        selection.save(folder)
    except (FileError, OSError) as error:
        other = Path(mkdtemp(prefix="vbks-")) / "selection"
        selection.save(other)
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise FileError(f"'{folder}' could not be written: {reason}. It is in {other}.") from None


def _tell(
    selection: Selection,
    folder: Path,
    terminal: Terminal,
    has_report: bool,
    told: Sequence[str],
) -> None:
    """Say what was found, that it was saved, and what can be done with it."""
    from vbks.ui.tables import belief_table

    terminal.show(belief_table(selection))
    for notice in (notice for notice in selection.notices if notice not in told):
        terminal.say(f"- {notice}")
    terminal.say(f"Saved to {folder}. {_next(selection, folder)}")
    page = write_reports(selection, folder) if has_report else None
    if page is not None:
        terminal.say(f"The report is in {page}.")
    terminal.answer(
        {
            "folder": str(folder),
            "report": None if page is None else str(page),
            "best": str(selection.best.expression),
            "warp": selection.best.warp.name,
            "probability": float(selection.probabilities.max()),
            "notices": [*selection.notices],
            "belief": records(selection.belief),
        }
    )


def _next(selection: Selection, folder: Path) -> str:
    """The command that most would call next."""
    if selection.num_inputs == 1:
        return f"To forecast: vbks forecast {folder} --periods 12"
    return f"To predict: vbks predict {folder} new.csv"


def _explain(settings: dict[str, Any], terminal: Terminal) -> None:
    """Print all settings and policies of a fit, with these in place of the usual ones."""
    import_tensorflow()
    from vbks.api import fit as fit_rows
    from vbks.policies import Policies
    from vbks.ui.explain import explanation_tables

    for table in explanation_tables(fit_rows, settings, Policies()):
        terminal.show(table)
