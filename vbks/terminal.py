"""What the command line shows of a selection."""

from __future__ import annotations

import pandas as pd
from rich.table import Table
from rich.text import Text

from vbks.prediction import Selection

SHOWN = 10
"""Candidates in a table: the belief is rarely spread over more, and they fit a small window."""


def belief_table(selection: Selection, num: int = SHOWN) -> Table:
    """The best candidates and the belief in each."""
    belief = selection.belief
    shown = belief.head(num)
    rest = belief["probability"][num:].sum()
    more = "" if len(belief) <= num else f"; {len(belief) - num} more have {rest:.3f} together"
    table = Table(title=f"The best of {len(belief)} candidates{more}")
    # Texts are shown as they are; a plain string would lose the [2] of SE[2] as a style of rich.
    table.add_column("kernel", overflow="fold")
    table.add_column("warp")
    table.add_column("probability", justify="right")
    table.add_column("log evidence", justify="right")
    for _, row in shown.iterrows():
        kernel, warp = Text(row["expression"]), row["warp"]
        table.add_row(kernel, warp, f"{row['probability']:.3f}", f"{row['elbo']:.1f}")
    return table


def answers_table(answers: pd.DataFrame) -> Table:
    """What each of several methods has found in the end."""
    table = Table(title="Answers of the methods")
    table.add_column("method")
    table.add_column("kernel", overflow="fold")
    for name in ("candidates", "BIC", "test RMSE", "test NLPD", "seconds"):
        table.add_column(name, justify="right")
    for _, row in answers.iterrows():
        table.add_row(
            row["method"],
            Text(row["kernel"]),
            str(row["candidates"]),
            f"{row['bic']:.1f}",
            f"{row['rmse']:.4g}",
            f"{row['nlpd']:.3f}",
            f"{row['seconds']:.0f}",
        )
    return table
