"""Series of the benchmark of parts: drawn, and such that their parts can be told apart."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.parts import KNOWABLE, SIGNAL_TO_NOISE, Outcome, _figures, draw_series


@pytest.mark.parametrize("number", range(4))
def test_series__is_the_sum_of_its_parts_and_noise(number: int) -> None:
    series = draw_series(0, number)
    signal = np.sum([*series.parts.values()], axis=0)
    assert series.noise == pytest.approx(signal.var() / SIGNAL_TO_NOISE)
    noise = series.y - signal
    assert noise.var() == pytest.approx(series.noise, rel=0.5)
    assert 100 <= len(series.y) <= 150
    for kind, kernel in series.kernels.items():
        assert np.linalg.eigvalsh(kernel).min() > -1e-8 * kernel.max(), kind


def test_series__is_the_same_each_time_and_another_by_another_seed() -> None:
    first, again, other = (draw_series(seed, 0) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.y, again.y)
    assert len(first.y) != len(other.y) or not np.array_equal(first.y, other.y)


def test_parts__can_be_told_apart_by_those_who_know_the_kernels() -> None:
    series = draw_series(0, 3)
    for kind, own in series.best().items():
        assert np.corrcoef(own, series.parts[kind])[0, 1] > KNOWABLE


def test_small_parts__are_not_asked_for() -> None:
    outcomes = [
        Outcome({"trend": 0.99, "cycle": 0.2}, {"trend": 0.9, "cycle": 0.04}, "SE", 1.0),
        Outcome({"trend": 0.91}, {"trend": 0.9}, "SE", 1.0),
    ]
    first, *_ = _figures(outcomes)
    assert first.value == 0.5 and first.met is False
    assert "1 of 2 parts of 2 series" in (first.others or "")
