"""Checks for something that the mean of the targets has and the model has not.

Each is the score test of a regressor H in the mean: L⁻¹H, made orthonormal, times the residuals is
N(0, 1) under the model. These are generalised least squares, whatever the spacing of the rows.
"""

from __future__ import annotations

import math

import numpy as np

from vbks.arrays import Array
from vbks.criticism.checks.check import Measured
from vbks.criticism.whitening import Residuals
from vbks.data.warps import Identity
from vbks.words.estimate import Estimate
from vbks.words.numerals import rounded
from vbks.words.quantities import rough_length

MOST_FREQUENCIES = 900
"""The periodogram has at most this many frequencies, two for each that rows can tell apart."""

LEAST_CYCLES = 1.5
"""What repeats less often than this within the data is a trend or a wave rather than a cycle."""

LEAST_SIDE = 3
"""A step has at least this many rows on each side."""

DEGREES = 3
"""A trend is a line, a bend and an S over the ranks of an input."""

SIMILAR = 1e-6
"""A sine of which less than this share is left beside its cosine says nothing more."""


def frequencies_of(residuals: Residuals) -> Array:
    """Frequencies of the periodogram, in cycles per unit of the input: [F]."""
    x = residuals.rows.positions
    spacing = np.diff(np.unique(x))
    if len(spacing) < 2 * LEAST_SIDE:
        return np.zeros(0)
    span = float(np.ptp(x))
    highest = max(0.5 / float(np.median(spacing)), LEAST_CYCLES / span)
    num = min(MOST_FREQUENCIES, math.ceil(2 * span * highest))
    return np.linspace(LEAST_CYCLES / span, highest, num)


def periodogram(residuals: Residuals, frequencies: Array) -> Array:
    """Powers [S, F] of cycles in the residuals, with the exponential distribution of mean 1."""
    x = residuals.rows.positions
    angles = 2.0 * np.pi * (x - x.mean())[:, np.newaxis] * frequencies
    first = _unit(residuals.whitened(np.cos(angles)))
    second = residuals.whitened(np.sin(angles))
    before = np.linalg.norm(second, axis=0)
    second = second - first * np.sum(first * second, axis=0)
    is_new = np.linalg.norm(second, axis=0) > SIMILAR * before
    second = np.where(is_new, _unit(second), 0.0)
    return np.asarray(0.5 * ((residuals.z @ first) ** 2 + (residuals.z @ second) ** 2))


def measure_cycle(residuals: Residuals) -> Measured | None:
    """The highest peak of the periodogram."""
    frequencies = frequencies_of(residuals)
    if residuals.rows.along is None or not len(frequencies):
        return None
    power = periodogram(residuals, frequencies)
    period = 1.0 / frequencies[int(np.argmax(power[0]))]
    told = _period(period, residuals)
    return Measured(power.max(axis=1), f"residuals repeat every {told}: a cycle is missed")


def _period(period: float, residuals: Residuals) -> str:
    """A period in the unit of the input, as it is remembered."""
    assert residuals.rows.along is not None
    axis = residuals.rows.axes[residuals.rows.along + 1]
    told = rough_length(Estimate(period), axis).removeprefix("about ")
    return told if axis.unit else f"{told} units of {residuals.rows.order_name}"


def measure_step(residuals: Residuals) -> Measured | None:
    """The largest step between neighbours, in its standard errors."""
    n = len(residuals.rows)
    if residuals.rows.along is None or n < 2 * LEAST_SIDE + 1:
        return None
    # A column for each place: the sum of L⁻¹ over the rows from there on.
    after = np.cumsum(residuals.inverse[:, ::-1], axis=1)[:, ::-1]
    steps = after[:, LEAST_SIDE : n - LEAST_SIDE + 1]
    found = residuals.z @ _unit(steps)
    place = int(np.argmax(np.abs(found[0])))
    size = float(found[0, place] / np.linalg.norm(steps[:, place]))
    jump = f"{'up' if size > 0 else 'down'}{_size(residuals, size)}"
    where = residuals.rows.where(place + LEAST_SIDE)
    return Measured(np.abs(found).max(axis=1), f"the level jumps {jump} {where}: a step is missed")


def measure_outlier(residuals: Residuals) -> Measured:
    """The largest error of a row given all others, in its standard deviations."""
    found = residuals.left_out
    place = int(np.argmax(np.abs(found[0])))
    value = float(found[0, place])
    side = "above" if value > 0 else "below"
    row = residuals.rows.numbers[place] + 1
    where = "" if residuals.rows.along is None else f" ({residuals.rows.where(place)})"
    return Measured(
        np.abs(found).max(axis=1),
        f"row {row}{where} lies {abs(value):.1f} standard deviations {side} what all other rows "
        "predict: an outlier",
    )


def measure_trend(residuals: Residuals) -> Measured:
    """How much lines and bends over one of the inputs explain of the residuals."""
    rows = residuals.rows
    places = range(rows.X.shape[1]) if rows.along is None else [rows.along, *_others(residuals)]
    found = np.stack([_explained(residuals, rows.ranks[:, place]) for place in places], axis=1)
    most = [*places][int(np.argmax(found[0]))]
    return Measured(
        found.max(axis=1),
        f"residuals rise, fall or bend along {rows.axes.name(most + 1)}: a trend is missed",
    )


def _others(residuals: Residuals) -> list[int]:
    return [d for d in range(residuals.rows.X.shape[1]) if d != residuals.rows.along]


def _explained(residuals: Residuals, ranks: Array) -> Array:
    """Squares of residuals that cosines of ranks [n] explain: [S]."""
    basis = np.cos(np.pi * ranks[:, np.newaxis] * np.arange(1, DEGREES + 1))
    directions, _ = np.linalg.qr(residuals.whitened(basis))
    return np.asarray(np.sum((residuals.z @ directions) ** 2, axis=1))


def _size(residuals: Residuals, size: float) -> str:
    """A size in the units of the target, where its warp allows that."""
    if residuals.units.warp != Identity() or not residuals.is_gaussian:
        return ""
    unit = residuals.rows.axes.target.unit
    return f" by {rounded(abs(size) * residuals.units.y_scale)}{f' {unit}' if unit else ''}"


def _unit(columns: Array) -> Array:
    """Columns of length one."""
    length = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(length > 0.0, length, 1.0))
