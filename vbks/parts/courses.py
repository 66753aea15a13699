"""How parts go along their inputs, from their joint posteriors, for `vbks.words` to tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from vbks.arrays import Array
from vbks.parts.averaging import MatchedParts
from vbks.parts.kinds import Kind
from vbks.parts.posteriors import curve_moments
from vbks.parts.shapes import SURE, Shape, shape_of
from vbks.words import Axes, Course, Estimate, Part, Values
from vbks.words.form import ROUGHNESS

More: TypeAlias = tuple[int, Literal["high", "low"]]

ALONE, TOGETHER = 41, 17
"""Places along an input: of parts that depend on nothing else, and of others."""

ROWS = 16
"""A part on several inputs is averaged over this many rows of the data as it goes along one."""

ENDS = (0.02, 0.98)
"""Parts are followed between these quantiles of an input, so that no outlier stretches them."""

LOW, HIGH = 0.2, 0.8
"""Quantiles of another input at which its being low or high is looked at."""

MOST_COURSES, LEAST_COURSE = 3, 0.2
"""Along the strongest inputs it is told how a part goes, while it moves this share of the most."""

MORE = 1.5
"""A part goes more where another input is low if it changes this many times as much there."""

ABOUT = 1 / 16
"""Turns are told to within this share of the range on either side."""

IN_WINDOW = 60
"""Swings are measured at this many places of each of two stretches."""

LEAST_PROBABLE = 0.02
"""Of parts that are less probable it is not looked at how they go."""

NUM_COMPONENTS = 12
"""Shapes are those of this many components, the most probable kernels having most of them."""


def with_courses(parts: MatchedParts, place: int, X: Array) -> Part:
    """A part with how it goes along its inputs, X [N, D] being rows in the user's units."""
    part, kind = parts.parts[place], parts.kinds[place]
    if part.gates or not kind.inputs or parts.probabilities[place] < LEAST_PROBABLE:
        return part
    follower = _Follower(parts, (place,), X)
    if kind.head == "cycle":
        return replace(part, swings=_swings(follower, kind))
    if kind.head not in ("curve", "trend"):
        return part
    if len(kind.inputs) == 1:
        (number,) = kind.inputs
        shape = follower.shape(number - 1, X[:1], ALONE)
        return part if shape is None else _with_shape(part, number, shape, follower.reach(number))
    return replace(part, courses=_courses(follower, kind, X))


def trend_of(parts: MatchedParts, axes: Axes, X: Array) -> Values | None:
    """How all lines and curves along time, or the only input, go together; None if they do not."""
    main = axes.main
    if not (axes[main].is_time or len(axes.inputs) == 1):
        return None
    places = tuple(
        place
        for place, kind in enumerate(parts.kinds)
        if kind.head in ("curve", "trend") and kind.inputs == (main,) and not kind.gates
    )
    if not places:
        return None
    follower = _Follower(parts, places, X)
    shape = follower.shape(main - 1, X[:1], ALONE)
    return None if shape is None else _values(shape, follower.reach(main))


def _swings(follower: _Follower, kind: Kind) -> Literal["growing", "shrinking"] | None:
    """Whether swings of a cycle are larger at the end of the data or at their beginning.

    They are compared in the first and in the last quarter, over one period at least.
    """
    if len(kind.inputs) > 1 or len(kind.periods) != 1:
        return None
    dim, (period,) = kind.inputs[0] - 1, kind.periods
    low, high = float(follower.X[:, dim].min()), float(follower.X[:, dim].max())
    window = max(0.25 * (high - low), period)
    if not 2.0 * window <= high - low:
        return None
    sizes, errors = [], []
    for begin in (low, high - window):
        x = np.linspace(begin, begin + window, IN_WINDOW)
        mean, covariance = follower.moments(_at(follower.X[:1], dim, x))
        sizes.append(float(np.sqrt(np.mean(mean**2))))
        errors.append(float(np.sqrt(np.median(np.diag(covariance)))))
    before, after = sizes
    if max(sizes) < MORE * min(sizes) or abs(after - before) < max(errors):
        return None
    return "growing" if after > before else "shrinking"


