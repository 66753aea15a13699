"""`vbks report`: a page for people about a saved selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vbks.ui.options import Folder
from vbks.ui.paths import PAGES, refuse_file, refuse_without_selection
from vbks.ui.terminal import Terminal
from vbks.ui.working import loading

if TYPE_CHECKING:
    from vbks.selection.selection import Selection


def report(
    folder: Folder,
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
    refuse_without_selection(folder)
    refuse_file(out, PAGES, force)
    with loading("Writing the report"):
        from vbks.selection.loading import load

        selection = load(folder)
        if out is None:
            out = write_reports(selection, folder)
        else:
            selection.report(out)
    Terminal().say(f"The report is in {out}.")


def write_reports(selection: Selection, folder: Path) -> Path:
    """Write the page and its data into a folder; the path is that of the page."""
    from vbks.report import write_report

    page = folder / "report.html"
    found = selection.report(page)
    write_report(found, page.with_suffix(".json"))
    return page
