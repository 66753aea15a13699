"""Where a part applies: the sides of changes that it is on, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate, finite
from vbks.words.numerals import counted
from vbks.words.part import Gate
from vbks.words.phrases import listed
from vbks.words.places import both_places, place, place_after_preposition

MOST_STRETCHES = 3
"""Stretches of one input that are told one by one."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of an input between two locations, open where there is none."""

    low: Estimate | None = None
    high: Estimate | None = None

    def meet(self, other: Stretch) -> Stretch | None:
        """What two stretches share, None if nothing."""
        low = max((s.low for s in (self, other) if s.low), key=lambda e: e.value, default=None)
        high = min((s.high for s in (self, other) if s.high), key=lambda e: e.value, default=None)
        is_empty = low is not None and high is not None and low.value >= high.value
        return None if is_empty else Stretch(low, high)


def stretches(gates: Iterable[Gate]) -> tuple[Stretch, ...] | None:
    """The stretches of one input that gates leave, None where a location is not known."""
    left = [Stretch()]
    for gate in gates:
        sides = _sides(gate)
        if sides is None:
            return None
        met = [mine.meet(side) for side in sides for mine in left]
        left = [stretch for stretch in met if stretch]
    return tuple(sorted(left, key=lambda s: s.low.value if s.low else float("-inf")))


def _sides(gate: Gate) -> tuple[Stretch, ...] | None:
    start, end = finite(gate.values.start), finite(gate.values.end)
    if start is None or (gate.side in ("outside", "inside") and end is None):
        return None
    match gate.side:
        case "before":
            return (Stretch(high=start),)
        case "after":
            return (Stretch(low=start),)
        case "inside":
            return (Stretch(start, end),)
    return (Stretch(high=start), Stretch(low=end))


def region(gates: Iterable[Gate], axes: Axes, with_intervals: bool = False) -> str:
    """Where all gates are open: "until 1645 and from 1715 onwards"; nothing if there are none."""
    by_input = _by_input(gates)
    order = sorted(by_input, key=lambda number: not axes[number].is_time)
    texts = [_on_input(number, by_input[number], axes, with_intervals) for number in order]
    return ", and ".join(texts) if any(" and " in text for text in texts[:-1]) else listed(texts)


def is_nowhere(gates: Iterable[Gate]) -> bool:
    """Whether the gates on some input are never open together."""
    return any(stretches(on_input) == () for on_input in _by_input(gates).values())


def _by_input(gates: Iterable[Gate]) -> dict[int, list[Gate]]:
    found: dict[int, list[Gate]] = {}
    for gate in gates:
        found.setdefault(gate.input, []).append(gate)
    return found


def limits(gates: Iterable[Gate], axes: Axes) -> str:
    """On which inputs it depends where all gates are open; nothing if there are none."""
    inputs = tuple(dict.fromkeys(gate.input for gate in gates))
    return f"within limits of {axes.names(inputs)}" if inputs else ""


def _on_input(number: int, gates: list[Gate], axes: Axes, with_intervals: bool) -> str:
    found = stretches(gates)
    axis = axes[number]
    if found is None:
        return _on_unknown(number, gates, axes)
    if not found:
        return "nowhere"
    if len(found) > MOST_STRETCHES:
        return f"in {counted(len(found))} separate stretches of {axes.name(number)}"
    if axis.is_time:
        return listed([_times(stretch, axis, with_intervals) for stretch in found])
    texts = [_numbers(stretch, axis, with_intervals) for stretch in found]
    return f"where {axes.name(number)} is {' or '.join(texts)}"


def _times(stretch: Stretch, axis: Axis, with_intervals: bool) -> str:
    low, high = _ends(stretch, axis, with_intervals)
    if stretch.low and low == high:
        return place_after_preposition(stretch.low, axis)
    if low and high:
        return f"from {low} to {high}"
    return f"until {high}" if high else f"from {low} onwards"


def _numbers(stretch: Stretch, axis: Axis, with_intervals: bool) -> str:
    low, high = _ends(stretch, axis, with_intervals)
    if low and low == high:
        return f"close to {low}"
    if low and high:
        return f"between {low} and {high}"
    return f"below {high}" if high else f"above {low}"


def _ends(stretch: Stretch, axis: Axis, with_intervals: bool) -> tuple[str, str]:
    if stretch.low and stretch.high:
        is_plain = stretch.low.width is None and stretch.high.width is None
        if is_plain or not with_intervals:
            return both_places(stretch.low, stretch.high, axis)
    low = place(stretch.low, axis, with_intervals) if stretch.low else ""
    return low, place(stretch.high, axis, with_intervals) if stretch.high else ""


def _on_unknown(number: int, gates: list[Gate], axes: Axes) -> str:
    """Sides of changes at places that are not known."""
    of_input = "" if axes.tells_time(number) else f" in {axes.name(number)}"
    if len(gates) > 1:
        return f"on one side of each of {counted(len(gates))} changes{of_input}"
    side = gates[0].side
    if side in ("outside", "inside"):
        return f"{side} a window{of_input or ' of time'}"
    if axes[number].is_time:
        return f"{side} a change{of_input}"
    return f"{'below' if side == 'before' else 'above'} a threshold{of_input}"


def brief_region(gates: Iterable[Gate], axes: Axes) -> str:
    """Where all gates are open, for tables: "until 1645 and from 1715"."""
    gates = tuple(gates)
    if is_nowhere(gates):
        return "nowhere"
    if len({gate.input for gate in gates}) > 1:
        return limits(gates, axes)
    return region(gates, axes).replace(" onwards", "").removesuffix(" of time")
