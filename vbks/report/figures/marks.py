"""Figures of single marks: predictions beside targets, bars of probabilities, beliefs that move."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from vbks.report.figures import svg
from vbks.report.figures.frame import Axis, Size, frame
from vbks.report.figures.scales import covering
from vbks.report.sections.effects import Compared
from vbks.report.values import Lines

BAR = Size(100.0, 6.0)
"""A bar is stretched to the width that the page has for it."""


def compared_figure(compared: Compared, size: Size, label: str) -> Markup:
    """Medians and 90 % intervals against the targets that were observed."""
    y, median = np.asarray(compared.observed), np.asarray(compared.median)
    low, high = np.asarray(compared.low), np.asarray(compared.high)
    ends = covering(y, median)
    inside = frame(
        size,
        Axis(f"observed {compared.target}", *ends),
        Axis(f"predicted {compared.target}", *ends),
    )
    at = inside.x(y)
    bars = "".join(
        f"M{a:.1f} {b:.1f}V{c:.1f}"
        for a, b, c in zip(at, inside.y(low), inside.y(high), strict=True)
    )
    diagonal = np.asarray(ends)
    parts = [
        inside.background,
        svg.element("path", d=bars, class_="whisker"),
        svg.polyline(inside.x(diagonal), inside.y(diagonal), "end"),
        svg.dots(at, inside.y(median), "data"),
    ]
    return svg.figure((size.width, size.height), label, parts)


def probability_bar(probability: float) -> Markup:
    """A bar as long as a probability, which stands beside it as a number."""
    full = svg.element("rect", width=BAR.width, height=BAR.height, class_="rest")
    bar = svg.element("rect", width=BAR.width * probability, height=BAR.height, class_="bar")
    return svg.element(
        "svg", full, bar,
        viewBox="0 0 100 6", preserveAspectRatio="none", class_="meter", aria_hidden="true",
    )  # fmt: skip


def lines_figure(lines: Lines, size: Size, label: str) -> Markup:
    """Lines from zero on, each with a style of its own."""
    x = np.asarray(lines.x)
    is_share = lines.target_kind == "probability"
    most = 1.02 if is_share else 1.05 * max(max(own) for own in lines.values)
    first = 0.0 if lines.kind == "probability" else float(x.min())
    inside = frame(
        size,
        Axis(lines.input, first, float(x.max()), lines.kind),
        Axis(lines.target, 0.0, most, lines.target_kind),
    )
    drawn = [
        svg.polyline(inside.x(x), inside.y(np.asarray(own)), f"series s{number}")
        for number, own in enumerate(lines.values)
    ]
    return svg.figure((size.width, size.height), label, [inside.background, *drawn])
