"""Head nouns: what the most telling factor of a part is called."""

from __future__ import annotations

from vbks.words.axes import Axes
from vbks.words.courses import course_of, goes_one_way
from vbks.words.form import Curve, Cycle, Form, Line
from vbks.words.lengthscales import lengthscale_attribute
from vbks.words.part import Direction, Values
from vbks.words.phrases import NounPhrase
from vbks.words.quantities import rough_length
from vbks.words.telling import Telling
from vbks.words.time_units import cycle_name, time_unit

Head = Cycle | Curve | Line | None
"""The factor that the noun stands for; None of noise, constants and families of the user's own."""

TEXTURES = ("smooth", "fairly smooth", "slightly rough", "rough")
"""Adjectives of curves by their roughness."""

POWERS = ("constant", "linear", "quadratic", "cubic", "quartic")
"""Adjectives of a product of lines, by their number."""


def head_of(form: Form, axes: Axes) -> Head:
    """The factor of highest priority: a cycle, then a curve, then a line."""
    if form.is_noise:
        return None
    if form.cycles:
        return form.cycles[0]
    if form.curves:
        return max(
            form.curves, key=lambda curve: (_is_told(curve.values), axes[curve.input].is_time)
        )
    return form.lines[0] if form.lines and not form.others else None


def _is_told(values: Values) -> bool:
    return values.direction is not None or values.levels_off is not None


def head_noun(form: Form, axes: Axes, telling: Telling) -> NounPhrase:
    """The noun of a part's head, with its own lengths and its course."""
    match head_of(form, axes):
        case Cycle() as cycle:
            return cycle_noun(cycle, axes, telling)
        case Curve() as curve:
            return _curve_noun(curve, form, axes, telling)
        case Line() as line:
            return _line_noun(line, axes)
    if form.is_noise:
        return NounPhrase("noise", ("uncorrelated",), has_article=False)
    if form.others:
        return special_noun(form.others[0], axes)
    return NounPhrase("factor", ("constant",)) if axes.is_log else NounPhrase("constant")


def special_noun(number: int | None, axes: Axes) -> NounPhrase:
    """A factor of a family that is not one of ours, on an input or on all of them."""
    of_input = of_inputs((number,), axes) if number else ""
    return NounPhrase(function_word(axes), ("special",), of_input)


def function_word(axes: Axes) -> str:
    """What parts are: functions that add up, or factors under a log warp."""
    return "factor" if axes.is_log else "function"


def of_inputs(inputs: tuple[int, ...], axes: Axes) -> str:
    """The complement of a function of inputs; nothing where it goes without saying."""
    if len(inputs) == 1 and axes.is_obvious(inputs[0]):
        return ""
    return f"of {axes.names(inputs)}"


def cycle_noun(cycle: Cycle, axes: Axes, telling: Telling) -> NounPhrase:
    """A cycle by the name of its period, or a periodic function with a period."""
    axis, period = axes[cycle.input], cycle.values.period
    goes_without = axes.is_obvious(cycle.input) or axes.tells_time(cycle.input)
    where = "" if goes_without else f"in {axes.name(cycle.input)}"
    name = cycle_name(period.value, axis.unit) if period else None
    within = lengthscale_attribute(cycle, axes, telling)
    if name:
        return NounPhrase("cycle", (name,), where, attributes=within)
    if period and time_unit(axis.unit):
        lasting = f"of {rough_length(period, axis)}"
        return NounPhrase("cycle", complement=f"{lasting} {where}".strip(), attributes=within)
    word, of_input = function_word(axes), of_inputs((cycle.input,), axes)
    told = (f"a period of {rough_length(period, axis)}", *within) if period else within
    return NounPhrase(word, ("periodic",), of_input, attributes=told)


def _curve_noun(head: Curve, form: Form, axes: Axes, telling: Telling) -> NounPhrase:
    others = tuple(curve for curve in form.curves if curve is not head)
    joined = (head, *others) if len(others) > 1 else (head,)
    inputs = tuple(sorted(curve.input for curve in joined))
    roughness = max(curve.roughness for curve in joined)
    attributes = lengthscale_attribute(head, axes, telling) if len(joined) == 1 else ()
    if head.many_scales and len(joined) == 1:
        attributes = ("waves of many lengths", *attributes)
    is_plain = goes_one_way(head.values) and head.values.pace is None
    rising = ("rising" if head.values.direction == "up" else "falling",) if is_plain else ()
    return NounPhrase(
        function_word(axes),
        (TEXTURES[roughness], *rising),
        of_inputs(inputs, axes) + (" together" if len(joined) > 1 else ""),
        "" if is_plain else course_of(head.values, axes, head.input),
        attributes=attributes,
    )


def direction_of(line: Line) -> Direction | None:
    """Whether a line rises or falls, as its slope says."""
    if line.power > 1 or len(line.inputs) > 1:
        return None
    if line.values.slope is not None:
        return "up" if line.values.slope.value >= 0 else "down"
    return line.values.direction


def _line_noun(line: Line, axes: Axes) -> NounPhrase:
    word, direction = function_word(axes), direction_of(line)
    of_input = of_inputs(line.inputs, axes)
    if line.power == 1:
        manner = "exponentially" if axes.is_log else "linearly"
        if direction:
            change = {"up": "growing", "down": "shrinking"} if axes.is_log else _COURSES
            return NounPhrase(word, (manner, change[direction]), of_input)
        return NounPhrase(word, ("exponential" if axes.is_log else "linear",), of_input)
    if axes.is_log:
        return NounPhrase(word, (f"log-{power_name(line.power)}",), of_input)
    if line.power < len(POWERS):
        return NounPhrase("polynomial", (POWERS[line.power],), of_input)
    return NounPhrase("polynomial", complement=f"of degree {line.power}" + f" {of_input}".rstrip())


_COURSES = {"up": "increasing", "down": "decreasing"}


def power_name(power: int) -> str:
    """The adjective of a product of this number of lines."""
    return POWERS[power] if power < len(POWERS) else "polynomial"
