"""How many starts a fit has, what they are like, and what is tried from where they lead."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vbks.data.signals.policy import SignalPolicy


@dataclass(frozen=True)
class StartPolicy:
    """What trades time for quality in starts: how many there are, and where they are.

    Lengths are in ranges or spacings of an input. A factor on a parameter is one on its value, not
    on its logarithm.
    """

    signals: SignalPolicy = field(default_factory=SignalPolicy)
    """Periods, segments and zero crossings, from which starts are made, are looked for by this."""

    child_share: float = 0.5
    """A child has this share of the usual starts, as its parent has found most of its values."""

    again_share: float = 0.35
    """A candidate that was screened before has this share of the usual starts in another one."""

    near_sd: float = 0.7
    """Starts near the data's have this standard deviation in logarithms, a factor of two."""

    rougher: float = 0.2
    """The rougher start has the suggested lengthscales times this factor."""

    heavy_tails: float = 0.05
    """Rational quadratic leaves have this value of α in the rougher start: they are then rough at
    all scales below their own."""

    memory: float = 3.0
    """The shortest lengthscale of a start with memory is this many spacings."""

    shortest_term: float = math.exp(-4.0)
    """Where terms go from long to short, the shortest has this share of the longest's variance."""

    first_zero: float = 0.25
    """A line that multiplies something is zero this many ranges before the data."""

    next_zero: float = 0.5
    """The zeros of several lines before the data are this many ranges apart."""

    separate: float = 0.25
    """In one start lengthscales are this many spacings, as if each place were a category."""

    many_repeats: float = 3.0
    """The start with separate places is tried from this many rows at a place on."""

    sharp: float = 2.0
    """Every other change that the data show passes within this many spacings at first."""

    same_period: float = 0.02
    """Periods are the same to starts if their logarithms differ by less than this."""

    clip_in_sds: float = 6.0
    """Starts stay within this many prior standard deviations of the prior mean."""

    long_period: float = 2.5
    """A long period is this many ranges: the data see a smooth function of it."""

    far_from_zero: float = 10.0
    """Above this mean of the targets one term starts as a constant. The squared mean is then more
    than three prior standard deviations above the usual variance of a term."""

    period_step: float = 0.2
    """A first step of a period shifts the far end of the range by at most this part of a turn."""

    location_step: float = 0.05
    """A first step of a change, or of a line's zero where the target crosses zero, is at most this
    share of the range: another place has another optimum."""

    num_change_places: int = 20
    """Each of several changes is tried in this many places, evenly over the range of its input."""

    window_share: float = 0.1
    """A window that is tried in another place has this share of the range as its width."""

    passage_share: float = 0.01
    """A change that is tried in another place passes over this share of the range."""

    num_line_places: int = 6
    """A line's zero is tried in this many places on each side of the data, and as many inside."""

    line_reach: float = 1.5
    """Zeros of lines are tried up to this many ranges from the middle of the data."""

    line_distance: float = 0.25
    """Zeros inside the data are tried from this share of the range on from the zero a line has."""

    max_periods: int = 160
    """Up to this many other periods are tried for each periodic leaf."""

    periods_per_cycle: int = 2
    """This many periods are tried for each further cycle over the range: a peak is as wide as one
    cycle."""

    shortest_period: float = 2.0
    """Periods from this many spacings on are tried: shorter ones look like longer ones where inputs
    are evenly spaced."""

    new_period_variance: float = 2.0
    """A periodic leaf that is tried with another period as a small one has this many variances of
    the noise."""

    new_period_log_lengthscale: float = 0.0
    """A periodic leaf that is tried as a small one has this logarithm of its lengthscale: smooth,
    but no sine."""

    move_rounds: int = 3
    """Parts of a candidate are moved up to this many times."""

    move_gain: float = 0.5
    """Parts of a candidate are moved again if this many nats were gained by the last time."""

    move_evaluations: int = 60
    """After one of its parts was moved, a candidate is optimised by up to this many evaluations."""

    move_schedule: tuple[tuple[int, int], ...] = ((10, 2), (25, 1))
    """After the first number of evaluations of a pair, the second number of starts with a moved
    part go on. There is one start for each change, two for each periodic leaf, and two or three for
    each line."""


DEFAULT = StartPolicy()
"""The policy where none is given."""
