"""Densities of a number: a hill over one axis, its 90 % interval filled."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from vbks.report.figures import svg
from vbks.report.figures.frame import CHARACTER, Size, within
from vbks.report.figures.scales import Scale
from vbks.report.sections.properties import Likely

TOP, BOTTOM = 6.0, 36.0
"""Pixels around a density, below for the axis and its name."""

SIDE = 12.0
"""Pixels to the left and right of a density."""

LEAST_HEIGHT = 0.002
"""A density is drawn where it is higher than this share of its highest."""


def density_figure(likely: Likely, size: Size, label: str) -> Markup:
    """A density without an upright axis: only its shape and its places matter."""
    x, density = np.asarray(likely.x), np.asarray(likely.density)
    shown = density > LEAST_HEIGHT * density.max()
    x, density = x[shown], density[shown]
    bottom = size.height - BOTTOM
    across = Scale(float(x[0]), float(x[-1]), SIDE, size.width - SIDE, likely.kind)
    up = Scale(0.0, float(density.max()), bottom, TOP)
    at, ground = across(x), np.full(len(x), bottom)
    parts = [svg.band(at, up(density), ground, "outer")]
    if likely.low is not None and likely.high is not None:
        inside = (x >= likely.low) & (x <= likely.high)
        if inside.sum() > 1:
            parts.append(svg.band(at[inside], up(density[inside]), ground[inside], "inner"))
    parts += [svg.polyline(at, up(density), "middle"), _axis(likely, across, bottom, size)]
    return svg.figure((size.width, size.height), label, parts)


def _axis(likely: Likely, across: Scale, bottom: float, size: Size) -> Markup:
    parts = [svg.line(SIDE, bottom, size.width - SIDE, bottom, "axis")]
    for value, text in across.ticks(max(2, int(size.width // (10.0 * CHARACTER)))):
        place = float(across(value))
        parts += [
            svg.line(place, bottom, place, bottom + 4, "axis"),
            svg.text(
                within(place, text, size.width), bottom + 16, text,
                text_anchor="middle", class_="tick",
            ),
        ]  # fmt: skip
    name = f"{likely.name} ({likely.unit})" if likely.unit else likely.name
    parts.append(
        svg.text(size.width - SIDE, size.height - 4, name, text_anchor="end", class_="name")
    )
    return svg.joined(parts)
