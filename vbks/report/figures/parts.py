"""Figures of parts: a small one without axes, and lines beside rows of the data."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from vbks.report.figures import svg
from vbks.report.figures.curve import end_marks
from vbks.report.figures.frame import Axis, Size, frame
from vbks.report.figures.scales import Scale, covering
from vbks.report.values import Overlay, Series

SPARK = Size(200, 76)
"""A small picture, of which a row of the page has one."""

SPARK_TOP, SPARK_BOTTOM = 4.0, 18.0
"""Pixels around a small picture, below for its ends."""

FEW_DOTS = 400
"""Up to this many dots are drawn large."""


def spark_figure(series: Series, ends: tuple[str, str], size: Size, label: str) -> Markup:
    """A line with its band and, where there is one, the value of no effect; the ends are named."""
    grid, mean = np.asarray(series.grid), np.asarray(series.mean)
    low, high = np.asarray(series.low), np.asarray(series.high)
    bottom = size.height - SPARK_BOTTOM
    x = Scale(float(grid[0]), float(grid[-1]), 1.0, size.width - 1.0)
    y = Scale(*covering(low, high, mean), bottom, SPARK_TOP)
    at = x(grid)
    parts = [svg.band(at, y(low), y(high), "outer")]
    if y.low < series.zero < y.high:
        place = float(y(series.zero))
        parts.append(svg.line(0.0, place, size.width, place, "zero"))
    parts.append(svg.polyline(at, y(mean), "middle"))
    if series.end is not None and x.low < series.end < x.high:
        place = float(x(series.end))
        parts.append(svg.line(place, SPARK_TOP, place, bottom, "end"))
    parts += [
        svg.text(0.0, size.height - 4, ends[0], class_="tick"),
        svg.text(size.width, size.height - 4, ends[1], text_anchor="end", class_="tick"),
    ]
    return svg.figure((size.width, size.height), label, parts)


def overlay_figure(overlay: Overlay, size: Size, label: str) -> Markup:
    """Rows as dots, with the line that is drawn through them."""
    x, y = np.asarray(overlay.dots.x), np.asarray(overlay.dots.y)
    line = overlay.line or overlay.dots
    line_x, line_y = np.asarray(line.x), np.asarray(line.y)
    usual = overlay.usual or 0.0
    room = covering(y, line_y, np.array([-usual, usual] if overlay.has_zero else []))
    inside = frame(
        size,
        Axis(overlay.input, *covering(x, line_x, margin=0.0), overlay.kind),
        Axis(overlay.target, *room),
        y_ticks=4,
    )
    parts = [inside.background]
    if overlay.usual is not None:
        ends, ones = np.array([inside.x.start, inside.x.end]), np.ones(2)
        parts.append(svg.band(ends, inside.y(-usual * ones), inside.y(usual * ones), "outer"))
    if overlay.has_zero:
        place = float(inside.y(0.0))
        parts.append(svg.line(inside.x.start, place, inside.x.end, place, "axis"))
    dots = svg.dots(inside.x(x), inside.y(y), "data" if len(x) <= FEW_DOTS else "data many")
    parts.append(dots)
    if overlay.line is not None:
        parts.append(svg.polyline(inside.x(line_x), inside.y(line_y), "middle"))
    parts += end_marks(inside, overlay.end)
    return svg.figure((size.width, size.height), label, parts)
