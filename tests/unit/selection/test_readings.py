from dataclasses import replace

import numpy as np
import pytest
from support.fits import make_data, make_fit

from vbks.data.warps import Identity, Log
from vbks.kernels.layout import lay_out
from vbks.selection.readings import reading_of
from vbks.selection.selection import Selection
from vbks.words import Axes, Axis

MONTHS = Axes((Axis("month", "months", is_time=True, low=3.0, high=9.0),))


def fit_with(text, **values):
    """A fit whose θ has the logarithms or values given, by the names of its slots."""
    layout, fit = lay_out(text), make_fit(text)
    theta = np.zeros(len(layout))
    for name, value in values.items():
        theta[[n for n, own in enumerate(layout.names) if own.endswith(f".{name}")]] = value
    return replace(fit, modes=(replace(fit.modes[0], mean=theta),))


def test_reading__has_lengths_and_places_at_the_mean_of_theta():
    units = replace(make_data().units, x_scale=np.array([2.0]), x_mean=np.array([6.0]))
    wave = fit_with("PER * LIN", period=np.log(0.5 * 1.0), location=-5.0)
    assert reading_of(wave, MONTHS, units) == "monthly cycle × growth"
    slow = fit_with("SE", lengthscales=np.log(2.0))
    assert reading_of(slow, MONTHS, units) == "slow drift"
    fast = fit_with("SE", lengthscales=np.log(0.02))
    assert reading_of(fast, MONTHS, units) == "fast wobble"


def test_reading__says_how_the_warp_makes_lines_grow():
    units, line = make_data().units, fit_with("LIN")
    assert reading_of(line, MONTHS, units) == "linear trend"
    assert reading_of(replace(line, warp=Log()), MONTHS, units) == "exponential growth"


def test_reading__of_a_candidate_without_values_is_that_of_its_structure():
    failed = replace(make_fit("SE * PER"), modes=(), status="failed")
    assert reading_of(failed, MONTHS, make_data().units) == "evolving cycle"


def test_belief__has_a_reading_with_the_names_of_columns():
    fits = (make_fit("SE + LIN"), replace(make_fit("OU"), modes=(), status="failed", reason="no"))
    selection = Selection(fits, {Identity(): make_data()}, feature_names=("depth",))
    readings = dict(selection.belief[["expression", "reading"]].itertuples(index=False))
    assert readings == {"SE + LIN": "smooth in depth, linear in depth", "OU": "rough in depth"}
    assert "[" not in "".join(readings.values())


@pytest.mark.parametrize("text", ["CP(SE, WN) * PER", "CW(RQ, LIN)", "M32 * LIN * LIN"])
def test_reading__of_any_structure_has_values(text):
    with_values = reading_of(fit_with(text), MONTHS, make_data().units)
    without = reading_of(replace(make_fit(text), modes=()), MONTHS, make_data().units)
    assert with_values != without
