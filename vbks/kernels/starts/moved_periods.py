"""Other periods for the periodic leaves of a fitted kernel.

An optimiser moves a period only a little. Starts have the periods that a periodogram of the target
shows, but beside strong smooth parts a short period may not be seen in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parts import parts_of
from vbks.kernels.starts.policy import DEFAULT, StartPolicy


def moved_periods(
    layout: Layout,
    summaries: Sequence[InputSummary],
    theta: Array,
    fixed: Sequence[int] = (),
    policy: StartPolicy = DEFAULT,
) -> Array:
    """θ [H] with another period of one leaf, for each leaf and period: [W, P, H].

    Every leaf is tried as it was found, and as one that is small and smooth. Those near the period
    that it has are left out, and periods that are fixed stay.
    """
    spots = [
        (node, slot, summaries[layout.slots[slot].dim or 0])
        for node, slot in _periods(layout)
        if slot not in fixed
    ]
    num = max((_num_periods(x, policy) for _, _, x in spots), default=0)
    moved = [
        _moved(version, slot, x, num, policy)
        for node, slot, x in spots
        for version in (theta, _small(node, theta, fixed, policy))
    ]
    return np.array(moved).reshape(len(moved), num, len(theta))


def _periods(layout: Layout) -> Iterator[tuple[Node, int]]:
    """Leaves and their slots of a period, in logarithms."""
    for part in parts_of(layout.root):
        for slots in part.node.slots.values():
            for slot in slots:
                if layout.slots[slot].parameter.role == "period":
                    yield part.node, slot


def _cycles(x: InputSummary, policy: StartPolicy) -> float:
    """Most cycles over the range of an input."""
    if x.spacing <= 0.0:
        return 2.0
    return max(2.0, x.range / (policy.shortest_period * x.spacing))


def _num_periods(x: InputSummary, policy: StartPolicy) -> int:
    return min(policy.max_periods, math.ceil(policy.periods_per_cycle * _cycles(x, policy)))


def _moved(theta: Array, slot: int, x: InputSummary, num: int, policy: StartPolicy) -> Array:
    cycles = np.linspace(1.0, _cycles(x, policy), num)
    own = x.range * np.exp(-theta[slot])
    others = cycles[np.abs(cycles - own) > 1.0]
    moved = np.tile(theta, (num, 1))
    moved[:, slot] = np.log(x.range / np.resize(others if len(others) else cycles, num))
    return moved


def _small(node: Node, theta: Array, fixed: Sequence[int], policy: StartPolicy) -> Array:
    """θ with a small smooth leaf in place of the one that was found."""
    small = theta.copy()
    for slot in node.slots.get("lengthscales", ()):
        if slot not in fixed:
            small[slot] = policy.new_period_log_lengthscale
    if node.scale is not None and node.scale not in (NOISE_SLOT, *fixed):
        small[node.scale] = theta[NOISE_SLOT] + math.log(policy.new_period_variance)
    return small


def halved_periods(layout: Layout, theta: Array, fixed: Sequence[int] = ()) -> Array:
    """θ [H] with one period halved, for each that is not fixed: [W, H].

    A function that repeats also repeats after twice as long, so that fits end there, with a
    lengthscale that is half as long as it could be.
    """
    halves = []
    for part in parts_of(layout.root):
        for index in part.node.slots.get("period", ()):
            if index in fixed:
                continue
            half = theta.copy()
            half[index] -= math.log(2.0)
            half[list(part.node.slots.get("lengthscales", ()))] += math.log(2.0)
            halves.append(half)
    return np.array(halves).reshape(-1, len(theta))
