"""The frame of a figure: its size, axes with ticks and names, and the room that is left inside."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from vbks.report.figures import svg
from vbks.report.figures.scales import AxisKind, Scale

CHARACTER = 6.6
"""Pixels of a character of tick labels, on average."""

TICK_ROOM = 78.0
"""Pixels that a label of the lower axis may take."""


@dataclass(frozen=True)
class Size:
    """Width and height of a figure in pixels."""

    width: float
    height: float


WIDE, NARROW = Size(720, 330), Size(336, 250)
"""For desks and paper, and for phones: each figure is drawn for both, so that text keeps its size
and the page shows the one that fits."""

SMALL = Size(336, 170)
"""For pictures beside a text."""

TOP, BOTTOM, RIGHT = 30.0, 40.0, 10.0
"""Pixels around the inside: for the name of the upright axis and a note, for the lower axis, and
for half a label."""


@dataclass(frozen=True)
class Axis:
    """The name, the range and the kind of an axis."""

    name: str
    low: float
    high: float
    kind: AxisKind = "number"


@dataclass(frozen=True)
class Frame:
    """Scales of both axes, and what is drawn behind all else."""

    x: Scale
    y: Scale
    background: Markup


def frame(size: Size, x: Axis, y: Axis, y_ticks: int = 5) -> Frame:
    """Axes with names, ticks, labels and faint lines."""
    top, bottom = TOP, size.height - BOTTOM
    upright = Scale(y.low, y.high, bottom, top, y.kind)
    ticks = upright.ticks(y_ticks)
    left = 14.0 + CHARACTER * max((len(label) for _, label in ticks), default=1)
    right = size.width - RIGHT
    lower = Scale(x.low, x.high, left, right, x.kind)
    room = int((right - left) // TICK_ROOM)
    parts = [svg.text(0, 11, shortened(y.name, size.width), class_="name")]
    for value, label in ticks:
        place = float(upright(value))
        parts += [
            svg.line(left, place, right, place, "grid"),
            svg.text(left - 6, place + 4, label, text_anchor="end", class_="tick"),
        ]
    for value, label in lower.ticks(max(2, min(room, 8))):
        place = float(lower(value))
        parts += [
            svg.line(place, bottom, place, bottom + 4, "axis"),
            svg.text(
                within(place, label, size.width), bottom + 17, label,
                text_anchor="middle", class_="tick",
            ),
        ]  # fmt: skip
    parts += [
        svg.line(left, bottom, right, bottom, "axis"),
        svg.text(
            right,
            size.height - 4,
            shortened(x.name, right - left),
            text_anchor="end",
            class_="name",
        ),
    ]
    return Frame(lower, upright, svg.joined(parts))


def shortened(name: str, room: float) -> str:
    """A name cut to the characters that pixels have room for."""
    most = max(4, int(room / (CHARACTER + 0.6)))
    return name if len(name) <= most else f"{name[: most - 1]}…"


def within(place: float, label: str, width: float) -> float:
    """The middle of a label, moved so that it does not leave the figure."""
    half = 0.5 * CHARACTER * len(label)
    return min(max(place, half), width - half)
