"""Whether there is a cycle, and how long it takes."""

from __future__ import annotations

import math

import numpy as np

from vbks.arrays import Array
from vbks.parts.kinds import PERIOD_TOLERANCE
from vbks.properties.members import Beliefs, Member
from vbks.properties.periods import periods_of, strongest
from vbks.properties.results import Cycle
from vbks.properties.telling import told_cycle
from vbks.properties.values import Weighted, log_density, told_peaks
from vbks.words.quantities import in_chosen_unit

GAP = math.log1p(PERIOD_TOLERANCE)
"""Periods further apart than this, as logarithms, are those of different cycles."""


def cycle_of(beliefs: Beliefs) -> Cycle:
    """The cycle along the input that has one with the highest probability.

    Its period is that of the strongest cycle of each kernel at each θ; ``peaks`` are of all.
    """
    every = [_along(beliefs, dim) for dim in range(beliefs.num_inputs)]
    likeliest = max(own.total for own, _ in every)
    dim = beliefs.main if every[beliefs.main][0].total == likeliest else None
    if dim is None:
        dim = next(number for number, (own, _) in enumerate(every) if own.total == likeliest)
    main, both = every[dim]
    axis = beliefs.axes[dim + 1]
    estimate = main.estimate
    factor, unit = in_chosen_unit(estimate.value if estimate else 1.0, axis)
    density = log_density(main, GAP)
    peaks = told_peaks(both, GAP, is_log=True)
    return Cycle(
        name="cycle",
        probability=main.total,
        sentence=told_cycle(main.total, estimate, peaks, beliefs.axes, dim + 1),
        estimate=None if estimate is None else estimate.times(factor),
        density=None if density is None else density.in_unit(factor, unit),
        unit=unit,
        input=beliefs.axes.name(dim + 1),
        peaks=tuple(peak.in_unit(factor) for peak in peaks),
    )


def _along(beliefs: Beliefs, dim: int) -> tuple[Weighted, Weighted]:
    """Periods along an input: that of the strongest cycle, and those of all."""
    main: list[tuple[Array, Array]] = []
    every: list[tuple[Array, Array]] = []
    for member in beliefs:
        periods = _periods(member, beliefs, dim)
        X = member.units.standardise_inputs(beliefs.X)
        main.append((strongest(periods, member.layout, member.samples, X, dim), member.weights))
        for own in _distinct(periods).T:
            every.append((own, member.weights))
    return Weighted.of(main), Weighted.of(every)


def _periods(member: Member, beliefs: Beliefs, dim: int) -> Array:
    return periods_of(member.layout, member.samples, member.units, dim, beliefs.summaries[dim])


def _distinct(periods: Array) -> Array:
    """Periods [S, L] of which those near an earlier one are left out, so that each counts once."""
    found = periods.copy()
    for place in range(1, found.shape[1]):
        earlier = found[:, :place]
        with np.errstate(invalid="ignore"):
            near = np.abs(np.log(earlier / found[:, place, np.newaxis])) <= GAP
        found[np.any(near, axis=1), place] = np.nan
    return found
