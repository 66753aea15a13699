from __future__ import annotations

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.data.signals.periodogram import is_clear_cycle, merge_repeats, period_candidates
from vbks.data.signals.policy import SignalPolicy

ONE = SignalPolicy(max_periods=1)


def closest(candidates: tuple[float, ...], period: float) -> float:
    """How far the closest candidate is from a period, as a share of it."""
    return min((abs(candidate / period - 1.0) for candidate in candidates), default=np.inf)


def two_waves(num_rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Uneven inputs over 10 units, a trend, waves of periods 0.83 and 1.37, and noise."""
    x = rng.uniform(0.0, 10.0, num_rows)
    waves = np.sin(2 * np.pi * x / 0.83) + 0.6 * np.cos(2 * np.pi * x / 1.37)
    return x, waves + 0.3 * x - 0.02 * x**2 + 0.3 * rng.normal(size=num_rows)


def months(num_years: int = 12) -> tuple[Array, Array]:
    """A series like a count of passengers: growth, and a year with a peak in summer."""
    t = np.arange(12.0 * num_years)
    year = np.exp(np.cos(2 * np.pi * (t - 6.0) / 12.0)) + 0.3 * np.cos(2 * np.pi * t / 6.0)
    noise = np.random.default_rng(3).normal(size=len(t))
    return t, np.exp(4.8 + 0.01 * t + 0.1 * year + 0.03 * noise)


def test_period_candidates__finds_a_spiky_wave_whose_overtones_are_stronger() -> None:
    t = np.arange(240.0)
    year = np.cos(2 * np.pi * t / 6.0) + np.cos(2 * np.pi * t / 4.0) + 0.5 * np.sin(np.pi * t / 6.0)
    noise = np.random.default_rng(7).normal(size=len(t))
    assert closest(period_candidates(t, year + 0.2 * noise)[:1], 12.0) < 0.02


@pytest.mark.parametrize("num_rows", [100, 500, 2000, 5000])
def test_period_candidates__finds_two_periods_in_uneven_rows(num_rows: int) -> None:
    candidates = period_candidates(*two_waves(num_rows, np.random.default_rng(num_rows)))
    assert abs(candidates[0] / 0.83 - 1.0) < 0.02
    assert abs(candidates[1] / 1.37 - 1.0) < 0.02


@pytest.mark.parametrize("transform", [np.asarray, np.log])
def test_period_candidates__finds_the_year_of_a_monthly_series(transform: np.ufunc) -> None:
    t, y = months()
    assert closest(period_candidates(t, transform(y))[:1], 12.0) < 0.02


def test_period_candidates__has_halves_and_doubles_after_the_peaks() -> None:
    x = np.linspace(0.0, 10.0, 400)
    noise = np.random.default_rng(8).normal(size=len(x))
    candidates = period_candidates(x, np.sin(2 * np.pi * x / 0.7) + 0.1 * noise, ONE)
    assert abs(candidates[0] / 0.7 - 1.0) < 0.02
    assert candidates == (candidates[0], candidates[0] / 2.0, candidates[0] * 2.0)


def test_period_candidates__has_no_half_below_two_spacings_nor_double_beyond_half_the_range() -> (
    None
):
    x = np.arange(60.0)
    noise = np.random.default_rng(9).normal(size=len(x))
    short = period_candidates(x, np.sin(2 * np.pi * x / 3.3) + 0.1 * noise, ONE)
    assert short == (short[0], 2.0 * short[0])
    long = period_candidates(x, np.sin(2 * np.pi * x / 22.0) + 0.1 * noise, ONE)
    assert long == (long[0], 0.5 * long[0])


def test_period_candidates__does_not_depend_on_order_place_or_scale() -> None:
    rng = np.random.default_rng(0)
    x, y = two_waves(300, rng)
    order = rng.permutation(len(x))
    candidates = period_candidates(x, y)
    np.testing.assert_allclose(period_candidates(x[order], y[order]), candidates, rtol=1e-9)
    moved = period_candidates(1e4 + 50.0 * x, 3.0 - 7.0 * y)
    np.testing.assert_allclose(moved, 50.0 * np.array(candidates), rtol=1e-6)


def test_period_candidates__averages_repeated_inputs() -> None:
    x = np.repeat(np.arange(200.0), 5)
    noise = np.random.default_rng(1).normal(size=len(x))
    candidates = period_candidates(x, np.sin(2 * np.pi * x / 23.0) + 2.0 * noise)
    assert abs(candidates[0] / 23.0 - 1.0) < 0.02


def test_period_candidates__widens_to_a_short_period_that_stands_out() -> None:
    days = np.arange(1500.0)
    year = np.sin(2 * np.pi * days / 250.0)
    week = np.where(days % 7 >= 5, 0.5, 0.0)
    noise = 0.2 * np.random.default_rng(2).normal(size=len(days))
    candidates = period_candidates(days, year + week + noise)
    assert closest(candidates[:1], 250.0) < 0.02
    assert closest(candidates[:4], 7.0) < 0.02


@pytest.mark.parametrize("cycles", [2.6, 3.5, 4.2])
def test_period_candidates__widens_to_a_long_period_that_stands_out(cycles: float) -> None:
    x = np.linspace(0.0, 1.0, 150)
    wave = np.exp(2.0 * np.sin(2 * np.pi * cycles * x))
    noise = 0.1 * np.random.default_rng(4).normal(size=len(x))
    assert closest(period_candidates(x, wave + noise)[:2], 1.0 / cycles) < 0.02


def test_period_candidates__of_a_trend_or_of_noise_are_none() -> None:
    x = np.linspace(-1.0, 1.0, 2000)
    noise = np.random.default_rng(0).normal(size=len(x))
    assert period_candidates(x, np.ones_like(x)) == ()
    assert period_candidates(x, 1e6 + 3.0 * x) == ()
    assert period_candidates(x, noise) == ()


@pytest.mark.parametrize("num_rows", [0, 1, 2, 5, 11, 12, 13, 30])
def test_period_candidates__of_few_rows_are_finite_and_within_reach(num_rows: int) -> None:
    rng = np.random.default_rng(num_rows)
    x = rng.normal(size=num_rows)
    for y in (rng.normal(size=num_rows), np.sin(9.0 * x), np.zeros(num_rows)):
        for period in period_candidates(x, y):
            assert 0.0 < period <= np.ptp(x)


def test_period_candidates__of_clustered_inputs_are_finite() -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(size=500) * 1e-7, [1.0, 2.0, 3.0]])
    assert np.isfinite(period_candidates(x, rng.normal(size=len(x)))).all()


def test_period_candidates__of_many_rows_come_from_means_of_neighbours() -> None:
    rng = np.random.default_rng(6)
    x = rng.permutation(200_000).astype(float)
    y = np.sin(2 * np.pi * x / 1234.5) + rng.normal(size=len(x))
    assert abs(period_candidates(x, y)[0] / 1234.5 - 1.0) < 0.001


def test_merge_repeats__sorts_and_averages() -> None:
    x, y = merge_repeats([2.0, 1.0, 2.0 + 1e-12, 0.0], [5.0, 3.0, 7.0, 1.0])
    np.testing.assert_array_equal(x, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(y, [1.0, 3.0, 6.0])


@pytest.mark.parametrize("num_rows", [72, 300, 1000])
def test_clear_cycle__is_one_that_the_target_has_and_none_of_noise(num_rows: int) -> None:
    rng = np.random.default_rng(num_rows)
    t = np.arange(num_rows) / 12.0
    year = 6.0 * t + 8.0 * np.sin(2.0 * np.pi * t) + 2.0 * rng.normal(size=num_rows)
    assert is_clear_cycle(t, year, period_candidates(t, year)[0])
    for _ in range(20):
        for nothing in (rng.normal(size=num_rows), np.cumsum(rng.normal(size=num_rows))):
            found = period_candidates(t, nothing)
            assert not any(is_clear_cycle(t, nothing, period) for period in found[:1])


def test_clear_cycle__is_not_in_a_constant() -> None:
    t = np.arange(60) / 12.0
    assert not is_clear_cycle(t, np.full(60, 3.0), 1.0)
