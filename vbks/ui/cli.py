"""The command line: thin over the Python calls, and quick to answer what needs no TensorFlow."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from vbks.errors import VbksError
from vbks.ui.commands.compare import compare
from vbks.ui.commands.demo import demo
from vbks.ui.commands.fit import fit
from vbks.ui.commands.predict import predict
from vbks.ui.commands.report import report
from vbks.version import __version__

COMMANDS = (fit, predict, report, compare, demo)
"""All commands in the order of the help, each from a module of its own, called as it is."""

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


for command in COMMANDS:
    app.command()(command)
