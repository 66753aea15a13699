"""Numbers of which a belief is a distribution: densities, intervals and peaks, from samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.parts.values import INTERVAL, weighted_quantiles
from vbks.words import Estimate

LEAST_PEAK = 0.02
"""Peaks with less than this share of a density are not told."""

POINTS = 61
"""A peak of a density is drawn with this many points."""

REACH = 3.0
"""A density is drawn this many bandwidths beyond its samples."""

NARROWEST = 0.1
"""A bandwidth is at least this share of the gap that parts two peaks, where a peak has too few
samples to have a width of its own."""

FEW_SAMPLES = 10.0
"""A peak with fewer effective samples has no width of its own."""


@dataclass(frozen=True, eq=False)
class Density:
    """A probability density: ``density`` at the places ``x`` [n], in a unit of the user's."""

    x: Array
    density: Array
    unit: str | None = None

    def __len__(self) -> int:
        return len(self.x)

    def in_unit(self, factor: float, unit: str | None) -> Density:
        """The same with x times a factor, in another unit."""
        return Density(self.x * factor, self.density / factor, unit)


@dataclass(frozen=True)
class Peak:
    """One of the values that a number may have: its probability, and the value with interval."""

    probability: float
    estimate: Estimate

    def in_unit(self, factor: float) -> Peak:
        """The same in a unit that is smaller by a factor."""
        return Peak(self.probability, self.estimate.times(factor))


@dataclass(frozen=True, eq=False)
class Weighted:
    """Values [S] with weights [S], whose sum is the probability that there is such a value."""

    values: Array
    weights: Array

    @classmethod
    def of(cls, parts: Sequence[tuple[Array, Array]]) -> Weighted:
        """All values of several samples that are numbers."""
        values = np.concatenate([np.zeros(0), *(own for own, _ in parts)])
        weights = np.concatenate([np.zeros(0), *(own for _, own in parts)])
        is_there = np.isfinite(values) & (weights > 0.0)
        return cls(values[is_there], weights[is_there])

    @property
    def total(self) -> float:
        """The probability that there is a value."""
        return min(1.0, float(self.weights.sum()))

    @property
    def estimate(self) -> Estimate | None:
        """The median and the ends of the interval that holds 90 %, given that there is a value."""
        if not len(self.values):
            return None
        if np.ptp(self.values) == 0.0:
            return Estimate(float(self.values[0]))
        levels = (INTERVAL[0], 0.5, INTERVAL[1])
        low, middle, high = weighted_quantiles(self.values, self.weights, levels)
        return Estimate(middle, low, high)

    def peaks(self, gap: float) -> list[Weighted]:
        """Values apart from each other by more than a gap, the most probable first."""
        order = np.argsort(self.values, kind="stable")
        cuts = np.flatnonzero(np.diff(self.values[order]) > gap) + 1
        found = [Weighted(self.values[own], self.weights[own]) for own in np.split(order, cuts)]
        return sorted((own for own in found if len(own.values)), key=lambda own: -own.total)

    def density(self, gap: float) -> Density | None:
        """The density given that there is a value; None where values have no spread.

        Each of the peaks has a bandwidth of its own.
        """
        if len(self.values) < 2 or np.ptp(self.values) == 0.0:
            return None
        peaks = [own for own in self.peaks(gap) if own.total > LEAST_PEAK * self.weights.sum()]
        widths = [_bandwidth(own, gap) for own in peaks]
        grids = [
            np.linspace(own.values.min() - REACH * h, own.values.max() + REACH * h, POINTS)
            for own, h in zip(peaks, widths, strict=True)
        ]
        x = np.unique(np.concatenate([np.zeros(0), *grids]))
        total = sum(float(own.weights.sum()) for own in peaks)
        density = np.zeros(len(x))
        for own, h in zip(peaks, widths, strict=True):
            steps = (x[:, np.newaxis] - own.values) / h
            kernels = np.exp(-0.5 * steps**2) / (h * math.sqrt(2.0 * math.pi))
            density += kernels @ (own.weights / total)
        return Density(x, density)


def log_density(values: Weighted, gap: float) -> Density | None:
    """The density of positive values, whose logarithms are smoothed with `Weighted.density`."""
    found = Weighted(np.log(values.values), values.weights).density(gap)
    return None if found is None else Density(np.exp(found.x), found.density / np.exp(found.x))


def told_peaks(values: Weighted, gap: float, is_log: bool = False) -> tuple[Peak, ...]:
    """The peaks that matter, the most probable first, with their intervals.

    The gap is one between logarithms where these are asked for.
    """
    own = Weighted(np.log(values.values), values.weights) if is_log else values
    found = []
    for peak in own.peaks(gap):
        estimate = peak.estimate
        if estimate is not None and peak.total >= LEAST_PEAK:
            found.append(Peak(peak.total, estimate.through(math.exp) if is_log else estimate))
    return tuple(found)


def _bandwidth(own: Weighted, gap: float) -> float:
    """Silverman's for the effective number of samples, by the smaller of two widths."""
    shares = own.weights / own.weights.sum()
    count = 1.0 / float(np.sum(shares**2))
    mean = float(shares @ own.values)
    sd = math.sqrt(float(shares @ (own.values - mean) ** 2))
    low, high = weighted_quantiles(own.values, own.weights, (0.25, 0.75))
    width = min(sd, (high - low) / 1.34) or sd
    if count < FEW_SAMPLES or width == 0.0:
        return max(width, NARROWEST * gap)
    return float(0.9 * width * count**-0.2)
