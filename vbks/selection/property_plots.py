"""Pictures of properties: densities of periods, places and changes, and probabilities as bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.data.times import instants
from vbks.errors import DataError
from vbks.properties.results import Change, Cycle, Dependence, Properties, Property, Spread, Trend
from vbks.properties.values import Density
from vbks.selection.plot_style import BLUE, DARK, GREY, brief_dates, plain, tidy
from vbks.selection.plots import LEAST_BARS, shown_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.6, 3.0
"""Inches of the picture of one property."""

COLUMNS = 2
"""So many pictures stand side by side."""

LEAST_DENSITY = 0.004
"""Where a density is below this share of its height at both ends, it is not drawn."""

WIDE = 4.0
"""Periods that differ by more than this factor are drawn on a logarithmic axis."""

LEAST_SHOWN = 0.01
"""A density is drawn if its property is at least this probable."""


def plot_properties(properties: Properties, names: Sequence[str] | None = None) -> list[Axes]:
    """A picture of each property, or of those with some names, in one figure."""
    import matplotlib.pyplot as plt

    known = _pictures(properties)
    wanted = list(known) if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise DataError(f"there is no picture of '{name}'. Known: {', '.join(known)}.")
    if not wanted:
        raise DataError("no property is named. Leave names out, or name at least one.")
    num_columns = min(COLUMNS, len(wanted))
    num_rows = -(-len(wanted) // num_columns)
    size = (WIDTH * num_columns, HEIGHT * num_rows)
    figure, panels = plt.subplots(
        num_rows, num_columns, figsize=size, layout="constrained", squeeze=False
    )
    every = list(panels.ravel())
    for name, ax in zip(wanted, every, strict=False):
        known[name](ax)
    for ax in every[len(wanted) :]:
        figure.delaxes(ax)
    return every[: len(wanted)]


def plot_period(cycle: Cycle, ax: Axes) -> None:
    """The density of the period of a cycle."""
    unit = f", {cycle.unit}" if cycle.unit else ""
    _plot_density(cycle, ax, f"period{unit}", is_log=True)


def plot_trend(trend: Trend, ax: Axes) -> None:
    """The density of the change from end to end, and the probabilities of both directions."""
    unit = f", {trend.unit}" if trend.unit else ""
    _plot_density(trend, ax, f"change over the data{unit}")
    if trend.density is not None and trend.probability >= LEAST_SHOWN:
        ax.axvline(0.0, color=GREY, linestyle="--", linewidth=1.0)
    title = f"trend: up {shown_percent(trend.up)}, down {shown_percent(trend.down)}"
    ax.set_title(title, fontsize="medium")


def plot_change(change: Change, ax: Axes) -> None:
    """The density of where a change is, along dates if rows have these."""
    unit = f", {change.unit}" if change.unit and not change.dates else ""
    _plot_density(change, ax, f"change in {plain(change.input)}{unit}", as_dates=bool(change.dates))


def plot_spread(spread: Spread, ax: Axes) -> None:
    """The probabilities that a size grows, shrinks or varies, and stays."""
    stays = max(0.0, 1.0 - spread.probability)
    shares = {
        "grow": spread.grows,
        "shrink": spread.shrinks,
        "vary": spread.varies,
        "neither": stays,
    }
    _bars(ax, list(shares), list(shares.values()))
    ax.set_title(f"{spread.name} along {plain(spread.input)}", fontsize="medium")


def plot_dependence(parts: Sequence[Dependence], ax: Axes) -> None:
    """The probability that each input matters, and each pair acts together."""
    names = [" and ".join(own.inputs) for own in parts]
    _bars(ax, [plain(name) for name in names], [own.probability for own in parts])
    ax.set_title("inputs that matter", fontsize="medium")


def _pictures(properties: Properties) -> dict[str, Callable[[Axes], None]]:
    """How to draw each property, by its name."""
    own = properties
    found: dict[str, Callable[[Axes], None]] = {
        "cycle": lambda ax: plot_period(own.cycle, ax),
        "trend": lambda ax: plot_trend(own.trend, ax),
        "swings": lambda ax: plot_spread(own.swings, ax),
        "change": lambda ax: plot_change(own.change, ax),
    }
    noise = own.noise
    if noise is not None:
        found["noise"] = lambda ax: plot_spread(noise, ax)
    found["inputs"] = lambda ax: plot_dependence((*own.inputs, *own.pairs), ax)
    return found


def _plot_density(
    own: Property, ax: Axes, label: str, is_log: bool = False, as_dates: bool = False
) -> None:
    """A density with its interval, or a mark or a word where there is none."""
    ax.set_title(f"{own.name} {shown_percent(own.probability)}", fontsize="medium")
    ax.set_xlabel(label)
    ax.set_yticks([])
    tidy(ax)
    ax.spines["left"].set_visible(False)
    if own.density is None or own.median is None or own.probability < LEAST_SHOWN:
        _mark(own, ax, as_dates)
        return
    x, height = _shown(own.density)
    _fill(ax, x, height, 0.16, as_dates)
    ax.plot(instants(x) if as_dates else x, height, color=BLUE, linewidth=1.6)
    if own.interval is not None:
        low, high = own.interval
        inside = np.unique(np.concatenate([[low, high], x[(x > low) & (x < high)]]))
        _fill(ax, inside, np.interp(inside, x, height), 0.30, as_dates)
    ax.set_ylim(bottom=0.0)
    if is_log and x[-1] > WIDE * x[0]:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if as_dates:
        brief_dates(ax, pd.Series(instants(x)))


def _shown(density: Density) -> tuple[Array, Array]:
    """The part of a density where it is worth to be drawn."""
    shown = np.flatnonzero(density.density > LEAST_DENSITY * density.density.max())
    part = slice(max(shown[0] - 1, 0), shown[-1] + 2)
    return density.x[part], density.density[part]


def _fill(ax: Axes, x: Array, height: Array, shade: float, as_dates: bool) -> None:
    at = instants(x) if as_dates else x
    ax.fill_between(at, height, color=BLUE, alpha=shade, linewidth=0)


def _mark(own: Property, ax: Axes, as_dates: bool) -> None:
    """The number of a property that has no density, or that there is none."""
    if own.median is not None and own.probability >= LEAST_SHOWN:
        ax.axvline(instants(np.array([own.median]))[0] if as_dates else own.median, color=BLUE)
        return
    ax.set_xticks([])
    ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", color=GREY)


def _bars(ax: Axes, names: Sequence[str], shares: Sequence[float]) -> None:
    places = np.arange(len(names))
    ax.barh(places, shares, height=0.62, color=BLUE, zorder=2)
    right = ax.get_yaxis_transform()
    for place, share in zip(places, shares, strict=True):
        ax.text(
            1.01,
            place,
            shown_percent(share),
            transform=right,
            va="center",
            fontsize="small",
            color=DARK,
        )
    ax.set_yticks(places, list(names))
    ax.set_ylim(max(len(names), LEAST_BARS) - 0.5, -0.5)
    ax.set_xlim(0.0, 1.02)
    ax.set_xlabel("probability")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    tidy(ax, grid="x")
