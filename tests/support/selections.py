"""Selections made by hand, without a search: of dated rows, and of several inputs."""

from dataclasses import replace

import numpy as np
import pandas as pd

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.inference.result import LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.selection.selection import Selection

HOSTILE = "</style><script>alert('x')</script><img src=x onerror=alert(1)>&\"'\u202e\x1b"
"""A column's name that is none of what a page should run, show backwards or send to a terminal."""

NUM_MONTHS = 40


def make_fit(text, num_rows, num_inputs=1, evidence=-30.0, **changes):
    """A fit at a point: noise of e⁻¹, all else one."""
    H = len(lay_out(text, num_inputs))
    mode = Mode(-np.eye(H)[0], np.zeros((H, H)), 1.0, evidence, 0.0, 0.0)
    fit = LocalFit(parse(text), num_inputs, num_rows, "exact", "point", H, elbo=evidence)
    return replace(fit, modes=(mode,), **changes)


def months():
    """The first days of months."""
    return pd.date_range("2015-01-01", periods=NUM_MONTHS, freq="MS")


def make_dated(**changes):
    """A selection of months: two kernels near each other, one dropped, one failed."""
    rng = np.random.default_rng(0)
    wave = 0.3 * np.sin(2 * np.pi * np.arange(NUM_MONTHS) / 12)
    y = np.exp(3 + wave + 0.05 * rng.normal(size=NUM_MONTHS))
    data = prepare((pd.DataFrame({"month": months()}), pd.Series(y, name="sold")))
    fits = (
        make_fit("SE", NUM_MONTHS, evidence=-30.5),
        make_fit("SE * PER", NUM_MONTHS, warp=Log(), evidence=-30.0),
        make_fit("LIN", NUM_MONTHS, status="dropped", reason="90 nats behind"),
        replace(
            make_fit("OU", NUM_MONTHS), modes=(), status="failed", reason="no start was finite"
        ),
    )
    return Selection(
        fits,
        {Identity(): data, Log(): data.warped(Log())},
        **{
            "feature_names": ("month",),
            "target_name": "sold",
            "time_inputs": (0,),
            "notices": ("Fits to 40 rows are exact.",),
            "untried": ("RQ", "PER of log targets"),
            "settings": {"method": "VBKS", "seed": 7, "restarts": 2, "policies.x": 3.0},
            **changes,
        },
    )


def make_table(num_inputs=3, **changes):
    """A selection of several inputs, of which the first raises the target and others do nothing."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, (50, num_inputs))
    data = prepare((X, 2.0 * X[:, 0] + 0.1 * rng.normal(size=50)))
    names = ("age", *(f"other {number}" for number in range(2, num_inputs + 1)))
    fits = (make_fit("SE[1]", 50, num_inputs), make_fit("SE[2]", 50, num_inputs, -60.0))
    made = {"feature_names": names, "target_name": "strength", **changes}
    return Selection(fits, {Identity(): data}, **made)
