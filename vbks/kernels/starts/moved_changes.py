"""Other places for the changes of a fitted kernel.

An optimiser moves a change only a little, and where there are several, one may end where it
explains nothing while another place is left unexplained.
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
from vbks.kernels.starts.policy import DEFAULT, StartPolicy


def moved_changes(
    layout: Layout,
    summaries: Sequence[InputSummary],
    theta: Array,
    fixed: Sequence[int] = (),
    policy: StartPolicy = DEFAULT,
) -> Array:
    """θ [H] with one change in another place, for each change and place: [C, P, H].

    The change begins afresh there: sharp, and a window short. There are none unless an expression
    has several changes whose places are not fixed.
    """
    changes = [
        (part.node.expression.dim, part.node.slots)
        for part in parts_of(layout.root)
        if isinstance(part.node.expression, ChangePoint | ChangeWindow)
        and part.node.slots["location"][0] not in fixed
    ]
    moved = [_moved(summaries[dim - 1], slots, theta, policy) for dim, slots in changes]
    return np.array(moved if len(moved) > 1 else []).reshape(
        -1, policy.num_change_places, len(theta)
    )


def _moved(
    x: InputSummary, slots: Mapping[str, tuple[int, ...]], theta: Array, policy: StartPolicy
) -> Array:
    num = policy.num_change_places
    moved = np.tile(theta, (num, 1))
    moved[:, slots["location"][0]] = np.linspace(x.low, x.high, num + 2)[1:-1]
    moved[:, slots["steepness"][0]] = -math.log(policy.passage_share * x.range)
    if "width" in slots:
        moved[:, slots["width"][0]] = math.log(policy.window_share * x.range)
    return moved
