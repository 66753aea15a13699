"""How pictures look: colours, legends, dates, and axes without frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, DARK, GREY, ORANGE, GREEN = "#0072b2", "#1a1d21", "#868c94", "#d55e00", "#009e73"
"""Blue, vermilion and green of Okabe and Ito, which all eyes tell apart; dark is for data."""


def brief_dates(ax: Axes, times: Any) -> None:
    """Dates below an axis without what they have in common, where there are dates."""
    if not pd.api.types.is_datetime64_any_dtype(times):
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(
        ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    )


def plain(name: str) -> str:
    """A column's name as it is: a dollar would begin a formula."""
    return name.replace("$", r"\$")


def draw_end(ax: Axes, place: Any) -> None:
    """A broken line where the data end, with its name for the legend."""
    ax.axvline(place, color=ORANGE, linestyle="--", linewidth=1.0, label="data end")


def legend(ax: Axes, num_columns: int, **settings: Any) -> None:
    """A legend above the picture, where it hides nothing."""
    ax.legend(
        **settings,
        ncols=num_columns,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        frameon=False,
        fontsize="small",
    )


def tidy(ax: Axes, grid: Any = None) -> None:
    """Two spines, and lines behind the picture where they are asked for: "x", "y" or "both"."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color=GREY, alpha=0.25, linewidth=0.7)
        ax.set_axisbelow(True)
