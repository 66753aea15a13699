"""The command line: thin over the Python calls, and quick to answer what needs no TensorFlow."""

from __future__ import annotations

from typing import Annotated

import typer

from vbks.errors import VbksError
from vbks.version import __version__

app = typer.Typer(
    help="Chooses Gaussian-process kernels for you and says how sure it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; a mistake of the user ends with one line on stderr."""
    try:
        app()
    except VbksError as error:
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
def demo(
    show: Annotated[int, typer.Option(min=1, max=144, help="How many kernels to print.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="For the starting values.")] = 0,
) -> None:
    """Build all 144 kernels on the airline series and print a table of them."""
    typer.echo("Building K144 on the airline series (144 months of passengers) ...")
    from vbks.demo import print_kernels  # imports TensorFlow, which takes seconds

    print_kernels(show, seed)
