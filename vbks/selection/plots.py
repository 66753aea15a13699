"""Pictures of predictions, of a belief, and of how it moved, drawn from plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from vbks.errors import DataError
from vbks.selection.belief_tables import KINDS
from vbks.selection.plot_data import PredictedCurve, PredictedRows
from vbks.selection.plot_style import (
    BLUE,
    DARK,
    GREY,
    ORANGE,
    brief_dates,
    draw_end,
    legend,
    plain,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_BARS = 3
"""There is space for at least this many bars, so that a single one is not a block."""

LEAST_SHOWN = 0.001
"""A candidate that was not fitted to the end is drawn if it could have held more than this."""

LONGEST_LABEL = 44
"""Longer expressions are cut to this many characters, which fit beside a picture."""

_MARKERS = {"vbks": "D", "bayes": "o", "stacking": "s"}


def plot_belief(
    table: pd.DataFrame, kind: str, ax: Axes | None = None, num_candidates: int = 10
) -> Axes:
    """Bars of the belief of some kind in the best candidates of a table, others as marks."""
    _check_num(num_candidates)
    fitted = table["status"] == "fitted"
    best = table[fitted | (table["most_probable"] > LEAST_SHOWN)].head(num_candidates)
    ax = _axes(ax, (8.0, 1.2 + 0.32 * max(len(best), LEAST_BARS)))
    places = np.arange(len(best))
    bars = ax.barh(places, best["probability"], height=0.62, color=BLUE, label=kind, zorder=2)
    handles = [bars]
    is_done = (best["status"] == "fitted").to_numpy()
    if not is_done.all():
        could = ax.barh(
            places[~is_done],
            best["most_probable"][~is_done],
            height=0.62,
            facecolor="none",
            edgecolor=GREY,
            linestyle="--",
            label="at most, not fitted to the end",
            zorder=2,
        )
        handles.append(could)
    others = [other for other in KINDS if other != kind and best[other].notna().any()]
    marks = [
        ax.scatter(
            best[other],
            places,
            s=22,
            marker=_MARKERS[other],
            facecolors="white",
            edgecolors=DARK,
            linewidths=1.0,
            zorder=3,
            clip_on=False,
            label=other,
        )
        for other in others
    ]
    right = ax.get_yaxis_transform()
    for place, probability, done in zip(places, best["most_probable"], is_done, strict=True):
        text = shown_percent(probability) if done else f"≤ {shown_percent(probability)}"
        ax.text(1.01, place, text, transform=right, va="center", fontsize="small", color=DARK)
    ax.set_yticks(places, [_label(*pair) for pair in _pairs(best)])
    ax.set_ylim(max(len(best), LEAST_BARS) - 0.5, -0.5)
    shown = best[["most_probable", *others]].to_numpy(float)
    ax.set_xlim(0.0, 1.02 * float(np.nanmax(shown)))
    ax.set_xlabel("probability")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    legend(ax, len(handles) + len(marks), handles=[*handles, *marks])
    tidy(ax, grid="x")
    return ax


def plot_trace(trace: pd.DataFrame, ax: Axes | None = None, num_candidates: int = 6) -> Axes:
    """The probabilities [T, K] of the candidates that have led, against the index of the table."""
    _check_num(num_candidates)
    ax = _axes(ax, (8.0, 4.0))
    led = trace.max().sort_values(ascending=False, kind="stable").index[:num_candidates]
    ranked = trace[led].iloc[-1].sort_values(ascending=False, kind="stable").index
    for pair in ranked:
        ax.plot(trace.index, trace[pair], marker="o", markersize=4, label=_label(*pair))
    others = trace.drop(columns=list(led))
    if others.shape[1]:
        label = f"{others.shape[1]} other{'s' * (others.shape[1] > 1)}"
        ax.plot(trace.index, others.sum(axis=1), "--", color=GREY, label=label)
    is_of_steps = trace.index.name == "step"
    ax.set_xlim(0.0, 1.02 * (trace.index[-1] if is_of_steps else 1.0))
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("steps" if is_of_steps else "share of the rows seen")
    ax.set_ylabel("probability")
    for axis in (ax.yaxis,) if is_of_steps else (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    legend(ax, 2)
    tidy(ax, grid="both")
    return ax


def plot_curve(curve: PredictedCurve, ax: Axes | None = None) -> Axes:
    """The data, the median of new targets, and bands that hold 50 % and 90 % of them."""
    ax = _axes(ax, (8.0, 4.0))
    grid, x, y = curve.grid, curve.x, curve.y
    low, lower, median, upper, high = curve.quantiles.T
    ax.fill_between(grid, low, high, color=BLUE, alpha=0.16, linewidth=0, label="90 %")
    ax.fill_between(grid, lower, upper, color=BLUE, alpha=0.30, linewidth=0, label="50 %")
    ax.plot(grid, median, color=BLUE, linewidth=1.6, label="median")
    size = float(np.clip(1500.0 / len(x), 3.0, 14.0))
    ax.scatter(x, y, s=size, color=DARK, linewidths=0, zorder=3, label="data")
    ax.set_xlim(min(grid[0], x.min()), max(grid[-1], x.max()))
    if x.max() < grid[-1]:
        draw_end(ax, x.max())
    brief_dates(ax, grid)
    ax.set_xlabel(plain(curve.input_name))
    ax.set_ylabel(plain(curve.target_name))
    legend(ax, 5)
    tidy(ax)
    return ax


def plot_forecast(
    table: pd.DataFrame, observed: pd.DataFrame, levels: Sequence[float], ax: Axes | None = None
) -> Axes:
    """Rows that were observed, a line where they end, the median, and bands of the levels.

    The first columns of both tables are the times.
    """
    ax = _axes(ax, (9.0, 4.0))
    times, x, y = table.iloc[:, 0], observed.iloc[:, 0], observed.iloc[:, 1]
    shades = np.linspace(0.34, 0.16, len(levels)) if len(levels) > 1 else [0.2]
    is_one = len(table) == 1
    for level, shade in reversed([*zip(levels, shades, strict=True)]):
        name = f"{100 * level:g}"
        ends, label = (table[f"low_{name}"], table[f"high_{name}"]), f"{name} %"
        if is_one:  # a band of one time has no width
            ax.vlines(times, *ends, color=BLUE, alpha=shade, linewidth=9.0, label=label)
        else:
            ax.fill_between(times, *ends, color=BLUE, alpha=shade, linewidth=0, label=label)
    style = "o" if is_one else "-"
    ax.plot(times, table["median"], style, color=BLUE, linewidth=1.6, ms=4, label="median")
    size = float(np.clip(400.0 / max(len(x), 1), 0.6, 3.5))
    ax.plot(x, y, "o-", color=DARK, markersize=size, linewidth=0.7, label="data")
    if len(x):
        draw_end(ax, x.iloc[-1])
    ax.margins(x=0.01)
    brief_dates(ax, times)
    ax.set_xlabel(plain(str(table.columns[0])))
    ax.set_ylabel(plain(str(observed.columns[1])))
    legend(ax, 3 + len(levels))
    tidy(ax)
    return ax


def plot_against_targets(rows: PredictedRows, ax: Axes | None = None) -> Axes:
    """Medians and 90 % intervals against the targets that were observed."""
    ax = _axes(ax, (5.0, 5.0))
    y = rows.y
    low, _, median, _, high = rows.quantiles.T
    ax.errorbar(
        y,
        median,
        yerr=[median - low, high - median],
        fmt="o",
        markersize=3.5,
        color=BLUE,
        ecolor=BLUE,
        elinewidth=0.8,
        alpha=0.6,
        label="median and 90 %",
    )
    ends = [min(y.min(), low.min()), max(y.max(), high.max())]
    ax.plot(ends, ends, color=ORANGE, linewidth=1.2, zorder=1, label="as observed")
    ax.set_xlabel(f"observed {plain(rows.target_name)}")
    ax.set_ylabel(f"predicted {plain(rows.target_name)}")
    legend(ax, 2)
    tidy(ax, grid="both")
    return ax


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure, for which alone `pyplot` is needed."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=size, layout="constrained")
    return new


def _pairs(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table["expression"], table["warp"], strict=True))


def _label(expression: str, warp: str) -> str:
    """A candidate in a few characters."""
    if len(expression) > LONGEST_LABEL:
        expression = expression[: LONGEST_LABEL - 1] + "…"
    return expression if warp == "identity" else f"{expression}, {warp}"


def shown_percent(share: float) -> str:
    """A probability to a tenth of a percent; none and all are said only of 0 and 1."""
    if share in (0.0, 1.0):
        return f"{100 * share:g} %"
    if 0.0005 <= share < 0.9995:
        return f"{100 * share:.1f} %"
    return "< 0.1 %" if share < 0.5 else "> 99.9 %"


def _check_num(num: int) -> None:
    if num < 1:
        raise DataError(f"num is {num}, expected at least 1 candidate to draw.")
