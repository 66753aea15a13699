"""A small writer of SVG: elements whose attributes and texts are escaped, and paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup, escape

from vbks.arrays import Array


def element(name: str, *content: Markup | str, **attributes: object) -> Markup:
    """An element; ``class_`` is its class, and underscores in names of attributes are hyphens."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(content)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inner)


def text(x: float, y: float, content: str, **attributes: object) -> Markup:
    """Text at a place; it begins there unless ``text_anchor`` says otherwise."""
    return element("text", escape(content), x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def polyline(x: Array, y: Array, class_: str) -> Markup:
    """A line through points."""
    return element("path", d=f"M{_points(x, y)}", class_=class_)


def band(x: Array, low: Array, high: Array, class_: str) -> Markup:
    """The area between two lines."""
    there, back = _points(x, low), _points(x[::-1], high[::-1])
    return element("path", d=f"M{there}L{back}Z", class_=class_)


def dots(x: Array, y: Array, class_: str) -> Markup:
    """Points, drawn as lines without a length, which take little space in a file."""
    marks = "".join(f"M{_number(a)} {_number(b)}h0" for a, b in zip(x, y, strict=True))
    return element("path", d=marks, class_=class_)


def figure(
    size: tuple[float, float], label: str, parts: Iterable[Markup], **more: object
) -> Markup:
    """A whole picture, with what it shows as its alternative text."""
    width, height = size
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        **more,
    )


def _points(x: Array, y: Array) -> str:
    return "L".join(f"{_number(a)} {_number(b)}" for a, b in zip(x, y, strict=True))


def _value(value: object) -> str:
    is_number = isinstance(value, int | float | np.floating)
    return _number(float(value)) if is_number else str(value)  # type: ignore[arg-type]


def _number(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{round(float(value), 1) + 0.0:g}"


def joined(parts: Sequence[Markup]) -> Markup:
    """Elements one after the other."""
    return Markup("").join(parts)
