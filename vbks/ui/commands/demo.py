"""`vbks demo`: a forecast of airline passengers."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir
from typing import Annotated

import typer

from vbks.ui.interruptions import stoppable
from vbks.ui.options import Seed
from vbks.ui.paths import PAGES, refuse_file
from vbks.ui.terminal import Terminal
from vbks.ui.working import start_tensorflow, working

DEMO_SECONDS = 30.0
"""Budget of the demonstration: enough to find the kernels that forecast it well."""


def demo(
    budget: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="How long to search.")
    ] = DEMO_SECONDS,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The report. By default in the folder for temporaries."),
    ] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Forecast two years of airline passengers."""
    page = Path(gettempdir()) / "vbks-demo" / "report.html" if out is None else out
    if out is None:
        page.parent.mkdir(exist_ok=True)
    else:
        refuse_file(page, PAGES, force)
    Terminal().say(f"Fitting ten years of airline passengers, for about {budget:.0f} seconds ...")
    with stoppable("Nothing was kept."), working("Starting TensorFlow", budget) as progress:
        start_tensorflow(progress)
        from vbks.ui.demo import run

        run(budget, seed, page, progress)
