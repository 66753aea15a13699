"""What trades time for quality in what is read off the data before any fit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SignalPolicy:
    """How periods, segments and zero crossings are looked for along one input."""

    max_periods: int = 5
    """Up to this many periods are looked for: more than a kernel of a search ever has."""

    period_rows: int = 2**16
    """Periods are sought in up to this many rows; of more, neighbours are averaged."""

    min_period_rows: int = 12
    """With fewer rows there are no periods: any wave fits."""

    few_spacings: float = 10.0
    """Periods of fewer spacings are possible down to two, but noise shows most of its peaks
    there."""

    most_cycles: int = 5
    """A wave of fewer cycles than this is hardly told from a trend."""

    fewest_cycles: int = 2
    """A wave of fewer cycles than this is not told from a trend at all."""

    demand: float = 2.0
    """A period of few spacings must be this many times stronger than all others: the data then ask
    for it."""

    num_harmonics: int = 4
    """One periodic function is made up of this many sine waves."""

    overtone_terms: int = 4
    """A peak is an overtone of a longer period if that is worth more than this many further terms
    of a regression, and `overtone_gain`."""

    overtone_gain: float = 0.1
    """A peak is an overtone of a longer period if that leaves this share less unexplained: other
    waves leak into a longer one."""

    bins_per_period: int = 8
    """A fast periodogram has this many bins per shortest period, and loses 3 % of a peak there."""

    max_bins: int = 2**18
    """A fast periodogram has up to this many bins, so that inputs in clusters do not ask for
    endlessly many."""

    oversampling: int = 4
    """A fast periodogram has this many frequencies per width of a peak."""

    sideband: float = 1.0
    """A peak within this many cycles of another is its shadow, of waves that grow or fade."""

    same_cycles: float = 0.25
    """Periods that differ by less than this share of a cycle over the range are the same."""

    trend_rows: int = 1024
    """Long periods are compared with trends on this many rows, since they are smooth."""

    clear_gain: float = 10.0
    """A cycle is clear if it raises the log evidence of a regression by this many nats: it was up
    to 9 for 450 series of noise, autocorrelated noise and random walks."""

    max_cuts: int = 120
    """A segment may begin or end in this many places: all pairs of them are compared."""

    min_steps: int = 6
    """A segment has at least this many steps, and so has the rest: the variance of fewer is a
    guess."""

    min_steps_share: float = 0.03
    """A segment has at least this share of all steps, and so has the rest: one outlier is no
    segment."""

    max_segments: int = 3
    """There are up to this many segments of each kind: inside the range, and at an end of it."""

    min_variance: float = 1e-4
    """A segment has at least this share of the mean variance, also if it does not vary at all."""

    chance: float = 2.0
    """Noise alone may show a gain in log likelihood of this many logarithms of the number of
    pairs."""

    same_segment: float = 0.5
    """Segments that have more than this share in common are the same for a start."""

    min_crossing_places: int = 10
    """With fewer different inputs than this it cannot be told where the target crosses zero."""

    max_crossings: int = 3
    """Up to this many places are tried as zeros of lines, the likeliest first."""

    crossing_rows: int = 2000
    """Up to this many rows show where the zeros of lines may be."""

    crossing_steps: int = 240
    """The grid of possible zeros of lines has this many steps for each range of the input, and
    reaches one range beyond the data on either side."""

    near_zero: float = 0.01
    """Distances of rows from a possible zero of a line count as at least this share of the
    range."""

    softened: float = 0.1
    """The target is not divided by a line within this share of the range from where it is zero."""

    line_periods: int = 2
    """This many periods of the target divided by a line are tried, each with its double, which a
    periodogram does not see if it repeats only two or three times."""


DEFAULT = SignalPolicy()
"""The policy where none is given."""
