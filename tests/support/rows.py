"""Rows to fit: a function of one input, and noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vbks.arrays import Array


def wave_with_trend(x: Array) -> Array:
    """Periods of length π around a slow line."""
    return np.asarray(np.sin(2 * x) + 0.1 * x)


def make_rows(
    num: int = 40,
    seed: int = 0,
    *,
    signal: Callable[[Array], Array] = wave_with_trend,
    ends: tuple[float, float] = (0.0, 10.0),
    noise: float = 0.1,
    is_even: bool = True,
) -> tuple[Array, Array]:
    """Inputs [N] between two ends, at equal steps or at random in their order, and targets [N].

    ``noise`` is its standard deviation. Random inputs are drawn first, then the noise.
    """
    rng = np.random.default_rng(seed)
    x = np.linspace(*ends, num) if is_even else np.sort(rng.uniform(*ends, num))
    return x, signal(x) + noise * rng.normal(size=num)


def periodic_times_line(period: float, zero: float) -> tuple[Array, Array]:
    """Inputs and targets [400]: something periodic, multiplied with a line, and a little noise."""

    def signal(x: Array) -> Array:
        return np.asarray((x - zero) * (1.0 + np.sin(2 * np.pi * x / period)))

    return make_rows(400, signal=signal, ends=(-1.7, 1.7), noise=0.05, is_even=False)
