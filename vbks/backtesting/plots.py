"""The picture of a backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from vbks.backtesting.metrics import COVERED, quantile_name
from vbks.selection.plot_style import BLUE, DARK, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"naive": GREY, "seasonal naive": DARK, "AutoETS": ORANGE, "AutoARIMA": "#2a8c66"}
"""Those of the baselines; the forecasts in question are blue."""

BEFORE = 2
"""Rows are drawn from this many times the forecasts' stretch of time before its end on."""


def plot_backtest(
    predictions: pd.DataFrame,
    by_horizon: pd.DataFrame,
    table: pd.DataFrame,
    observed: pd.DataFrame,
    own: str,
) -> Figure:
    """Forecasts beside what came, errors by horizon, and shares of values in intervals."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(10.0, 6.5), layout="constrained")
    grid = canvas.add_gridspec(2, 2, height_ratios=(1.25, 1.0))
    _plot_forecasts(canvas.add_subplot(grid[0, :]), predictions, observed, own)
    _plot_errors(canvas.add_subplot(grid[1, 0]), by_horizon, own)
    _plot_coverage(canvas.add_subplot(grid[1, 1]), table, own)
    for panel in canvas.axes:
        panel.spines[["top", "right"]].set_visible(False)
    return canvas


def _plot_forecasts(ax: Axes, predictions: pd.DataFrame, observed: pd.DataFrame, own: str) -> None:
    mine = predictions[predictions["model"] == own]
    time_name, target_name = observed.columns
    end = observed[time_name].max()
    first = end - BEFORE * (end - mine["origin"].min())
    shown = observed[observed[time_name] >= first].sort_values(time_name)
    ax.plot(shown[time_name], shown[target_name], "o-", color=DARK, ms=2, lw=0.7, label="data")
    for number, (_, fold) in enumerate(mine.sort_values("time").groupby("fold")):
        low, high = (fold[quantile_name(level)] for level in (0.05, 0.95))
        labels = (f"{own}, median", "its 90 %") if number == 0 else (None, None)
        ax.plot(fold["time"], fold[quantile_name(0.5)], color=BLUE, lw=1.4, label=labels[0])
        ax.fill_between(fold["time"], low, high, color=BLUE, alpha=0.18, lw=0, label=labels[1])
        ax.axvline(fold["origin"].iloc[0], color=GREY, ls="--", lw=0.8)
    ax.margins(x=0.01)
    # A dollar would begin a formula.
    ax.set_xlabel(time_name.replace("$", r"\$"))
    ax.set_ylabel(target_name.replace("$", r"\$"))
    ax.set_title("Forecasts and what came", fontsize="medium", loc="left")
    ax.legend(fontsize="small", frameon=False, ncols=3)


def _plot_errors(ax: Axes, by_horizon: pd.DataFrame, own: str) -> None:
    for model, rows in by_horizon.groupby("model", sort=False):
        is_own = model == own
        ax.plot(
            rows["horizon"],
            rows["mae"],
            "o-",
            color=BLUE if is_own else COLOURS.get(str(model), ORANGE),
            lw=2.0 if is_own else 1.0,
            ms=3,
            label=model,
            zorder=3 if is_own else 2,
        )
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("steps ahead")
    ax.set_title("Mean absolute error", fontsize="medium", loc="left")
    ax.legend(fontsize="small", frameon=False)


def _plot_coverage(ax: Axes, table: pd.DataFrame, own: str) -> None:
    ax.plot([40, 100], [40, 100], "--", color=GREY, lw=0.8, label="as it should be")
    nominal = [100 * share for share in COVERED]
    for _, row in table.iterrows():
        is_own = row["model"] == own
        held = [100 * row[f"coverage_{percent:g}"] for percent in nominal]
        colour = BLUE if is_own else COLOURS.get(row["model"], ORANGE)
        ax.plot(nominal, held, "o-", color=colour, lw=2.0 if is_own else 1.0, ms=4)
    ax.set_xticks(nominal)
    ax.set_xlabel("share that intervals should hold, %")
    ax.set_ylim(0.0, 102.0)
    ax.set_title("Share of values they held, %", fontsize="medium", loc="left")
    ax.legend(fontsize="small", frameon=False)