@dataclass(frozen=True, eq=False)
class _Follower:
    """The sum of parts as it goes along inputs, counted from 0, of rows [N, D] of the data."""

    parts: MatchedParts
    places: tuple[int, ...]
    X: Array

    def shape(self, dim: int, rows: Array, most: int) -> Shape | None:
        """Its shape along an input, averaged over rows [R, D]."""
        places = self.grid(dim, most)
        if len(places) < 3:
            return None
        return shape_of(places, *self.moments(_at(rows, dim, places)))

    def grid(self, dim: int, most: int) -> Array:
        """Places along an input: its values if they are few, else evenly between the ends."""
        distinct = np.unique(self.X[:, dim])
        if len(distinct) <= most:
            return np.asarray(distinct)
        ends = (0.0, 1.0) if len(self.X[0]) == 1 else ENDS
        low, high = (float(end) for end in np.quantile(self.X[:, dim], ends))
        return np.linspace(low, high, most)

    def reach(self, number: int) -> float:
        """The range of an input, counted from 1."""
        return float(np.ptp(self.X[:, number - 1]))

    def moments(self, inputs: Array) -> tuple[Array, Array]:
        """Mean [G] and covariance [G, G] of the sum at inputs [R, G, D], averaged over R.

        They are those of the kernels that have one of the parts.
        """
        terms = (
            (source, [term for place in self.places for term in groups.get(place, [])])
            for source, groups in self.parts.pairs()
        )
        own = [(source, group) for source, group in terms if group]
        units = self.parts.units
        R, G, D = inputs.shape
        points = units.standardise_inputs(inputs.reshape(-1, D)).reshape(R, G, D)
        total = sum(source.weight for source, _ in own)
        first, second = np.zeros(G), np.zeros((G, G))
        for source, group in own:
            share = source.weight / total
            count = max(1, round(NUM_COMPONENTS * share))
            kept = np.arange(min(count, len(source.places)))
            weights = share * source.weights[kept] / source.weights[kept].sum()
            means, covariances = curve_moments(source, group, points, kept)
            first += weights @ means
            second += np.einsum("s,sij->ij", weights, covariances)
            second += (weights * means.T) @ means
        return first * units.y_scale, (second - np.outer(first, first)) * units.y_scale**2


def _with_shape(part: Part, number: int, shape: Shape, reach: float) -> Part:
    """The first curve or line on an input with the shape that the part has."""
    told = _values(shape, reach)
    factors = list(part.factors)
    for place, factor in enumerate(factors):
        if factor.family in ROUGHNESS or factor.family == "LIN":
            values = list(factor.values) or [Values()] * len(factor.inputs)
            own = factor.inputs.index(number)
            values[own] = replace(
                values[own], direction=told.direction, pace=told.pace, slope=told.slope,
                levels_off=told.levels_off, turns=told.turns,
            )  # fmt: skip
            factors[place] = replace(factor, values=tuple(values))
            break
    return replace(part, factors=tuple(factors))


def _courses(follower: _Follower, kind: Kind, X: Array) -> tuple[Course, ...]:
    """How it goes along the inputs that move it most."""
    rows = X[np.linspace(0, len(X) - 1, min(len(X), ROWS)).astype(int)]
    found: list[tuple[float, int, Shape]] = []
    for number in kind.inputs:
        places = follower.grid(number - 1, TOGETHER)
        if len(places) < 2:
            continue
        mean, covariance = follower.moments(_at(rows, number - 1, places))
        shape = shape_of(places, mean, covariance)
        if shape is not None:
            found.append((float(np.ptp(mean)), number, shape))
    found.sort(key=lambda own: -own[0])
    kept = [own for own in found if own[0] >= LEAST_COURSE * found[0][0]][:MOST_COURSES]
    return tuple(
        Course(
            number,
            _values(shape, follower.reach(number)),
            None if shape.turns else _more_where(follower, kind, number, rows),
        )
        for _, number, shape in kept
    )


def _more_where(follower: _Follower, kind: Kind, number: int, rows: Array) -> More | None:
    """The other input with which the change along an input varies most, and where it is more."""
    ends = follower.grid(number - 1, TOGETHER)[[0, -1]]
    best: tuple[float, More] | None = None
    for other in kind.inputs:
        low, high = np.quantile(follower.X[:, other - 1], (LOW, HIGH))
        if other == number or low == high:
            continue
        inputs = np.concatenate(
            [_at(_with(rows, other - 1, place), number - 1, ends) for place in (low, high)], axis=1
        )
        mean, covariance = follower.moments(inputs)
        here, there = mean[1] - mean[0], mean[3] - mean[2]
        contrast = np.array([-1.0, 1.0, 1.0, -1.0])
        sd = float(np.sqrt(max(float(contrast @ covariance @ contrast), 0.0)))
        less, more = sorted((abs(here), abs(there)))
        is_real = abs(here - there) > SURE * sd and more > MORE * less and here * there > 0.0
        if is_real and (best is None or more - less > best[0]):
            best = more - less, (other, "low" if abs(here) > abs(there) else "high")
    return None if best is None else best[1]


def _values(shape: Shape, reach: float) -> Values:
    """What is told of a shape."""
    return Values(
        slope=shape.rate,
        direction=shape.direction,
        pace=shape.pace,
        levels_off=None if shape.levels_off is None else _about(shape.levels_off, reach),
        turns=tuple(_about(place, reach) for place in shape.turns),
    )


def _about(place: float, reach: float) -> Estimate:
    return Estimate(place, place - ABOUT * reach, place + ABOUT * reach)


def _at(rows: Array, dim: int, places: Array | Sequence[float]) -> Array:
    """Rows [R, D] at each of some places of an input: [R, G, D]."""
    found = np.repeat(rows[:, np.newaxis], len(places), axis=1)
    found[:, :, dim] = places
    return found


def _with(rows: Array, dim: int, value: float) -> Array:
    changed = rows.copy()
    changed[:, dim] = value
    return changed
