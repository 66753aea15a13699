"""Parts that kernels under several warps have: how sure it is that one of the kind is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vbks.parts.components import BASES, Component, Decomposition
from vbks.parts.kinds import kind_of
from vbks.words import Axes, Direction, describe
from vbks.words.form import Curve, Line, form_of
from vbks.words.nouns import direction_of, head_of


def with_belief_elsewhere(found: Sequence[Decomposition]) -> tuple[Decomposition, ...]:
    """The same, their sentences saying how sure other warps make it that there is such a part."""
    return tuple(
        replace(own, components=tuple(_with_belief(part, own, found) for part in own.components))
        for own in found
    )


def _with_belief(part: Component, own: Decomposition, found: Sequence[Decomposition]) -> Component:
    elsewhere = sum(_belief(part, own.axes, other) for other in found if other is not own)
    if elsewhere == 0.0:
        return part
    told = replace(part.part, elsewhere=elsewhere)
    return replace(part, part=told, sentence=describe(told, own.axes))


def _belief(part: Component, axes: Axes, other: Decomposition) -> float:
    """The largest belief in a part of the kind under another warp."""
    alike = (own for own in other.components if _are_alike(part, own, axes))
    return max((own.probability for own in alike), default=0.0)


def _are_alike(part: Component, other: Component, axes: Axes) -> bool:
    """Whether both are of one kind, or go the same way along the same input."""
    if any(own.kind in BASES or not own.part.factors for own in (part, other)):
        return False
    course = _course(part, axes)
    if course is not None and course == _course(other, axes):
        return True
    mine, theirs = (kind_of(own.part, axes) for own in (part, other))
    return mine.distance(theirs, axes) <= 1.0


def _course(part: Component, axes: Axes) -> tuple[int, Direction] | None:
    """The input along which a part rises or falls, and which of the two."""
    if part.part.gates:
        return None
    match head_of(form_of(part.part, axes), axes):
        case Line(inputs=(number,)) as line:
            direction = direction_of(line)
        case Curve(input=number, values=values):
            direction = None if values.turns else values.direction
        case _:
            return None
    return None if direction is None else (number, direction)
