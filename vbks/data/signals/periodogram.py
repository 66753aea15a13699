"""Which periods a column of data shows: peaks of its Lomb–Scargle periodogram, strongest first.

A fit of a periodic kernel only finds a period that it starts close to, so these are its starts.
Peaks are found one after the other: the strongest wave is subtracted with its harmonics before the
next is looked for, so that one spiky wave does not hide all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import fft, signal

from vbks.arrays import Array, Mask
from vbks.data.signals.policy import DEFAULT, SignalPolicy

NOTHING = 1e-20
"""This share of the target's variance is rounding: a numerical constant."""


def period_candidates(
    x: npt.ArrayLike, y: npt.ArrayLike, policy: SignalPolicy = DEFAULT
) -> tuple[float, ...]:
    """Periods of the target along one input, strongest first, then their halves and doubles.

    Rows may come in any order, unevenly spaced and repeated. Periods are looked for between 10
    spacings and a fifth of the range, after a smooth trend; shorter ones (to 2 spacings) where they
    are clearly the strongest, and longer ones (to half of the range) where one wave explains more
    than trend and shorter wave. What noise alone would show is left out, so there may be none.

    The time is that of a few Fourier transforms. Beyond 65,536 distinct inputs the means of
    neighbouring rows are used instead, so a period must then be twice as long as such a group.
    """
    series = _Series(*merge_repeats(x, y), policy).thinned(policy.period_rows)
    if len(series.x) < policy.min_period_rows or not series.y.any():
        return ()
    peaks = _peaks(series)
    long, explains_more = _longest_wave(series.thinned(policy.trend_rows), peaks)
    if explains_more:
        is_multiple = any(abs(long / peak - round(long / peak)) < 0.05 for peak in peaks[:1])
        peaks.insert(1 if is_multiple else 0, long)
    return _with_relatives(peaks[: policy.max_periods], series)


def is_clear_cycle(
    x: npt.ArrayLike, y: npt.ArrayLike, period: float, policy: SignalPolicy = DEFAULT
) -> bool:
    """Whether a wave of this period explains what a smooth trend and a wandering target cannot.

    Noise has peaks, too, which are worth a start of a fit, but not a search that begins with them.
    Regressions with and without the wave are compared by their Bayesian information criteria, both
    with residuals of which each is a share of the one before and something new.
    """
    series = _Series(*merge_repeats(x, y), policy).thinned(policy.period_rows)
    trend, wave = series.trend(), series.wave(period)
    before, after = _news(series.without(trend).y), _news(series.without(trend, wave).y)
    nothing = NOTHING * float(np.sum(series.y**2))
    if before <= nothing:
        return False
    num_rows = len(series.x)
    gain = num_rows * np.log(before / max(after, nothing)) - len(wave) * np.log(num_rows)
    return bool(0.5 * gain > policy.clear_gain)


def _news(residuals: Array) -> float:
    """The sum of squares of what residuals have that does not follow from those before them."""
    now, before = residuals[1:], residuals[:-1]
    squares = float(before @ before)
    share = np.clip(now @ before / squares, 0.0, 1.0) if squares else 0.0
    return float(np.sum((now - share * before) ** 2))


def merge_repeats(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Array, Array]:
    """Distinct inputs in ascending order, and the mean target at each."""
    inputs, targets = np.ravel(np.asarray(x, float)), np.ravel(np.asarray(y, float))
    order = np.argsort(inputs, kind="stable")
    inputs, targets = inputs[order], targets[order]
    rounding = 1e-9 * (inputs[-1] - inputs[0]) if len(inputs) else 0.0
    first = np.flatnonzero(np.diff(inputs, prepend=-np.inf) > rounding)
    return inputs[first], _means(targets, first)


def _means(values: Array, first: npt.NDArray[np.intp]) -> Array:
    counts = np.diff(first, append=len(values))
    means: Array = np.add.reduceat(values, first) / counts if len(first) else values
    return means


