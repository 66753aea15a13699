"""What the data suggest for the parameters of a kernel: lengthscales, periods, places."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import Layout
from vbks.kernels.parameters import Role
from vbks.kernels.parts import Part, parts_of
from vbks.kernels.registry import family_of
from vbks.kernels.starts.policy import DEFAULT, StartPolicy

Suggestion = Callable[[InputSummary, Part, int, StartPolicy], float | None]
"""An unconstrained value from an input, the part it is for, and how many before it were like it."""

Spot = TypeVar("Spot")


def suggested(
    layout: Layout,
    by_input: Mapping[int | None, InputSummary],
    known: Collection[int],
    policy: StartPolicy = DEFAULT,
) -> Iterator[tuple[int, float]]:
    """The start that the data suggests, as slots and values: prior means where it says nothing."""
    counts: Counter[tuple[object, ...]] = Counter()
    suggestions: dict[int, float | None] = dict(enumerate(layout.prior_mean))
    for part in parts_of(layout.root):
        for index in (index for indices in part.node.slots.values() for index in indices):
            slot = layout.slots[index]
            role = slot.parameter.role
            if role in _SUGGESTIONS and index not in known:
                alike = (role, slot.dim, *part.sides.values())
                x, before = by_input[slot.dim], counts[alike]
                suggestions[index] = _SUGGESTIONS[role](x, part, before, policy)
                counts[alike] += 1
    return ((index, value) for index, value in suggestions.items() if value is not None)


def _suggest_lengthscale(x: InputSummary, part: Part, count: int, policy: StartPolicy) -> float:
    """The range beside a periodic leaf, which could not repeat otherwise; or a fifth, then less."""
    if any(map(_is_periodic, part.companions)):
        return math.log(x.range)
    return math.log(max(0.2 * x.range * 0.25**count, 2 * x.spacing))


def _is_periodic(leaf: str) -> bool:
    return family_of(leaf.partition("[")[0]).has("period")


def _suggest_period(x: InputSummary, part: Part, count: int, policy: StartPolicy) -> float | None:
    return math.log(x.periods[count]) if count < len(x.periods) else None


def num_periodic(layout: Layout, known: Collection[int] = ()) -> int:
    """The most periodic leaves that an expression has on one input, but for known ones."""
    dims = [
        slot.dim
        for index, slot in enumerate(layout.slots)
        if slot.parameter.role == "period" and index not in known
    ]
    return max(Counter(dims).values(), default=0)


def other_periods(
    x: InputSummary, count: int, most: int, num: int, policy: StartPolicy = DEFAULT
) -> Array:
    """Logarithms of periods for starts near the suggested one, for the periodic leaf of this count.

    A single one goes through the data's other periods. Of several, one often does best as a smooth
    function beside the strongest period: one so long that the data see only a part of it.
    """
    plan = [(rank,) for rank in (1, _LONG, 2, 0, 3, 0)] if most == 1 else _PLANS
    ranks = [plan[row % len(plan)][count % len(plan[0])] for row in range(num)]
    periods = (*x.periods, policy.long_period * x.range)
    num_found = max(1, len(x.periods))  # without any, all are long
    return np.log([periods[-1] if r == _LONG else periods[r % num_found] for r in ranks])


_LONG = -1
"""Rank that stands for a long period."""

_PLANS = (
    (0, _LONG, 1),
    (_LONG, 0, 1),
    (0, 2, _LONG),
    (0, 0, _LONG),
    (_LONG, _LONG, 0),
    (1, _LONG, 0),
)
"""Ranks of the periods that the first, second and third periodic leaf start with."""


def _suggest_location(x: InputSummary, part: Part, count: int, policy: StartPolicy) -> float | None:
    """The middle for a trend; before the data for a factor, whose product then grows."""
    if count:
        return None
    return x.low - policy.first_zero * x.range if part.companions else 0.5 * (x.low + x.high)


_SUGGESTIONS: dict[Role, Suggestion] = {
    "lengthscale": _suggest_lengthscale,
    "period": _suggest_period,
    "location": _suggest_location,
    "change": lambda x, _, n, __: None if n else 0.5 * (x.low + x.high),
    "steepness": lambda x, _, n, __: math.log(35.0 / x.range),
    "width": lambda x, _, n, __: math.log(x.range / 3.0),
}


def in_turn(*lists: Sequence[Spot]) -> tuple[Spot, ...]:
    """Items of all lists, the first of each before the second of each, none of them twice."""
    turns = zip_longest(*lists)
    return tuple(dict.fromkeys(item for turn in turns for item in turn if item is not None))
