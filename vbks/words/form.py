"""What the factors of a part come to: those that say one thing together are merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from vbks.grammar import is_known, rules_of
from vbks.words.axes import Axes
from vbks.words.estimate import Estimate, finite, positive
from vbks.words.part import Factor, Gate, Part, Values

Growth = Literal["growing", "shrinking", "turning", "varying"]

ROUGHNESS = {"SE": 0, "RQ": 0, "M52": 1, "M32": 2, "OU": 3}
"""Families of curves by how rough their functions are."""

PERIODIC = ("PER", "PER0")


@dataclass(frozen=True)
class Cycle:
    """A periodic factor on one input; PER has a level besides its swings, PER0 has none."""

    input: int
    values: Values
    has_level: bool


@dataclass(frozen=True)
class Curve:
    """A factor without a formula on one input, and how rough it is."""

    input: int
    roughness: int
    many_scales: bool
    values: Values


@dataclass(frozen=True)
class Line:
    """A line on inputs (a sum of lines where there are several) or a power of lines on one."""

    inputs: tuple[int, ...]
    power: int
    growth: Growth
    values: Values


@dataclass(frozen=True)
class Form:
    """A part as a product in which every factor has something to say that no other does."""

    is_noise: bool
    cycles: tuple[Cycle, ...]
    curves: tuple[Curve, ...]
    lines: tuple[Line, ...]
    others: tuple[int | None, ...]
    gates: tuple[Gate, ...]
    swings: Literal["growing", "shrinking"] | None = None


def form_of(part: Part, axes: Axes) -> Form:
    """The factors of a part merged: noise with what is stationary, curves and lines by input."""
    is_noise = any(factor.family == "WN" for factor in part.factors)
    kept = [f for f in part.factors if not (is_noise and _is_stationary(f.family))]
    singles = [
        (f.family, number, _told(f.on(n))) for f in kept for n, number in enumerate(f.inputs)
    ]
    cycles = [Cycle(n, v, family == "PER") for family, n, v in singles if family in PERIODIC]
    inputs = sorted({number for _, number, _ in singles})
    curves = [_curve(number, singles) for number in inputs]
    groups = dict.fromkeys(factor.inputs for factor in kept if factor.family == "LIN")
    lines = [_line(group, [f for f in kept if f.family == "LIN"], axes) for group in groups]
    named = {"WN", "C", "LIN", *PERIODIC, *ROUGHNESS}
    others = [f.inputs[0] if len(f.inputs) == 1 else None for f in kept if f.family not in named]
    return Form(
        is_noise,
        tuple(sorted(cycles, key=_cycle_order)),
        tuple(sorted((c for c in curves if c), key=lambda c: not axes[c.input].is_time)),
        tuple(sorted(lines, key=lambda line: (not axes[line.inputs[0]].is_time, -line.power))),
        tuple(dict.fromkeys(others)),
        part.gates,
        part.swings if cycles and not lines else None,
    )


def _is_stationary(family: str) -> bool:
    if is_known(family):
        return rules_of(family).stationary
    return family in ROUGHNESS


def _told(values: Values) -> Values:
    """Only those values that can be told."""
    return replace(
        values,
        lengthscale=positive(values.lengthscale),
        period=positive(values.period),
        zero=finite(values.zero),
        slope=finite(values.slope),
        levels_off=finite(values.levels_off),
        turns=tuple(turn for turn in map(finite, values.turns) if turn),
    )


def _cycle_order(cycle: Cycle) -> tuple[bool, float]:
    """The shortest first, since the longer ones modulate it."""
    period = cycle.values.period
    return period is None, period.value if period else 0.0


def _curve(number: int, singles: list[tuple[str, int, Values]]) -> Curve | None:
    """The curves on one input as one: as rough as the roughest, as short as all together."""
    found = [(family, v) for family, n, v in singles if n == number and family in ROUGHNESS]
    if not found:
        return None
    roughness = max(ROUGHNESS[family] for family, _ in found)
    scales = [values.lengthscale for _, values in found if values.lengthscale]
    told = [values for _, values in found if values.direction] or [found[0][1]]
    values = replace(told[0], lengthscale=_together(scales, roughness))
    return Curve(number, roughness, any(family == "RQ" for family, _ in found), values)


def _together(scales: list[Estimate], roughness: int) -> Estimate | None:
    """The lengthscale of a product of curves: rates add up if they are rough, squares if not."""
    if len(scales) < 2:
        return scales[0] if scales else None
    power = 1 if roughness == ROUGHNESS["OU"] else 2
    return Estimate(sum(s.value**-power for s in scales) ** (-1 / power))


def _line(inputs: tuple[int, ...], lines: list[Factor], axes: Axes) -> Line:
    values = [_told(line.on(0)) for line in lines if line.inputs == inputs]
    growth = _growth(values, axes, inputs[0]) if len(inputs) == 1 else "varying"
    return Line(inputs, len(values), growth, values[0])


def _growth(lines: list[Values], axes: Axes, number: int) -> Growth:
    """Whether what lines multiply becomes larger or smaller along the data."""
    directions = {line.direction for line in lines}
    if directions in ({"up"}, {"down"}):
        return "growing" if directions == {"up"} else "shrinking"
    axis = axes[number]
    zeros = [line.zero.value for line in lines if line.zero]
    if len(zeros) < len(lines) or axis.low is None or axis.high is None:
        return "varying"
    if max(zeros) <= axis.low:
        return "growing"
    if min(zeros) >= axis.high:
        return "shrinking"
    return "turning" if len(zeros) == 1 else "varying"
