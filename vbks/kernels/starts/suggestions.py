"""What the data suggest for the parameters of a kernel: lengthscales, periods, places."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import Layout
from vbks.kernels.parameters import Role
from vbks.kernels.parts import Part, parts_of
from vbks.kernels.registry import family_of

LONG_IN_RANGES = 2.5
"""Length of a long period, in ranges of the input: such a wave is a smooth function of the data."""

FIRST_ZERO = 0.25
"""Distance of the zero of a line that multiplies something from the data, in ranges."""

Suggestion = Callable[[InputSummary, Part, int], float | None]
"""An unconstrained value from an input, the part it is for, and how many before it were like it."""


def suggested(
    layout: Layout, by_input: Mapping[int | None, InputSummary], known: Collection[int]
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
                suggestions[index] = _SUGGESTIONS[role](by_input[slot.dim], part, counts[alike])
                counts[alike] += 1
    return ((index, value) for index, value in suggestions.items() if value is not None)


def _suggest_lengthscale(x: InputSummary, part: Part, count: int) -> float:
    """The range beside a wave, which could not repeat otherwise; else a fifth of it, then less."""
    if any(map(_is_wave, part.companions)):
        return math.log(x.range)
    return math.log(max(0.2 * x.range * 0.25**count, 2 * x.spacing))


def _is_wave(leaf: str) -> bool:
    return family_of(leaf.partition("[")[0]).has("period")


def _suggest_period(x: InputSummary, part: Part, count: int) -> float | None:
    return math.log(x.periods[count]) if count < len(x.periods) else None


def num_waves(layout: Layout, known: Collection[int] = ()) -> int:
    """The most waves that an expression has on one input, but for those that are known."""
    dims = [
        slot.dim
        for index, slot in enumerate(layout.slots)
        if slot.parameter.role == "period" and index not in known
    ]
    return max(Counter(dims).values(), default=0)


def other_periods(x: InputSummary, count: int, waves: int, num: int) -> Array:
    """Logarithms of periods for starts near the suggested one, for the wave of this count.

    A single wave goes through the data's other periods. Of several, one often does best as a smooth
    function beside the strongest period: a wave so long that the data see only a part of it.
    """
    plan = [(rank,) for rank in (1, _LONG, 2, 0, 3, 0)] if waves == 1 else _PLANS
    ranks = [plan[row % len(plan)][count % len(plan[0])] for row in range(num)]
    periods = (*x.periods, LONG_IN_RANGES * x.range)
    num_found = max(1, len(x.periods))  # without any, all are long
    return np.log([periods[-1] if r == _LONG else periods[r % num_found] for r in ranks])


_LONG = -1

_PLANS = (
    (0, _LONG, 1),
    (_LONG, 0, 1),
    (0, 2, _LONG),
    (0, 0, _LONG),
    (_LONG, _LONG, 0),
    (1, _LONG, 0),
)
"""Ranks of the periods that the first, second and third wave start with."""


def _suggest_location(x: InputSummary, part: Part, count: int) -> float | None:
    """The middle for a trend; before the data for a factor, whose product then grows."""
    if count:
        return None
    return x.low - FIRST_ZERO * x.range if part.companions else 0.5 * (x.low + x.high)


_SUGGESTIONS: dict[Role, Suggestion] = {
    "lengthscale": _suggest_lengthscale,
    "period": _suggest_period,
    "location": _suggest_location,
    "change": lambda x, _, n: None if n else 0.5 * (x.low + x.high),
    "steepness": lambda x, _, n: math.log(35.0 / x.range),
    "width": lambda x, _, n: math.log(x.range / 3.0),
}
