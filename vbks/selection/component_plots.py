"""Pictures of the parts of a function: each part, the fit with it, and what is left after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vbks.arrays import Array
from vbks.selection.component_data import PartCurve, PartPicture, PartPictures
from vbks.selection.plot_style import BLUE, DARK, GREY, ORANGE, brief_dates, draw_end, plain, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.2, 2.2
"""Inches of a panel."""


def plot_components(found: PartPictures, figure: Figure | None = None) -> Figure:
    """A row for each part: over one input the part, the fit so far and its residuals.

    Of several inputs there is a panel for each input of the part, and the fit so far is drawn
    against the targets.
    """
    alone = found.end is not None
    num_curves = max(len(part.curves) for part in found.parts)
    columns = 3 if alone else num_curves + 1
    figure = _figure(figure, (WIDTH * columns, HEIGHT * len(found.parts) + 0.5))
    panels = figure.subplots(
        len(found.parts), columns, squeeze=False, sharex="all" if alone else False
    )
    for part, row in zip(found.parts, panels, strict=True):
        for ax, curve in zip(row, part.curves, strict=False):
            _draw_part(ax, curve, found.unit_name)
        if alone:
            _draw_fit(row[1], part, found)
            _draw_residuals(row[2], part, found)
        else:
            for ax in row[len(part.curves) : -1]:
                ax.set_axis_off()
            _draw_against_targets(row[-1], part, found)
        row[0].set_title(plain(part.title), loc="left", fontsize="medium", color=DARK)
    if alone:
        _finish_one_input(panels, found)
    return figure


def _draw_part(ax: Axes, curve: PartCurve, unit_name: str) -> None:
    _draw_band(ax, curve.places, curve.band)
    if curve.partial is not None:
        label = "data less other parts"
        ax.scatter(curve.x, curve.partial, s=_size(curve.x), color=GREY, linewidths=0, label=label)
    ax.set_xlabel(plain(curve.input_name))
    ax.set_ylabel(plain(unit_name))
    tidy(ax)


def _draw_fit(ax: Axes, part: PartPicture, found: PartPictures) -> None:
    (curve,) = part.curves
    _draw_band(ax, curve.places, part.fit)
    ax.scatter(
        curve.x, found.targets, s=_size(curve.x), color=DARK, linewidths=0, zorder=3, label="data"
    )
    ax.set_ylabel(plain(found.target_name))
    tidy(ax)


def _draw_residuals(ax: Axes, part: PartPicture, found: PartPictures) -> None:
    (curve,) = part.curves
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.vlines(curve.x, 0.0, part.residuals, color=ORANGE, linewidth=0.9)
    ax.set_ylabel("left over")
    tidy(ax)


def _draw_against_targets(ax: Axes, part: PartPicture, found: PartPictures) -> None:
    low, median, high = part.fit.T
    ax.vlines(found.targets, low, high, color=BLUE, alpha=0.3, linewidth=0.8)
    ax.scatter(found.targets, median, s=_size(median), color=BLUE, linewidths=0)
    ends = [float(found.targets.min()), float(found.targets.max())]
    ax.plot(ends, ends, color=ORANGE, linewidth=1.2)
    ax.set_xlabel(f"observed {plain(found.target_name)}")
    ax.set_ylabel("fit so far")
    tidy(ax)


def _finish_one_input(panels: Any, found: PartPictures) -> None:
    """Titles of columns, and where the data end."""
    panels[0, 1].set_title("fit so far", loc="left", fontsize="medium", color=DARK)
    panels[0, 2].set_title("what it leaves", loc="left", fontsize="medium", color=DARK)
    for ax in panels.flat:
        draw_end(ax, found.end)
        ax.margins(x=0.01)
        brief_dates(ax, found.parts[0].curves[0].places)
    for ax in panels[:-1].flat:
        ax.set_xlabel("")
    for ax in panels[-1]:
        ax.set_xlabel(plain(found.parts[0].curves[0].input_name))
    panels[0, 0].legend(loc="best", frameon=False, fontsize="small")


def _draw_band(ax: Axes, places: Any, band: Array) -> None:
    low, median, high = band.T
    ax.fill_between(places, low, high, color=BLUE, alpha=0.2, linewidth=0, label="90 %")
    ax.plot(places, median, color=BLUE, linewidth=1.5, label="median")


def _size(x: Any) -> float:
    """The area of a dot: less where there are many."""
    return float(np.clip(1500.0 / max(len(x), 1), 2.0, 12.0))


def _figure(figure: Figure | None, size: tuple[float, float]) -> Figure:
    """The figure given, or a new one, for which alone `pyplot` is needed."""
    if figure is not None:
        return figure
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")
