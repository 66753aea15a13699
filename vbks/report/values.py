"""Curves and tables of numbers that sections of the report have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.report.figures.scales import AxisKind

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Points:
    """Rows of the data: places and values, the same number of both."""

    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class Curve:
    """Quantiles of new targets over one input, beside rows of the data.

    ``kind`` says what places are: days since 1970 where it is "date". ``bands`` are the quantiles
    5 %, 25 %, 50 %, 75 % and 95 % at each place of ``grid``; the data end at ``end``.
    """

    input: str
    target: str
    kind: AxisKind
    grid: Numbers
    bands: tuple[Numbers, Numbers, Numbers, Numbers, Numbers]
    data: Points
    end: float | None = None
    told: tuple[tuple[int, str], ...] = ()
    """Numbers of the places in ``grid`` that rows or forecasts are at, and how they are written."""


@dataclass(frozen=True)
class Series:
    """A mean with the ends of a 90 % interval over one input."""

    input: str
    target: str
    kind: AxisKind
    grid: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers
    end: float | None = None
    zero: float = 0.0
    """The value of no effect: 0, or 1 of factors."""
    target_kind: AxisKind = "number"
    """What values are: factors have a sign before them."""


@dataclass(frozen=True)
class Overlay:
    """A line over one input beside rows of the data, or rows alone."""

    input: str
    target: str
    kind: AxisKind
    dots: Points
    line: Points | None = None
    end: float | None = None
    has_zero: bool = False
    """Whether values lie on both sides of zero, which is drawn."""
    usual: float | None = None
    """How far from zero values usually lie: a band is drawn there."""


@dataclass(frozen=True)
class Lines:
    """Several values over one input, such as the belief in kernels as rows come in."""

    input: str
    target: str
    x: Numbers
    names: tuple[str, ...]
    values: tuple[Numbers, ...]
    kind: AxisKind = "number"
    target_kind: AxisKind = "number"


@dataclass(frozen=True)
class Missing:
    """A section that could not be computed, and why."""

    reason: str


def numbers(values: Array) -> Numbers:
    """An array as plain numbers."""
    return tuple(map(float, np.ravel(values)))
