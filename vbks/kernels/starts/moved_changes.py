"""Other places for the changes of a fitted kernel.

A climb moves a change only a little, and where there are several, one may end where it explains
nothing while another place is left unexplained.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.grammar.expression import ChangePoint, ChangeWindow
from vbks.kernels.layout import Layout
from vbks.kernels.parts import parts_of

PLACES = 20
"""Places that are tried for each change, evenly over the range of its input."""

WINDOW_SHARE = 0.1
"""Width of a window when it is tried in another place, as a share of the range."""

PASSAGE_SHARE = 0.01
"""Share of the range over which a change passes when it is tried in another place."""


def moved_changes(
    layout: Layout, summaries: Sequence[InputSummary], theta: Array, fixed: Sequence[int] = ()
) -> Array:
    """θ [H] with one change in another place, for each change and place: [C, PLACES, H].

    The change begins afresh there: sharp, and a window short. There are none unless an expression
    has several changes whose places are not fixed.
    """
    changes = [
        (part.node.expression.dim, part.node.slots)
        for part in parts_of(layout.root)
        if isinstance(part.node.expression, ChangePoint | ChangeWindow)
        and part.node.slots["location"][0] not in fixed
    ]
    moved = [_moved(summaries[dim - 1], slots, theta) for dim, slots in changes]
    return np.array(moved if len(moved) > 1 else []).reshape(-1, PLACES, len(theta))


def _moved(x: InputSummary, slots: Mapping[str, tuple[int, ...]], theta: Array) -> Array:
    moved = np.tile(theta, (PLACES, 1))
    moved[:, slots["location"][0]] = np.linspace(x.low, x.high, PLACES + 2)[1:-1]
    moved[:, slots["steepness"][0]] = -math.log(PASSAGE_SHARE * x.range)
    if "width" in slots:
        moved[:, slots["width"][0]] = math.log(WINDOW_SHARE * x.range)
    return moved
