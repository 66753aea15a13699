"""Contexts of stochastic fits to a rising wave, in minibatches."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.policy import SvgpPolicy

N = 3000


@cache
def rising_wave() -> tuple[Array, Array]:
    """Inputs [N, 1] and targets [N]."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(N, 1))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 0] + 0.4 * rng.normal(size=N)


def stochastic_context(
    num_rows: int = N, targets: Array | None = None, **settings: Any
) -> FitContext:
    """A context of the first rows, or of them with other targets."""
    X, y = rising_wave()
    rows = X[:num_rows], (y if targets is None else targets)[:num_rows]
    usual = {"num_inducing": 20, "batch_size": 250, "restarts": 3}
    fits = FitSettings(inference="stochastic", **{**usual, **settings})
    return make_context(rows, 2, fits)[0]


def in_minibatches(context: FitContext) -> FitContext:
    """The context of fits that take minibatches, however few rows there are."""
    return replace(context, svgp=SvgpPolicy(small_elements=0))
