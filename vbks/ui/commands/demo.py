"""`vbks demo`: a forecast of airline passengers."""

from __future__ import annotations

from typing import Annotated

import typer

from vbks.ui.options import Seed
from vbks.ui.tensorflow import import_tensorflow

DEMO_SECONDS = 60.0
"""Budget of the demonstration: enough to find the kernels that forecast it well."""


def demo(
    budget: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="How long to search.")
    ] = DEMO_SECONDS,
    seed: Seed = 0,
) -> None:
    """Forecast two years of airline passengers."""
    typer.echo(f"Fitting ten years of airline passengers, for about {budget:.0f} seconds ...")
    import_tensorflow()
    from vbks.ui.demo import run

    run(budget, seed)
