"""Figures of single marks: predictions beside targets, bars of probabilities, beliefs that move."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from vbks.report.figures import svg
from vbks.report.figures.frame import Axis, Size, frame
from vbks.report.figures.scales import covering
from vbks.report.sections.belief import History
from vbks.report.sections.effects import Compared

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


def history_figure(history: History, size: Size, label: str) -> Markup:
    """Lines of probabilities against what was seen, each with a style of its own."""
    seen = np.asarray(history.seen)
    is_share = float(seen.max()) <= 1.0
    inside = frame(
        size,
        Axis(history.axis, 0.0, float(seen.max()), "probability" if is_share else "number"),
        Axis("probability", 0.0, 1.02, "probability"),
    )
    lines = [
        svg.polyline(inside.x(seen), inside.y(np.asarray(own)), f"series s{number}")
        for number, own in enumerate(history.probabilities)
    ]
    return svg.figure((size.width, size.height), label, [inside.background, *lines])
