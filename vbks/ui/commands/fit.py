"""`vbks fit`: choose kernels for a table, and save them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vbks.errors import SettingsError
from vbks.ui.commands.report import write_reports
from vbks.ui.options import InputColumns, MethodName, Seed, TargetColumn, space_of
from vbks.ui.paths import refuse_existing, refuse_unusable
from vbks.ui.tensorflow import import_tensorflow

if TYPE_CHECKING:
    from vbks.selection.selection import Selection


def fit(
    data: Annotated[Path | None, typer.Argument(help="A CSV file with a header.")] = None,
    x: InputColumns = None,
    y: TargetColumn = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to save. By default the file's name and -vbks."),
    ] = None,
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
        Literal["paper"] | None,
        typer.Option(help="paper: minibatches, as the VBKS paper has it; K144 by default."),
    ] = None,
    inducing: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="Inducing points, if not exact.")
    ] = None,
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
        typer.Option(metavar="LOW HIGH", help="Ends of the target's range, for logit."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=1.0, metavar="SECONDS", help="How long to search.")
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
    explain: Annotated[
        bool, typer.Option("--explain", help="Print every setting and policy, and fit nothing.")
    ] = False,
) -> None:
    """Choose kernels for a table, and save them for `vbks predict`."""
    candidates = space_of(space)
    names = warps if warps == "auto" else [name.strip() for name in warps.split(",")]
    settings: dict[str, Any] = {
        "space": candidates,
        "method": method,
        "belief": belief,
        "weights": weights,
        "inference": inference,
        "preset": preset,
        "num_inducing": inducing,
        "warps": names,
        "target_range": target_range,
        "budget": budget,
        "checkpoint": checkpoint,
        "seed": seed,
    }
    if mean is not None:
        settings["mean_function"] = mean
    if explain:
        _explain(settings)
        return
    if data is None:
        raise SettingsError("there is no table to fit. Give a CSV file with a header.")
    from vbks.data.csv_files import choose_columns, describe, read_csv, with_dates, without_column
    from vbks.data.training import prepare
    from vbks.data.warp_choice import choose_warps

    table, noise = without_column(with_dates(read_csv(data)), noise_column)
    columns = choose_columns(table, x or (), y)
    X, target = table[list(columns.inputs)], table[columns.target]
    choose_warps(names, prepare((X, target), noise_variance=noise), target_range)
    if noise is not None:
        settings["noise_variance"] = noise
    folder = Path(f"{data.stem}-vbks") if out is None else out
    refuse_existing(folder, force)
    refuse_unusable(folder)
    typer.echo(describe(table, columns))
    import_tensorflow()
    from vbks.api import fit as fit_rows

    selection = fit_rows(X, target, **settings)
    _print_belief(selection)
    selection.save(folder)
    typer.echo(f"Saved to {folder}. To predict: vbks predict {folder} new.csv")
    if report:
        write_reports(selection, folder)


def _explain(settings: dict[str, Any]) -> None:
    """Print all settings and policies of a fit, with these in place of the usual ones."""
    import_tensorflow()
    from rich.console import Console

    from vbks.api import fit as fit_rows
    from vbks.policies import Policies
    from vbks.ui.explain import explanation_tables

    for table in explanation_tables(fit_rows, settings, Policies()):
        Console().print(table)


def _print_belief(selection: Selection) -> None:
    from rich.console import Console

    from vbks.ui.tables import belief_table

    Console().print(belief_table(selection))
    for notice in selection.notices:
        typer.echo(f"- {notice}")
