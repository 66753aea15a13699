"""Other periods for the waves of a fitted kernel.

A climb moves a period only a little. Starts have the periods that a periodogram of the target
shows, but beside strong smooth parts a short wave may not be seen in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import NOISE_SLOT, Layout, Node
from vbks.kernels.parts import parts_of

MOST_PERIODS = 160
"""Up to this many periods are tried for each periodic leaf."""

PER_CYCLE = 2
"""Periods that are tried for each further cycle over the range of the input, up to `MOST_PERIODS`
in all: a peak is as wide as one cycle."""

SHORTEST_IN_SPACINGS = 2.0
"""Shorter periods look like longer ones where inputs are evenly spaced."""

NOISE_MULTIPLE = 2.0
"""Variance of a wave that is looked for beside all others, in variances of the noise."""

LENGTHSCALE = 0.0
"""Logarithm of the lengthscale of a wave that is looked for beside all others: smooth, but no
sine."""


def moved_periods(
    layout: Layout, summaries: Sequence[InputSummary], theta: Array, fixed: Sequence[int] = ()
) -> Array:
    """θ [H] with one wave of another period, for each wave and period: [W, P, H].

    Every wave is tried as it was found, and as one that is small and smooth. Those near the period
    that it has are left out, and periods that are fixed stay.
    """
    spots = [
        (node, slot, summaries[layout.slots[slot].dim or 0])
        for node, slot in _periods(layout)
        if slot not in fixed
    ]
    num = max((_num_periods(x) for _, _, x in spots), default=0)
    moved = [
        _moved(version, slot, x, num)
        for node, slot, x in spots
        for version in (theta, _small(node, theta, fixed))
    ]
    return np.array(moved).reshape(len(moved), num, len(theta))


def _periods(layout: Layout) -> Iterator[tuple[Node, int]]:
    """Leaves and their slots of a period, in logarithms."""
    for part in parts_of(layout.root):
        for slots in part.node.slots.values():
            for slot in slots:
                if layout.slots[slot].parameter.role == "period":
                    yield part.node, slot


def _cycles(x: InputSummary) -> float:
    """Most cycles over the range of an input."""
    return max(2.0, x.range / (SHORTEST_IN_SPACINGS * x.spacing)) if x.spacing > 0.0 else 2.0


def _num_periods(x: InputSummary) -> int:
    return min(MOST_PERIODS, math.ceil(PER_CYCLE * _cycles(x)))


def _moved(theta: Array, slot: int, x: InputSummary, num: int) -> Array:
    cycles = np.linspace(1.0, _cycles(x), num)
    own = x.range * np.exp(-theta[slot])
    others = cycles[np.abs(cycles - own) > 1.0]
    moved = np.tile(theta, (num, 1))
    moved[:, slot] = np.log(x.range / np.resize(others if len(others) else cycles, num))
    return moved


def _small(node: Node, theta: Array, fixed: Sequence[int]) -> Array:
    """θ with a small smooth wave in place of the one that was found."""
    small = theta.copy()
    for slot in node.slots.get("lengthscales", ()):
        if slot not in fixed:
            small[slot] = LENGTHSCALE
    if node.scale is not None and node.scale not in (NOISE_SLOT, *fixed):
        small[node.scale] = theta[NOISE_SLOT] + math.log(NOISE_MULTIPLE)
    return small
