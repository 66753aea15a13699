"""Starts in which lines that multiply something are zero where the target crosses zero.

A product with a line is zero there whatever the line is multiplied with, and beside the line the
target may show other periods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from vbks.kernels.registry import family_of, registered_families
from vbks.kernels.starts.proposals import Situation
from vbks.kernels.starts.suggestions import in_turn, num_periodic


def crossing_turn(place: int) -> int | None:
    """How many starts at zero crossings come before a place, if it has one: two of four do."""
    return 2 * (place // 4) + place % 4 - 2 if place % 4 >= 2 else None


def crossing_values(situation: Situation) -> dict[int, Sequence[float]]:
    """Slots of lines that multiply something and of a period that one multiplies, with values."""
    return dict(_crossing_values(situation))


def _crossing_values(situation: Situation) -> Iterator[tuple[int, Sequence[float]]]:
    parts, layout = situation.parts, situation.layout
    if num_periodic(layout) > 1 or sum(_is_line(part.kind[0]) for part in parts) > 1:
        return
    for part in parts:
        for index in (index for indices in part.node.slots.values() for index in indices):
            role, x = situation.role(index), situation.input_of(index)
            pairs = in_turn(*([(place, p) for p in periods] for place, periods in x.crossings))
            if not pairs:
                continue
            if role == "location" and part.companions:
                yield index, [place for place, _ in pairs]
            elif role == "period" and any(map(_is_line, part.companions)):
                yield index, [math.log(period) for _, period in pairs]


def _is_line(leaf: str) -> bool:
    family = leaf.partition("[")[0]
    return family in registered_families() and family_of(family).has("location")
