"""The command line: thin over the Python calls, and quick to answer what needs no TensorFlow."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

from vbks.errors import VbksError
from vbks.printable import printable
from vbks.ui.arguments import about_arguments
from vbks.ui.commands.backtest import backtest
from vbks.ui.commands.compare import compare
from vbks.ui.commands.demo import demo
from vbks.ui.commands.fit import fit
from vbks.ui.commands.forecast import forecast
from vbks.ui.commands.leaderboard import leaderboard
from vbks.ui.commands.predict import predict
from vbks.ui.commands.report import report
from vbks.ui.interruptions import EXIT_CODE, Stopped
from vbks.ui.wording import in_options
from vbks.version import __version__

COMMANDS = (fit, forecast, predict, report, leaderboard, backtest, compare, demo)
"""All commands in the order of the help, each from a module of its own, called as it is."""

TRACEBACK = "VBKS_TRACEBACK"
"""With this variable of the environment, errors that nobody expected are shown with their trace."""

ENVIRONMENT = {
    # TensorFlow tells at length which devices it did not find; what fails is raised as well.
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # GPflow and TensorFlow Probability use this Keras; another one takes a second to import.
    "TF_USE_LEGACY_KERAS": "1",
}
"""What TensorFlow is told in this process, unless the user has said otherwise."""

app = typer.Typer(
    help="Chooses Gaussian-process kernels for you and says how sure it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; a mistake of the user ends with one line on standard error."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter has another one
            stream.reconfigure(errors="replace")
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="vbks", standalone_mode=False)
    except Stopped as error:
        _end(str(error), EXIT_CODE)
    except typer.Abort:
        _end("stopped before there was anything to keep.", EXIT_CODE)
    except (VbksError, OSError) as error:
        _end(str(error), 2)
    except MemoryError:
        _end("there is not enough memory. Give fewer rows, or --inference stochastic.", 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # of an option or a command that is wrong
            _end(about_arguments(error, [own.__name__ for own in COMMANDS]), 2)
        _end_unexpected(error)
    raise SystemExit(code if isinstance(code, int) else 0)


def _end_unexpected(error: Exception) -> None:
    """End with what is known of an error in vbks itself."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    _end(
        f"this is an error in vbks: {type(error).__name__}: {error}. Please report it, with what "
        f"{TRACEBACK}=1 shows.",
        1,
    )


def _end(text: str, code: int) -> None:
    """End with one line on standard error."""
    typer.echo(f"vbks: {printable(in_options(text))}", err=True)
    raise SystemExit(code) from None


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
