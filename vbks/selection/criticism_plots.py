"""Pictures of residuals: over the input, their autocorrelations, periodogram and quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from vbks.arrays import Array
from vbks.criticism.result import Criticism
from vbks.data.sources import Values
from vbks.data.times import instants
from vbks.selection.plot_style import BLUE, DARK, GREY, ORANGE, brief_dates, plain, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSIDE = 1.96
"""Nineteen residuals of twenty lie within this distance of zero under the model."""


def plot_criticism(criticism: Criticism, is_time: bool = False) -> Figure:
    """Four panels; the periodogram is left out where rows have no order.

    Where rows are in order of a time, their positions are days since 1970, shown as dates.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(10.0, 6.5), layout="constrained")
    table = criticism.residuals
    positions = table["position"].to_numpy()
    shown = instants(positions) if is_time else positions
    plot_residuals(panels[0, 0], shown, table["residual"].to_numpy())
    brief_dates(panels[0, 0], shown)
    panels[0, 0].set_xlabel(plain(criticism.order_name))
    plot_quantiles(panels[0, 1], table["residual"].to_numpy())
    plot_autocorrelation(panels[1, 0], criticism)
    plot_periodogram(panels[1, 1], criticism)
    for panel in figure.axes:
        tidy(panel)
    figure.suptitle(plain(_short(criticism.verdict)), fontsize="medium", x=0.01, ha="left")
    return figure


def plot_residuals(ax: Axes, positions: Values, residuals: Array) -> None:
    """Standardised residuals over the input that rows are in order of."""
    ax.axhspan(-INSIDE, INSIDE, color=BLUE, alpha=0.14, linewidth=0)
    size = float(np.clip(1500.0 / len(positions), 3.0, 14.0))
    ax.scatter(positions, residuals, s=size, color=DARK, linewidths=0)
    ax.set_title("Residuals, and where 95 % of them belong", fontsize="medium", loc="left")


def plot_quantiles(ax: Axes, residuals: Array) -> None:
    """Ordered residuals against the quantiles of the normal distribution."""
    n = len(residuals)
    expected = ndtri((np.arange(1, n + 1) - 0.5) / n)
    ends = [expected[0], expected[-1]]
    ax.plot(ends, ends, color=ORANGE, linewidth=1.2)
    ax.plot(expected, np.sort(residuals), "o", color=BLUE, markersize=3)
    ax.set_xlabel("normal quantiles")
    ax.set_title("Quantiles of residuals", fontsize="medium", loc="left")


def plot_autocorrelation(ax: Axes, criticism: Criticism) -> None:
    """Autocorrelations, and what those of 95 % of replicates all stay below."""
    found = criticism.autocorrelation
    ax.axhspan(-found.limit, found.limit, color=BLUE, alpha=0.14, linewidth=0)
    ax.vlines(found.places, 0.0, found.values, color=DARK, linewidth=2.0)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel(f"lag in rows, in the order of {plain(criticism.order_name)}")
    ax.set_title("Autocorrelation", fontsize="medium", loc="left")


def plot_periodogram(ax: Axes, criticism: Criticism) -> None:
    """Powers over periods, and what those of 95 % of replicates all stay below."""
    found = criticism.periodogram
    ax.set_title("Periodogram", fontsize="medium", loc="left")
    if found is None:
        ax.text(0.5, 0.5, "rows have no order in time", ha="center", transform=ax.transAxes)
        ax.set_axis_off()
        return
    ax.plot(1.0 / found.places, found.values, color=DARK, linewidth=1.0)
    ax.axhline(found.limit, color=ORANGE, linestyle="--", linewidth=1.0)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(f"period in units of {plain(criticism.order_name)}")


LONGEST_TITLE = 140
"""A longer verdict is cut to this many characters."""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…"
