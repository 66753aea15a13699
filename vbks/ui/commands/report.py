"""`vbks report`: a page for people about a saved selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vbks.errors import FileError
from vbks.ui.paths import is_selection, refuse_existing
from vbks.ui.tensorflow import import_tensorflow

if TYPE_CHECKING:
    from vbks.selection.selection import Selection


def report(
    folder: Annotated[Path, typer.Argument(help="What `vbks fit` has saved.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Page (.html) or data (.json) to write. By default both, into the folder.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write what a saved selection says as one page that needs no network."""
    if not is_selection(folder):
        raise FileError(f"'{folder}' holds no saved selection. Give a folder of `vbks fit`.")
    if out is not None:
        refuse_existing(out, force)
        refuse_other_endings(out)
    import_tensorflow()
    from vbks.selection.loading import load

    selection = load(folder)
    if out is None:
        write_reports(selection, folder)
    else:
        selection.report(out)
        typer.echo(f"The report is in {out}.")


def refuse_other_endings(path: Path) -> None:
    """Refuse a file that is neither a page nor data, before the work."""
    if path.suffix.lower() not in (".html", ".htm", ".json"):
        raise FileError(f"'{path}' does not end in .html or .json. Give another --out.")


def write_reports(selection: Selection, folder: Path) -> Path:
    """Write the page and its data into a folder, and say where the page is."""
    from vbks.report import write_report

    found = selection.report(folder / "report.html")
    write_report(found, folder / "report.json")
    typer.echo(f"The report is in {folder / 'report.html'}.")
    return folder / "report.html"
