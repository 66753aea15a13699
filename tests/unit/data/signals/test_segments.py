"""Tests of where a column of data changes its character."""

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.data.signals.policy import SignalPolicy
from vbks.data.signals.segments import segments

POLICY = SignalPolicy()


def noise_with(sds: Array, seed: int = 0) -> Array:
    return np.asarray(np.random.default_rng(seed).normal(size=len(sds)) * sds)


def test_window__is_where_the_target_varies_less() -> None:
    x = np.linspace(0.0, 10.0, 300)
    points, windows = segments(x, noise_with(np.where((x > 3) & (x < 5), 0.1, 1.0)))
    assert windows[0].begin == pytest.approx(3.0, abs=0.2)
    assert windows[0].end == pytest.approx(5.0, abs=0.2)
    assert windows[0].middle == pytest.approx(4.0, abs=0.2)
    assert windows[0].width == pytest.approx(2.0, abs=0.3)
    assert len(windows) <= POLICY.max_segments
    assert all(0.0 < point < 10.0 for point in points)


def test_change_point__is_where_a_wave_ends() -> None:
    x = np.linspace(-1.0, 1.0, 200)
    wave = np.where(x < 0.5, np.sin(40 * x), 0.3) + 0.01 * noise_with(np.ones(200))
    points, _ = segments(x, wave + 3.0 * x)
    assert points[0] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone__has_none(seed: int) -> None:
    x = np.sort(np.random.default_rng(seed).uniform(size=250))
    assert segments(x, noise_with(np.ones(250), seed)) == ((), ())


def test_flat_segment__counts_although_it_has_no_variance() -> None:
    x = np.arange(120.0)
    y = noise_with(np.where((x > 40) & (x < 80), 0.0, 1.0))
    _, windows = segments(x, y)
    assert windows[0].begin == pytest.approx(40.0, abs=2.0)
    assert windows[0].end == pytest.approx(80.0, abs=2.0)


def test_order_and_repeats_of_rows__do_not_matter() -> None:
    x = np.linspace(0.0, 1.0, 150)
    y = noise_with(np.where(x > 0.7, 4.0, 1.0))
    order = np.random.default_rng(1).permutation(np.tile(np.arange(150), 2))
    assert segments(x[order], y[order]) == segments(x, y)


@pytest.mark.parametrize("y", [np.zeros(200), np.arange(3.0 * POLICY.min_steps)])
def test_nothing_is_said__of_constant_or_few_targets(y: Array) -> None:
    assert segments(np.arange(float(len(y))), y) == ((), ())
