"""What the command line shows of a selection."""

from __future__ import annotations

import pandas as pd
from rich.table import Table
from rich.text import Text

from vbks.prediction import Selection

SHOWN = 10
"""Candidates in a table: the belief is rarely spread over more, and they fit a small window."""

NOT_TO_THE_END = "~"
"""Before the evidence of a candidate that was dropped, with which the others' is not compared."""


def belief_table(selection: Selection, num: int = SHOWN) -> Table:
    """The best candidates and the belief in each; dropped ones have none, only what they were."""
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
    if (shown["status"] == "dropped").any():
        table.caption = f"{NOT_TO_THE_END} when it left the race, not fitted to the end"
    for _, row in shown.iterrows():
        kernel, warp, is_dropped = Text(row["expression"]), row["warp"], row["status"] == "dropped"
        probability = "" if is_dropped else f"{row['probability']:.3f}"
        mark = f"{NOT_TO_THE_END} " if is_dropped else ""
        table.add_row(kernel, warp, probability, f"{mark}{row['elbo']:.1f}")
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
