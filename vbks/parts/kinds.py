"""What kind of function a part is, and which parts of different kernels are the same one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment

from vbks.words import Axes, Estimate, Gate, Part
from vbks.words.form import Curve, Cycle, Form, Line, form_of
from vbks.words.nouns import head_of

Head: TypeAlias = Literal["level", "cycle", "trend", "curve", "function", "rest"]
"""What a part is in one word: a constant, something that repeats, a line or a power of it, a curve
without a formula, a function of a family that is not one of ours, or what many rare parts add up
to."""

PERIOD_TOLERANCE = 0.15
"""Periods that differ by less than this, relatively, are those of one cycle: harmonics differ by
more, and what most data leave open is less."""

LENGTHSCALE_FACTOR = 3.0
"""Curves whose lengthscales differ by less than this factor are one: a drift and a wobble that are
told apart differ by more."""

PLACE_TOLERANCE = 0.1
"""Changes closer to each other than this share of the data are one."""

LONGEST = 2.0
"""Lengthscales beyond this many times the range of the data are all the same: a curve that long is
nearly a line."""

OTHER_ROUGHNESS = 0.5
"""How far smooth curves are from rough ones of the same lengthscale, one being no match."""

ALIKE = 0.5
"""Terms of one kernel that are this near are one part: together they are what either would be."""


@dataclass(frozen=True)
class Kind:
    """What a part is, as far as a person tells parts apart by it.

    ``inputs`` are those that it depends on, ``gates`` the sides of changes it is on; ``periods``,
    ``lengthscales`` of a curve and ``places`` of changes are in the units of the inputs, NaN where
    they are not known.
    """

    head: Head
    inputs: tuple[int, ...] = ()
    power: int = 0
    gates: tuple[tuple[str, int], ...] = ()
    periods: tuple[float, ...] = ()
    lengthscales: tuple[float, ...] = ()
    places: tuple[float, ...] = ()
    is_rough: bool = False

    @property
    def is_level(self) -> bool:
        """Whether it is the constant of which every function has one."""
        return self.head == "level" and not self.gates

    @property
    def name(self) -> str:
        """The kind in two or three words, without numbers."""
        where = " within limits" if self.gates else ""
        return f"{self.head}{where}"

    def distance(self, other: Kind, axes: Axes) -> float:
        """How far two kinds are apart: up to one they are the same, infinite if never."""
        if self._fixed != other._fixed:
            return math.inf
        steps = [0.0, OTHER_ROUGHNESS * (self.is_rough != other.is_rough)]
        steps += [
            _log_ratio(mine, theirs) / math.log1p(PERIOD_TOLERANCE)
            for mine, theirs in zip(self.periods, other.periods, strict=True)
        ]
        for number, mine, theirs in zip(
            self.inputs, self.lengthscales, other.lengthscales, strict=False
        ):
            most = LONGEST * (axes[number].range or math.inf)
            ratio = _log_ratio(min(mine, most), min(theirs, most))
            steps.append(ratio / math.log(LENGTHSCALE_FACTOR))
        steps += [self._place_step(place, other, axes) for place in range(len(self.places))]
        return max(steps)

    def _place_step(self, place: int, other: Kind, axes: Axes) -> float:
        number = self.gates[place // 2][1]
        gap = abs(self.places[place] - other.places[place])
        return gap / (PLACE_TOLERANCE * (axes[number].range or math.inf)) if gap > 0 else 0.0

    @property
    def _fixed(self) -> tuple[object, ...]:
        """What two parts must have in common to be compared at all."""
        return self.head, self.inputs, self.power, self.gates, len(self.periods)


def kind_of(part: Part, axes: Axes) -> Kind:
    """The kind of a part with known values."""
    form = form_of(part, axes)
    head = head_of(form, axes)
    gates = sorted(part.gates, key=lambda gate: (gate.side, gate.input, *_ends(gate)))
    scales = {curve.input: _value(curve.values.lengthscale) for curve in form.curves}
    inputs = _inputs(form, part)
    is_curve = isinstance(head, Curve)
    return Kind(
        _head(head, form),
        inputs,
        head.power if isinstance(head, Line) else 0,
        tuple((gate.side, gate.input) for gate in gates),
        tuple(_value(cycle.values.period) for cycle in form.cycles),
        tuple(scales.get(number, math.nan) for number in inputs) if is_curve else (),
        tuple(end for gate in gates for end in _ends(gate)),
        is_curve and max(curve.roughness for curve in form.curves) >= 2,
    )


def match(found: Sequence[Sequence[Kind]], axes: Axes) -> tuple[list[Kind], list[list[int]]]:
    """The kinds of all kernels, and for each part of each kernel the place of its kind.

    Kernels come in order, the most probable first: each part is matched with the nearest kind of
    those before, no two parts of a kernel with the same one, or is a new kind.
    """
    kinds: list[Kind] = []
    places: list[list[int]] = []
    for own in found:
        given = _assigned(own, kinds, axes)
        for number, kind in enumerate(own):
            if number not in given:
                given[number] = len(kinds)
                kinds.append(kind)
        places.append([given[number] for number in range(len(own))])
    return kinds, places


def gather(kinds: Sequence[Kind], axes: Axes) -> list[list[int]]:
    """Places of the terms of one kernel that are one part, in the order of their first terms."""
    groups: list[list[int]] = []
    for place, kind in enumerate(kinds):
        gaps = [kind.distance(kinds[group[0]], axes) for group in groups]
        near = int(np.argmin(gaps)) if gaps else 0
        if gaps and gaps[near] <= ALIKE:
            groups[near].append(place)
        else:
            groups.append([place])
    return groups


def _assigned(own: Sequence[Kind], kinds: Sequence[Kind], axes: Axes) -> dict[int, int]:
    """The pairs of parts and kinds that are near, as many and as near as possible."""
    if not own or not kinds:
        return {}
    gaps = np.array([[mine.distance(kind, axes) for kind in kinds] for mine in own])
    costs = np.where(gaps <= 1.0, gaps, 1e3)
    rows, columns = linear_sum_assignment(costs)
    return {int(r): int(c) for r, c in zip(rows, columns, strict=True) if gaps[r, c] <= 1.0}


def _head(head: Cycle | Curve | Line | None, form: Form) -> Head:
    match head:
        case Cycle():
            return "cycle"
        case Curve():
            return "curve"
        case Line():
            return "trend"
    return "function" if form.others else "level"


def _inputs(form: Form, part: Part) -> tuple[int, ...]:
    """The inputs that matter: those of its factors, constants left out."""
    numbers = {number for f in part.factors if f.family not in ("C", "WN") for number in f.inputs}
    return tuple(sorted(numbers))


def _ends(gate: Gate) -> tuple[float, float]:
    return _value(gate.values.start), _value(gate.values.end)


def _value(estimate: Estimate | None) -> float:
    return math.nan if estimate is None else estimate.value


def _log_ratio(mine: float, theirs: float) -> float:
    """How far two lengths are apart; nothing where one is not known."""
    if not (mine > 0.0 and theirs > 0.0):
        return 0.0
    return abs(math.log(mine / theirs))
