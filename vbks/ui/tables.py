"""What the command line shows of a selection."""

from __future__ import annotations

from typing import Any

import pandas as pd
from rich.table import Table
from rich.text import Text

from vbks.backtesting.metrics import COVERED
from vbks.backtesting.results import Backtest
from vbks.printable import printable
from vbks.selection.forecast import Forecast
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
            _text(row["reading"]),
            row["warp"],
            _probability(row),
            f"{mark}{row['log_evidence']:.1f}",
        ]
        if has_weights:
            cells.append("" if is_dropped else f"{row['weight']:.3f}")
        table.add_row(_text(row["expression"]), *cells)
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
            _text(row["kernel"]),
            "" if is_baseline else str(row["candidates"]),
            "" if is_baseline else f"{row['bic']:.1f}",
            f"{row['rmse']:.4g}",
            f"{row['nlpd']:.3f}",
            "" if is_baseline else f"{row['seconds']:.0f}",
        )
    return table


def leaderboard_table(board: pd.DataFrame, num: int) -> Table:
    """The average and the best candidates, with how well each predicts."""
    more = "" if len(board) <= num else f" (the best {num} of {len(board)} rows)"
    table = Table(title=f"Leaderboard{more}")
    table.add_column("kernel", overflow="fold")
    table.add_column("reading")
    named = {"warp": "", "status": ""} | dict.fromkeys(
        ("probability", "left_out", "rmse", "nlpd", "log_evidence", "seconds"), "right"
    )
    names = [name for name in named if name in board.columns]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right" if named[name] else "left")
    for _, row in board.head(num).iterrows():
        cells = [_number(name, row[name]) for name in names]
        reading = "" if row["reading"] == row["expression"] else row["reading"]
        table.add_row(_text(row["expression"]), _text(reading), *cells)
    return table


def forecast_table(found: Forecast) -> Table:
    """Times, the median, and the widest interval of a forecast."""
    rows, level = found.table, max(found.levels)
    first = rows.columns[0]
    share = f"{100 * level:g}"
    ahead = f"{len(found)} step{'s' * (len(found) > 1)} of {found.step}"
    table = Table(title=_text(f"{found.observed.columns[1]}, {ahead} ahead"))
    table.add_column(_text(str(first)))
    for name in ("median", "mean", "sd", f"{share} % interval"):
        table.add_column(name, justify="right")
    for _, row in rows.iterrows():
        ends = f"{row[f'low_{share}']:.5g} to {row[f'high_{share}']:.5g}"
        numbers = [f"{row[name]:.5g}" for name in ("median", "mean", "sd")]
        table.add_row(_time(row[first]), *numbers, ends)
    return table


SCORES = {"mae": "MAE", "rmse": "RMSE", "mase": "MASE", "wql": "WQL"}
"""Scores that a table has, and how they are written."""


def scores_table(found: Backtest) -> Table:
    """Each model over all folds: errors, and the shares of values that intervals held."""
    num = found.predictions["fold"].nunique()
    folds = f"{num} forecast{'s' * (num > 1)} of {found.horizon} × {found.step}"
    table = Table(title=f"{folds}, the best first")
    table.add_column("model")
    shares = [f"{100 * share:g}" for share in COVERED]
    for name in (*SCORES.values(), *(f"held of {share} %" for share in shares)):
        table.add_column(name, justify="right")
    for _, row in found.table.iterrows():
        held = [f"{100 * row[f'coverage_{share}']:.0f} %" for share in shares]
        table.add_row(row["model"], *(_number(name, row[name]) for name in SCORES), *held)
    return table


MOST_HORIZONS = 12
"""A table has up to this many horizons, evenly spread."""


def horizon_table(found: Backtest) -> Table:
    """The mean absolute error of each model by how far ahead it forecasts."""
    errors = found.by_horizon.pivot(index="horizon", columns="model", values="mae")
    names = [name for name in found.table["model"] if name in errors.columns]
    table = Table(title=f"MAE by {found.step}s ahead")
    for name in ("ahead", *names):
        table.add_column(name, justify="right")
    every = -(-len(errors) // MOST_HORIZONS)
    for horizon, row in errors.iloc[every - 1 :: every].iterrows():
        table.add_row(str(horizon), *(_number("mae", row[name]) for name in names))
    return table


def _text(words: object) -> Text:
    """Words as they are: a plain string would lose the [2] of SE[2] as a style of rich."""
    return Text(printable(str(words)))


def _number(name: str, value: Any) -> str:
    """A number in few digits, a text as it is, and nothing where nothing is known."""
    if isinstance(value, str) or value is None:
        return value or ""
    if value != value:
        return ""
    digits = {"probability": ".3f", "log_evidence": ".1f", "seconds": ".1f"}
    return format(value, digits.get(name, ".4g"))


def _time(value: Any) -> str:
    """A date without a time of day where it has none, or a number."""
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}" if value == value.normalize() else f"{value:%Y-%m-%d %H:%M}"
    return f"{value:.10g}"