@dataclass(frozen=True)
class _Series:
    """A target along ascending inputs."""

    x: Array
    y: Array
    policy: SignalPolicy

    def __post_init__(self) -> None:
        x, y = self.x - self.x[:1], self.y - self.y.mean() if len(self.y) else self.y
        is_constant = np.sum(y**2) <= NOTHING * np.sum(self.y**2)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y * 0.0 if is_constant else y)

    @property
    def range(self) -> float:
        return float(self.x[-1])

    @property
    def spacing(self) -> float:
        return float(np.median(np.diff(self.x)))

    def thinned(self, num_rows: int) -> _Series:
        """Means of equally many neighbouring rows, when there are more than that."""
        if len(self.x) <= num_rows:
            return self
        first = np.arange(num_rows) * len(self.x) // num_rows
        return _Series(_means(self.x, first), _means(self.y, first), self.policy)

    def without(self, *bases: Array) -> _Series:
        """What a regression on the rows of the bases leaves."""
        basis = np.concatenate(bases)
        coefficients = np.linalg.lstsq(basis @ basis.T, basis @ self.y, rcond=1e-10)[0]
        rest = self.y - coefficients @ basis
        is_nothing = np.sum(rest**2) <= NOTHING * np.sum(self.y**2)
        return _Series(self.x, rest * 0.0 if is_nothing else rest, self.policy)

    def curve(self) -> Array:
        """A constant, a line and a parabola: [3, N]."""
        unit = 2.0 * self.x / self.range - 1.0
        return np.stack([np.ones_like(unit), unit, unit**2])

    def trend(self) -> Array:
        """A curve, and waves of up to four cycles where there are rows for them."""
        cycles = min(self.policy.most_cycles - 1, len(self.x) // 25)
        return np.concatenate([self.curve(), _sinusoids(self.x, np.arange(cycles) + 1, self.range)])

    def wave(self, period: float) -> Array:
        """Sinusoids of a period and its fractions, as many as the rows can tell apart."""
        by_spacing, by_rows = int(period / (2 * self.spacing)), len(self.x) // 10
        most = min(self.policy.num_harmonics, by_spacing, by_rows)
        return _sinusoids(self.x, np.arange(max(most, 1)) + 1, period)


def _sinusoids(x: Array, multiples: npt.NDArray[np.int_], period: float) -> Array:
    phases = np.outer(multiples, 2.0 * np.pi * x / period)
    return np.concatenate([np.cos(phases), np.sin(phases)])


def _peaks(series: _Series) -> list[float]:
    """Periods of waves with at least five cycles, beyond a smooth trend."""
    bases, peaks = [series.trend()], list[float]()
    while len(peaks) < series.policy.max_periods:
        rest = series.without(*bases)
        if not rest.y.any():
            break
        frequency, step = _strongest_frequency(rest, peaks)
        if frequency is None:
            break
        frequency, power = _refined(rest, frequency, step)
        if not _exceeds_noise(power, rest, sum(map(len, bases))):
            break
        peaks.append(_fundamental(series, bases, 1.0 / frequency))
        bases.append(series.wave(peaks[-1]))
    return peaks


def _fundamental(series: _Series, bases: Sequence[Array], period: float) -> float:
    """The period of a wave that the peak may be an overtone of, where that explains much more."""
    policy = series.policy
    longest, most = series.range / policy.most_cycles, policy.num_harmonics
    multiples = [m * period for m in range(1, most + 1) if m == 1 or m * period < longest]
    scores = [_score(series, *bases, series.wave(multiple)) for multiple in multiples]
    num_rows = len(series.x)
    scores[0] += policy.overtone_terms * np.log(num_rows) + policy.overtone_gain * num_rows
    return multiples[int(np.argmax(scores))]


def _strongest_frequency(series: _Series, known: Sequence[float]) -> tuple[float | None, float]:
    """The highest new peak of a fast periodogram, and the distance of its frequencies.

    Rows are collected in bins, so that one Fourier transform does; that shifts them by less than a
    sixteenth of the shortest period.
    """
    policy, num = series.policy, series.policy.bins_per_period
    num_bins = min(int(num * series.range / (2 * series.spacing)) + 1, policy.max_bins)
    width = series.range / (num_bins - 1)
    bins = np.rint(series.x / width).astype(int)
    binned = np.bincount(bins, weights=series.y, minlength=num_bins)
    length = fft.next_fast_len(policy.oversampling * num_bins, real=True)
    power = np.abs(fft.rfft(binned, length)) ** 2
    cycles = np.arange(len(power)) * series.range / (length * width)
    is_peak = _is_maximum(power) & (cycles >= policy.most_cycles)
    is_peak &= cycles <= series.range / max(2 * series.spacing, num / 2 * width)
    for period in known:
        multiple = cycles * period / series.range
        order = np.clip(np.rint(multiple), 1, policy.num_harmonics)
        is_peak &= np.abs(multiple - order) * series.range / period > policy.sideband
    usual = max(series.range / (policy.few_spacings * series.spacing), policy.most_cycles)
    demanded = np.where(cycles > usual, power / policy.demand, power)
    best = int(np.argmax(np.where(is_peak, demanded, -1.0)))
    step = 1.0 / (length * width)
    return (best * step if is_peak[best] else None), step


def _is_maximum(power: Array) -> Mask:
    inner = (power[1:-1] >= power[:-2]) & (power[1:-1] > power[2:])
    return np.pad(inner, 1)


def _refined(series: _Series, frequency: float, step: float) -> tuple[float, float]:
    """The peak of the Lomb–Scargle periodogram close to a frequency, and its height."""
    near = np.linspace(frequency - step, frequency + step, 9)
    power = signal.lombscargle(series.x, series.y, 2.0 * np.pi * near, normalize=True)
    best = int(np.argmax(power))
    return _top_of_parabola(near, power, best), float(power[best])


def _top_of_parabola(at: Array, height: Array, best: int) -> float:
    """The place of the highest point of the parabola through the best of some points."""
    if not 0 < best < len(at) - 1:
        return float(at[best])
    before, top, after = height[best - 1 : best + 2]
    bend = before - 2.0 * top + after
    shift = 0.5 * (before - after) / bend if bend < 0 else 0.0
    return float(at[best] + shift * (at[1] - at[0]))


def _exceeds_noise(power: float, series: _Series, num_regressors: int) -> bool:
    """Whether white noise is expected to have less than one peak as high.

    A peak that explains a share P of the variance of N noisy rows, less the terms of the regression
    before it, has probability (1−P)^((N−3)/2), at each of range/(2 spacings) frequencies.
    """
    num_frequencies = series.range / (2.0 * series.spacing)
    num_free = max(len(series.x) - num_regressors - 3, 0)
    log_chance = 0.5 * num_free * np.log1p(-min(power, 1.0 - 1e-12))
    return bool(np.log(num_frequencies) + log_chance < 0.0)


def _longest_wave(series: _Series, peaks: Sequence[float]) -> tuple[float, bool]:
    """The best wave of two to five cycles, and whether it explains the data better than others.

    It is set against the trend and the strongest shorter waves, by their Bayesian information
    criteria, since it could not be seen beside a trend of four cycles.
    """
    waves = [series.wave(peak) for peak in peaks[:2]]
    rivals = [
        [smooth, *waves[:num_waves]]
        for smooth in (series.trend(), series.curve())
        for num_waves in range(len(waves) + 1)
    ]
    policy = series.policy
    frequencies = np.linspace(policy.fewest_cycles, policy.most_cycles, 61) / series.range
    scores = np.array([_score(series, series.curve(), series.wave(1 / f)) for f in frequencies])
    best = int(np.argmax(scores))
    explains_more = all(scores[best] > _score(series, *rival) for rival in rivals)
    return 1.0 / _top_of_parabola(frequencies, scores, best), explains_more


def _score(series: _Series, *bases: Array) -> float:
    """Minus the Bayesian information criterion of a regression."""
    num_rows, num_terms = len(series.x), sum(map(len, bases))
    rest = np.sum(series.without(*bases).y ** 2) + NOTHING * np.sum(series.y**2)
    return float(-num_rows * np.log(rest) - num_terms * np.log(num_rows))


def _with_relatives(peaks: Sequence[float], series: _Series) -> tuple[float, ...]:
    """Periods, then the halves and doubles of each that are admissible, none of them twice."""
    shortest, longest = 2.0 * series.spacing, series.range / series.policy.fewest_cycles
    relatives = [relative for peak in peaks for relative in (peak / 2.0, peak * 2.0)]
    found: list[float] = []
    for period in (*peaks, *(r for r in relatives if shortest <= r <= longest)):
        distances = (abs(1.0 / period - 1.0 / other) * series.range for other in found)
        if all(distance > series.policy.same_cycles for distance in distances):
            found.append(period)
    return tuple(found)
