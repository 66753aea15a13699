"""How a curve goes along an input: where it rises, falls, turns and levels off."""

from __future__ import annotations

from vbks.words.axes import Axes, Axis
from vbks.words.part import Course, Values
from vbks.words.places import place

VERBS = {"up": ("rises", "falls"), "down": ("falls", "rises")}
"""What a curve does first, and what it does when it has turned."""


def goes_one_way(values: Values) -> bool:
    """Whether a curve rises, or falls, from one end of the data to the other."""
    return values.direction is not None and not values.turns and values.levels_off is None


def course_of(values: Values, axes: Axes, number: int) -> str:
    """How a curve goes: "that rises up to about 28 days and then levels off"."""
    return "" if values.direction is None else f"that {goes(values, axes[number])}"


def goes(values: Values, axis: Axis, along: str = "") -> str:
    """The predicate of a curve that goes somewhere, with what it goes along if that is said."""
    verb, back = VERBS[values.direction or "up"]
    first = f"{verb} {along}".rstrip()
    up_to = "until" if axis.is_time else "up to"
    if values.turns:
        turn, *later = (place(turn, axis) for turn in values.turns)
        text = f"{first} {up_to} about {turn}"
        if not later:
            return f"{text} and then {back}"
        return f"{text}, {back} {up_to} about {later[0]} and then {verb} again"
    if values.levels_off:
        return f"{first} {up_to} about {place(values.levels_off, axis)} and then levels off"
    pace = {"faster": "faster and faster", "slower": "ever more slowly", None: ""}[values.pace]
    return " ".join(filter(None, (verb, pace, along)))


def along_input(course: Course, axes: Axes) -> str:
    """The predicate of a part on several inputs: "falls with water, more so where age is high"."""
    text = goes(course.values, axes[course.input], f"with {axes.name(course.input)}")
    if course.more_where is None:
        return text
    number, end = course.more_where
    return f"{text}, more so where {axes.name(number)} is {end}"
