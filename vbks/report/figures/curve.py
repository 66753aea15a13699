"""Curves over one input: the data, the median, bands, and where the data end."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from vbks.arrays import Array
from vbks.report.figures import svg
from vbks.report.figures.frame import Axis, Frame, Size, frame
from vbks.report.figures.scales import AxisKind, covering, dated
from vbks.report.values import Curve, Series
from vbks.words.numerals import decimals_for, fixed

REACH = 1.5
"""The upright axis goes no further beyond the data than this many times their range."""

HOVERED = 400
"""Places at which values are shown under the pointer."""

HOURLY_SPAN = 60.0
"""Over more days than this, hours are not told."""

HOVER_DIGITS = 4
"""Significant digits of the values under the pointer."""


def curve_figure(curve: Curve, size: Size, label: str) -> Markup:
    """Data as dots, the median as a line, and bands that hold 50 % and 90 % of new targets."""
    grid = np.asarray(curve.grid)
    low, lower, median, upper, high = (np.asarray(own) for own in curve.bands)
    x, y = np.asarray(curve.data.x), np.asarray(curve.data.y)
    room = _room(y, low, high)
    inside = frame(
        size,
        Axis(curve.input, *covering(grid, x, margin=0.0), curve.kind),
        Axis(curve.target, *room),
    )
    at = inside.x(grid)
    parts = [
        inside.background,
        svg.band(at, inside.y(low), inside.y(high), "outer"),
        svg.band(at, inside.y(lower), inside.y(upper), "inner"),
        svg.polyline(at, inside.y(median), "middle"),
        svg.dots(inside.x(x), inside.y(y), "data" if len(x) <= 400 else "data many"),
        *end_marks(inside, curve.end),
        _pointer(inside),
    ]
    return svg.figure((size.width, size.height), label, parts, data_hover=_hover(curve, inside))


def series_figure(series: Series, size: Size, label: str, zero: bool = True) -> Markup:
    """A line with a band around it, such as a part of the function."""
    grid, mean = np.asarray(series.grid), np.asarray(series.mean)
    low, high = np.asarray(series.low), np.asarray(series.high)
    inside = frame(
        size,
        Axis(series.input, *covering(grid, margin=0.0), series.kind),
        Axis(series.target, *covering(low, high, mean), series.target_kind),
        y_ticks=4,
    )
    at = inside.x(grid)
    parts = [inside.background, svg.band(at, inside.y(low), inside.y(high), "outer")]
    if zero and inside.y.low < series.zero < inside.y.high:
        place = float(inside.y(series.zero))
        parts.append(svg.line(inside.x.start, place, inside.x.end, place, "axis"))
    parts += [svg.polyline(at, inside.y(mean), "middle"), *end_marks(inside, series.end)]
    return svg.figure((size.width, size.height), label, parts)


def _room(y: Array, low: Array, high: Array) -> tuple[float, float]:
    """The range of the upright axis: all of the data, and the bands unless they run away."""
    reach = REACH * (np.ptp(y) or 1.0)
    bands = np.clip(np.concatenate([low, high]), y.min() - reach, y.max() + reach)
    return covering(y, bands)


def end_marks(inside: Frame, end: float | None) -> list[Markup]:
    """A line where the data end, which says so."""
    if end is None or not inside.x.low < end < inside.x.high:
        return []
    place = float(inside.x(end))
    return [
        svg.line(place, inside.y.end, place, inside.y.start, "end"),
        svg.text(place, inside.y.end - 4, "data end", text_anchor="end", class_="note"),
    ]


def _pointer(inside: Frame) -> Markup:
    """The line that follows the pointer, hidden until there is one."""
    return svg.element(
        "line",
        x1=0,
        x2=0,
        y1=inside.y.end,
        y2=inside.y.start,
        class_="pointer",
        visibility="hidden",
    )


def _hover(curve: Curve, inside: Frame) -> str:
    """Places in pixels and what is said there, for the script of the page."""
    low, lower, median, upper, high = curve.bands
    decimals = decimals_for(float(np.ptp(curve.data.y)) or 1.0, HOVER_DIGITS)
    observed = dict(zip(curve.data.x, curve.data.y, strict=True))
    every = max(1, len(curve.grid) // HOVERED)
    unnamed = (
        (i, told_place(curve.grid[i], curve.kind, curve.grid))
        for i in range(0, len(curve.grid), every)
    )
    told = []
    for i, place in curve.told or unnamed:
        data = observed.get(curve.grid[i])
        told.append([
            round(float(inside.x(curve.grid[i])), 1),
            f"{place}: {'' if data is None else f'data {fixed(data, decimals)}, '}"
            f"median {fixed(median[i], decimals)}, "
            f"50 % {fixed(lower[i], decimals)} to {fixed(upper[i], decimals)}, "
            f"90 % {fixed(low[i], decimals)} to {fixed(high[i], decimals)}",
        ])  # fmt: skip
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def told_place(value: float, kind: AxisKind, among: Sequence[float]) -> str:
    """A place on an axis as a text, as fine as the range of the axis asks for."""
    span = (max(among) - min(among)) or 1.0
    if kind == "date":
        return dated(value, "%Y-%m-%d" if span > HOURLY_SPAN else "%Y-%m-%d %H:%M")
    decimals = max(0, decimals_for(span, 4))
    return f"{value:.{min(decimals, 2)}f}" if kind == "year" else fixed(value, decimals)
