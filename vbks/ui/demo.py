"""The demonstration: two years of airline passengers, forecast from the ten years before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from rich.table import Table

from vbks.api import fit
from vbks.arrays import Array
from vbks.datasets.shipped import airline
from vbks.progress import Progress
from vbks.search.budget import Budget
from vbks.ui.tables import belief_table
from vbks.ui.terminal import Terminal
from vbks.ui.working import STARTED

HELD_OUT = 24
"""The fit does not see this many months."""

QUANTILES = (0.05, 0.5, 0.95)


def run(budget: float, seed: int, page: Path, progress: Progress) -> None:
    """Fit all but the last months, print a forecast of them beside the truth, and write a report.

    The belief is printed, too.
    """
    series = airline()
    years = pd.DataFrame(series.X, columns=["year"])
    X, Xnew = years[:-HELD_OUT], years[-HELD_OUT:]
    y, truth = series.y[:-HELD_OUT], series.y[-HELD_OUT:]
    target = pd.Series(y, name="passengers (thousands)")
    limit = Budget(budget, began=STARTED)
    selection = fit(X, target, budget=limit, seed=seed, progress=progress)
    terminal = Terminal()
    terminal.show(belief_table(selection))
    for notice in selection.notices:
        terminal.say(f"- {notice}")
    quantiles = selection.predict_quantiles(Xnew, QUANTILES)
    terminal.show(_forecast_table(series.X[-HELD_OUT:, 0], truth, quantiles))
    selection.report(page)
    terminal.say(f"The report is in {page}.")


def _forecast_table(years: Array, truth: Array, quantiles: Array) -> Table:
    """Months, what has come, and what was expected: medians and 90 % intervals."""
    low, median, high = quantiles.T
    rmse = np.sqrt(np.mean((median - truth) ** 2))
    num_inside = int(np.sum((low <= truth) & (truth <= high)))
    table = Table(
        title="The last two years, in thousands",
        caption=f"RMSE of the median {rmse:.1f}; {num_inside} of {len(truth)} months lie in "
        "their 90 % interval.",
    )
    for name in ("month", "truth", "median", "90 % interval"):
        table.add_column(name, justify="right")
    for year, value, *(least, middle, most) in zip(years, truth, low, median, high, strict=True):
        table.add_row(_month(year), f"{value:.0f}", f"{middle:.0f}", f"{least:.0f} to {most:.0f}")
    return table


def _month(year: float) -> str:
    """1960.5 as '1960-07'."""
    whole, month = divmod(round(12 * year), 12)
    return f"{whole}-{month + 1:02d}"
