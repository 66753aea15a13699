"""Waves that several tests look at."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array


def times_line(period: float, zero: float) -> tuple[Array, Array]:
    """A wave that is multiplied with a line, and a little noise."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1.7, 1.7, 400))
    wave = 1.0 + np.sin(2 * np.pi * x / period)
    return x, (x - zero) * wave + 0.05 * rng.normal(size=400)
