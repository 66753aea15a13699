"""What is known of one additive part of a kernel: its factors, where it applies, how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vbks.words.estimate import Estimate

Direction = Literal["up", "down"]
Pace = Literal["faster", "slower"]
Side = Literal["before", "after", "outside", "inside"]


@dataclass(frozen=True)
class Values:
    """What is known of a leaf or a change on one input, in the units of the data.

    A lengthscale of a periodic leaf is the one within its period: pℓ/2π for PER. A slope is what
    the target (its logarithm under a log warp) gains per unit of the input. ``direction`` says
    whether the function rises, or as a factor of others, whether it makes them larger; ``pace``
    whether it does so faster and faster; from ``levels_off`` on it hardly does, and at ``turns`` it
    goes back. A change is at
    ``start``, a window goes from ``start`` to ``end``, and ``transition`` is how long the change
    takes.
    """

    lengthscale: Estimate | None = None
    period: Estimate | None = None
    zero: Estimate | None = None
    slope: Estimate | None = None
    direction: Direction | None = None
    pace: Pace | None = None
    levels_off: Estimate | None = None
    turns: tuple[Estimate, ...] = ()
    start: Estimate | None = None
    end: Estimate | None = None
    transition: Estimate | None = None


NOTHING = Values()
"""Of a leaf or a change of which only the kind is known."""


@dataclass(frozen=True)
class Factor:
    """A leaf of the product: a family on inputs counted from 1, and what is known on each."""

    family: str
    inputs: tuple[int, ...] = (1,)
    values: tuple[Values, ...] = ()

    def on(self, place: int) -> Values:
        """What is known on the input at a place of the list."""
        return self.values[place] if place < len(self.values) else NOTHING


@dataclass(frozen=True)
class Gate:
    """A side of a change that the part is on, and so where it applies."""

    side: Side
    input: int = 1
    values: Values = NOTHING


@dataclass(frozen=True)
class Course:
    """How a part on several inputs goes along one of them, the others being as they are.

    ``more_where`` is another input, and whether it is where that is high or low that the target
    changes more.
    """

    input: int
    values: Values
    more_where: tuple[int, Literal["high", "low"]] | None = None


@dataclass(frozen=True)
class Part:
    """A product of leaves, on sides of changes, that adds to others to make a function.

    ``amplitude`` is the standard deviation of its values in the target's unit, on the logarithm
    under a log warp; ``share`` its share of the variance, ``probability`` that of kernels that have
    it, ``elsewhere`` that of kernels on another scale that have one of its kind; ``acts`` are the
    ends of the stretch outside of which it is hardly there. ``courses`` are those of a part on
    several inputs, the strongest first; ``swings`` says whether a cycle's grow.
    """

    factors: tuple[Factor, ...]
    gates: tuple[Gate, ...] = ()
    amplitude: Estimate | None = None
    share: float | None = None
    probability: float | None = None
    acts: tuple[Estimate, Estimate] | None = None
    courses: tuple[Course, ...] = ()
    swings: Literal["growing", "shrinking"] | None = None
    elsewhere: float = 0.0
