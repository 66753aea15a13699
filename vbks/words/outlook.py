"""What a part means beyond the data, and what else it takes in."""

from __future__ import annotations

from vbks.words.axes import Axes
from vbks.words.courses import goes_one_way
from vbks.words.form import Curve, Cycle, Form, Line
from vbks.words.lengthscales import is_long
from vbks.words.modifiers import STEADY, is_on_head
from vbks.words.nouns import Head, head_of
from vbks.words.places import place
from vbks.words.quantities import length
from vbks.words.regions import is_nowhere, stretches

LASTING = 0.5
"""A rise goes on for a while if its lengthscale is this many times the range of the data."""


def outlook(form: Form, axes: Axes) -> str:
    """What the part means for the extrapolation; nothing where that is not known."""
    if is_nowhere(form.gates):
        return ""
    for number in sorted({gate.input for gate in form.gates if axes[gate.input].is_time}):
        left = stretches(gate for gate in form.gates if gate.input == number)
        if not left:
            return ""
        end, last = left[-1].high, axes[number].high
        if end and (last is None or end.value <= last):
            return f"It plays no part after {place(end, axes[number])}."
    head = head_of(form, axes)
    if form.is_noise:
        return _of_noise(form, axes)
    if form.others:
        return ""
    return f"{_where(head, axes)} it {_going_on(form, head, axes)}."


def _where(head: Head, axes: Axes) -> str:
    number = 1 if head is None else head.inputs[0] if isinstance(head, Line) else head.input
    return "Beyond the data" if axes[number].is_time else "Outside the data"


def _of_noise(form: Form, axes: Axes) -> str:
    growing = [x for x in form.lines if is_on_head(x, None, form, axes) and x.growth == "growing"]
    more = " more and more" if growing else ""
    return f"It widens forecasts{more} without moving them."


def _going_on(form: Form, head: Head, axes: Axes) -> str:
    match head:
        case Cycle():
            return f"repeats{_swings(form, head, axes)}{_memory(form, head, axes)}"
        case Curve(values=values) as curve:
            scale = values.lengthscale if len(form.curves) == 1 else None
            if goes_one_way(values) and not is_long(curve, axes, LASTING):
                fade = f" over {length(scale, axes[curve.input])}" if scale else ""
                return f"does not go on, but fades{fade}"
            return f"fades over {length(scale, axes[curve.input])}" if scale else "fades"
        case Line(power=1):
            return "goes on at the same rate" if axes.is_log else "goes on in a straight line"
        case Line():
            return "goes on along the same curve"
    return "stays the same"


def _swings(form: Form, head: Cycle, axes: Axes) -> str:
    growths = {line.growth for line in form.lines if is_on_head(line, head, form, axes)}
    if len(growths) != 1 or not growths <= {"growing", "shrinking"}:
        return ""
    return f" with {growths.pop()} swings"


def _memory(form: Form, head: Cycle, axes: Axes) -> str:
    """That a shape which changes is forgotten."""
    changing = [c for c in form.curves if c.input == head.input and not is_long(c, axes, STEADY)]
    return ", less and less surely" if changing else ""


def covers(form: Form, axes: Axes) -> str:
    """What the part takes in besides what its name says; nothing if there is nothing."""
    head = head_of(form, axes)
    if form.is_noise:
        return "It also covers patterns too short for the rows to show."
    if isinstance(head, Curve) and len(form.curves) == 1 and not head.roughness:
        straight = not form.lines and is_long(head, axes) and head.values.pace is None
        return "Over the data it is nearly a straight line." if straight else ""
    if isinstance(head, Cycle) and head.has_level and len(form.cycles) == 1:
        rest = _rest(form, head)
        return f"It also covers a {rest}." if rest else ""
    return ""


def _rest(form: Form, head: Cycle) -> str:
    """What is left of a product when its cycle is replaced by its level."""
    inputs = {curve.input for curve in form.curves}.union(*(line.inputs for line in form.lines))
    if inputs - {head.input} or form.others:
        return ""
    if form.curves:
        return "drift of the same pace" if not form.lines else ""
    if not form.lines:
        return "constant level"
    return "linear trend" if form.lines[0].power == 1 else ""
