"""Other zeros for the lines of a fitted kernel.

An optimiser does not move the zero of a line through the data, where it would be wrong, to their
other side: whether what it multiplies grows or shrinks along the input is decided by the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.grammar.expression import Product
from vbks.kernels.layout import Layout, Node
from vbks.kernels.starts.policy import DEFAULT, StartPolicy


def moved_lines(
    layout: Layout,
    summaries: Sequence[InputSummary],
    theta: Array,
    fixed: Sequence[int] = (),
    policy: StartPolicy = DEFAULT,
) -> Array:
    """θ [H] with the zero of one line in another place: [L, P, H].

    There are lists of places on each side of the data and inside, for each line. Its variance
    follows, so that the line is as large over the data as it was.
    """
    moved = []
    for location, scales in _lines(layout.root, ()):
        is_line = layout.slots[location].parameter.role == "location"
        if is_line and location not in fixed and not set(scales) & set(fixed):
            x = summaries[layout.slots[location].dim or 0]
            for places in _places(x, float(theta[location]), policy):
                moved.append(_moved(theta, location, scales, x, places))
    return np.array(moved).reshape(len(moved), policy.num_line_places, len(theta))


def _lines(node: Node, above: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Slots of the locations of lines, and of the variances that they are multiplied with."""
    if isinstance(node.expression, Product):
        above = tuple(_scales(node))
    if node.operands:
        for operand in node.operands:
            yield from _lines(operand, above)
    elif len(node.slots.get("location", ())) == 1:
        own = above if node.scale is None else (node.scale,)
        yield node.slots["location"][0], own


def _scales(node: Node) -> Iterator[int]:
    if node.scale is not None:
        yield node.scale
    for operand in node.operands:
        yield from _scales(operand)


def _places(x: InputSummary, own: float, policy: StartPolicy) -> Iterator[Array]:
    """Places of each kind that a line may be moved to."""
    num = policy.num_line_places
    middle = 0.5 * (x.low + x.high)
    beyond = np.linspace(0.5, policy.line_reach, num + 1)[1:] * x.range
    if own > x.low:
        yield middle - beyond
    if own < x.high:
        yield middle + beyond
    inside = np.linspace(x.low, x.high, 2 * num)
    least = policy.line_distance * x.range
    yield np.resize(inside[np.abs(inside - own) > least], num)


def _moved(
    theta: Array, location: int, scales: Sequence[int], x: InputSummary, places: Array
) -> Array:
    middle = 0.5 * (x.low + x.high)
    moved = np.tile(theta, (len(places), 1))
    moved[:, location] = places
    squares = (moved[:, [location]] - middle) ** 2 + x.range**2 / 12.0
    own = (theta[location] - middle) ** 2 + x.range**2 / 12.0
    moved[:, list(scales)] -= np.log(squares / own)
    return moved
