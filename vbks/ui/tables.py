"""What the command line shows of a selection."""

from __future__ import annotations

from typing import Any

import pandas as pd
from rich.table import Table
from rich.text import Text

from vbks.selection.selection import Selection

SHOWN = 10
"""A table has this many candidates: the belief is rarely spread over more."""

NOT_TO_THE_END = "~"
"""This stands before the evidence of a candidate that was dropped, which is that of the search."""

LEAST_SHOWN = 0.001
"""Limits of what a candidate could have held are shown as at least this."""

AT_MOST = "≤"
"""This stands before what a candidate could have held that was not fitted to the end."""


def belief_table(selection: Selection, num: int = SHOWN) -> Table:
    """The best candidates and the belief in each; dropped ones have what they could have held."""
    belief = selection.belief
    shown = belief.head(num)
    rest = belief["probability"][num:].sum()
    more = "" if len(belief) <= num else f"; {len(belief) - num} more have {rest:.3f} together"
    table = Table(title=f"The best of {len(belief)} candidates{more}")
    # Texts are shown as they are; a plain string would lose the [2] of SE[2] as a style of rich.
    table.add_column("kernel", overflow="fold")
    table.add_column("reading")
    table.add_column("warp")
    table.add_column("probability", justify="right")
    table.add_column("log evidence", justify="right")
    has_weights = bool((belief["weight"] - belief["probability"]).abs().max() > 1e-3)
    if has_weights:
        table.add_column("weight", justify="right")
    if (shown["status"] == "dropped").any():
        table.caption = (
            f"{NOT_TO_THE_END} as the search left it, not fitted to the end; {AT_MOST} what it "
            "could hold of the belief"
        )
    for _, row in shown.iterrows():
        is_dropped = row["status"] == "dropped"
        mark = f"{NOT_TO_THE_END} " if is_dropped else ""
        cells = [
            Text(row["reading"]),
            row["warp"],
            _probability(row),
            f"{mark}{row['log_evidence']:.1f}",
        ]
        if has_weights:
            cells.append("" if is_dropped else f"{row['weight']:.3f}")
        table.add_row(Text(row["expression"]), *cells)
    return table


def _probability(row: pd.Series[Any]) -> str:
    """The probability of a candidate, or what it could have held, if that is known."""
    if row["status"] == "fitted":
        return f"{row['probability']:.3f}"
    most = row["most_probable"]
    if most != most:
        return ""
    return f"{AT_MOST} {max(most, LEAST_SHOWN):.3f}"


def answers_table(answers: pd.DataFrame) -> Table:
    """What each of several methods has found in the end."""
    table = Table(title="Answers of the methods")
    table.add_column("method")
    table.add_column("kernel", overflow="fold")
    for name in ("candidates", "BIC", "test RMSE", "test NLPD", "seconds"):
        table.add_column(name, justify="right")
    for _, row in answers.iterrows():
        is_baseline = not row["candidates"]
        table.add_row(
            row["method"],
            Text(row["kernel"]),
            "" if is_baseline else str(row["candidates"]),
            "" if is_baseline else f"{row['bic']:.1f}",
            f"{row['rmse']:.4g}",
            f"{row['nlpd']:.3f}",
            "" if is_baseline else f"{row['seconds']:.0f}",
        )
    return table
