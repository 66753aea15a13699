"""The command line: thin over the Python calls, and quick to answer what needs no TensorFlow."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from vbks.errors import DataError, FileError, SettingsError, VbksError
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K12, K144
from vbks.version import __version__

if TYPE_CHECKING:
    from vbks.selection.selection import Selection

DEMO_SECONDS = 60.0
"""Budget of the demonstration: enough to find the kernels that forecast it well."""

QUANTILES = {"q05": 0.05, "q50": 0.5, "q95": 0.95}
"""Columns of predictions: the median and a 90 % interval around it."""

DIGITS = 8
"""Significant digits of predictions in a file."""

MethodName = Literal["vbks", "cks", "skc", "abcd", "bo", "random"]
"""The same names as in `vbks.search.METHODS`, which takes seconds to import."""

CsvFile = Annotated[Path, typer.Argument(help="A CSV file with a header.")]

InputColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="An input; may be repeated. By default all numbers and dates."
    ),
]

TargetColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The target. By default the last column.")
]

Seed = Annotated[
    int, typer.Option(min=0, metavar="NUMBER", help="All that is random follows from it.")
]

app = typer.Typer(
    help="Chooses Gaussian-process kernels for you and says how sure it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; a mistake of the user ends with one line on stderr."""
    # TensorFlow tells at length which devices it did not find; what fails is raised as well.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        app()
    except (VbksError, OSError) as error:
        typer.echo(f"vbks: {error}", err=True)
        raise SystemExit(2) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vbks {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print it and end."),
    ] = False,
) -> None:
    """Chooses Gaussian-process kernels for you and says how sure it is."""


@app.command()
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
    _refuse_existing(folder, force)
    _refuse_unusable(folder)
    typer.echo(describe(table, columns))
    _import_tensorflow()
    from vbks.api import fit as fit_rows

    selection = fit_rows(X, target, **settings)
    _print_belief(selection)
    selection.save(folder)
    typer.echo(f"Saved to {folder}. To predict: vbks predict {folder} new.csv")


@app.command()
def predict(
    folder: Annotated[Path, typer.Argument(help="What `vbks fit` has saved.")],
    data: Annotated[Path, typer.Argument(help="A CSV file with the inputs to predict at.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write. By default to the terminal."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Predict the target for another table: mean, standard deviation and quantiles."""
    from vbks.data.csv_files import read_csv

    table = read_csv(data)
    if not _is_selection(folder):
        raise FileError(f"'{folder}' holds no saved selection. Give a folder of `vbks fit`.")
    if out is not None:
        _refuse_existing(out, force)
    _import_tensorflow()
    from vbks.selection.loading import load

    predictions = _predictions(load(folder), table).to_csv(index=False)
    if out is None:
        typer.echo(predictions, nl=False)
    else:
        out.write_text(predictions, encoding="utf-8")


@app.command()
def compare(
    data: CsvFile,
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help="Some of vbks, cks, skc, abcd, bo, random.")
    ] = ",".join(get_args(MethodName)),
    x: InputColumns = None,
    y: TargetColumn = None,
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
) -> None:
    """Let methods search beside each other, and show how good their kernels are after how long."""
    from vbks.data.csv_files import choose_columns, describe, read_csv, with_dates

    names = _method_names(methods)
    table = with_dates(read_csv(data))
    columns = choose_columns(table, x or (), y)
    picture = Path(f"{data.stem}-methods.png") if out is None else out
    _refuse_existing(picture, force)
    typer.echo(describe(table, columns))
    _import_tensorflow()
    from rich.console import Console

    from vbks.comparing import compare as compare_methods
    from vbks.ui.tables import answers_table

    found = compare_methods(
        table[list(columns.inputs)],
        table[columns.target],
        names,
        budget=budget,
        test_share=test,
        seed=seed,
        tell=lambda name: typer.echo(f"{name} ..."),
    )
    Console().print(answers_table(found.answers))
    for name, reason in found.failures.items():
        typer.echo(f"- {name} gave no answer: {reason}")
    found.plot().savefig(picture, dpi=120)
    typer.echo(f"Drawn to {picture}.")


@app.command()
def demo(
    budget: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="How long to search.")
    ] = DEMO_SECONDS,
    seed: Seed = 0,
) -> None:
    """Forecast two years of airline passengers."""
    typer.echo(f"Fitting ten years of airline passengers, for about {budget:.0f} seconds ...")
    _import_tensorflow()
    from vbks.ui.demo import run

    run(budget, seed)


def _explain(settings: dict[str, Any]) -> None:
    """Print all settings and policies of a fit, with these in place of the usual ones."""
    _import_tensorflow()
    from rich.console import Console

    from vbks.api import fit as fit_rows
    from vbks.policies import Policies
    from vbks.ui.explain import explanation_tables

    for table in explanation_tables(fit_rows, settings, Policies()):
        Console().print(table)


def _import_tensorflow() -> None:
    """Import it, which takes seconds, without what it writes before it can be told not to."""
    with open(os.devnull, "w") as nowhere:
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            import_module("tensorflow")
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def space_of(text: str) -> Literal["grow"] | tuple[Expression, ...]:
    """The space of a name or of expressions between commas."""
    if text == "grow":
        return "grow"
    named = {"K12": K12, "K144": K144}
    return named[text] if text in named else tuple(map(parse, _between_commas(text)))


def _method_names(text: str) -> list[str]:
    """Names of methods between commas, if they are known."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in get_args(MethodName):
            raise DataError(f"'{name}' is no method. Known: {', '.join(get_args(MethodName))}.")
    return names


def _between_commas(text: str) -> list[str]:
    """The parts of a text between its commas, but for those in brackets, which `CP` has."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _is_selection(folder: Path) -> bool:
    return (folder / "selection.json").is_file()


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise FileError(f"'{path}' exists already. Give another --out, or --force to replace it.")
    if not path.absolute().parent.is_dir():
        raise FileError(f"there is no folder '{path.parent}' to write to. Make it first.")


def _refuse_unusable(folder: Path) -> None:
    """Find out before the fit, and not after it, that a folder cannot be written."""
    if folder.exists():
        if not _is_selection(folder):
            raise FileError(f"'{folder}' holds no selection, so it stays. Give another --out.")
        return
    try:
        folder.mkdir()
        folder.rmdir()
    except OSError as error:
        raise FileError(
            f"'{folder}' cannot be written: {error.strerror}. Give another --out."
        ) from None


def _print_belief(selection: Selection) -> None:
    from rich.console import Console

    from vbks.ui.tables import belief_table

    Console().print(belief_table(selection))
    for notice in selection.notices:
        typer.echo(f"- {notice}")


def _predictions(selection: Selection, table: Any) -> Any:
    """The inputs as they came, beside what is predicted there."""
    from vbks.data.csv_files import choose_inputs, with_dates

    num_inputs = next(iter(selection.data.values())).num_inputs
    inputs = table[choose_inputs(table, selection.feature_names, num_inputs)]
    X = with_dates(inputs)
    mean, variance = selection.predict_y(X)
    quantiles = selection.predict_quantiles(X, tuple(QUANTILES.values()))
    found = {"mean": mean, "sd": variance**0.5, **dict(zip(QUANTILES, quantiles.T, strict=True))}
    return inputs.assign(
        **{name: [float(f"{value:.{DIGITS}g}") for value in found[name]] for name in found}
    )
