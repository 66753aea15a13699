from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.calibration import draw_model, draw_rows
from benchmarks.properties import STRUCTURES, Outcome, _figures, gap_by_fifths, true_period

from vbks.grammar.parser import parse
from vbks.kernels.layout import lay_out


def test_structures__have_a_cycle_half_of_the_time() -> None:
    has_cycle = ["PER" in str(structure) for structure in STRUCTURES]
    assert np.mean(has_cycle) == 0.5


def test_drawn_model__is_that_of_the_rows() -> None:
    rows, theta = draw_model(parse("PER"), 20, np.random.default_rng(3))
    same = draw_rows(parse("PER"), 20, np.random.default_rng(3))
    np.testing.assert_array_equal(rows.arrays()[1], same.arrays()[1])
    assert theta.shape == (len(lay_out("PER")),)


def test_true_period__is_that_of_theta_and_nan_without_a_cycle() -> None:
    rows, theta = draw_model(parse("PER"), 40, np.random.default_rng(0))
    theta[-1] = math.log(0.75)
    assert true_period(parse("PER"), theta, rows) == pytest.approx(0.75)
    theta[-1] = 9.0
    assert math.isnan(true_period(parse("PER"), theta, rows))
    assert math.isnan(true_period(parse("LIN"), np.zeros(3), rows))


def test_gap_by_fifths__is_none_of_exact_and_all_of_reversed_probabilities() -> None:
    truths = np.arange(100) >= 40
    assert gap_by_fifths(truths.astype(float), truths) == 0.0
    assert gap_by_fifths(1.0 - truths, truths) == 1.0
    assert gap_by_fifths(np.full(100, 0.6), truths) == pytest.approx(0.48)


def test_figures__have_gap_and_coverage_of_what_was_judged() -> None:
    nan = math.nan
    outcomes = [
        Outcome(12.0, 0.9, (11.0, 13.0), 1.0),
        Outcome(12.0, 0.7, (5.0, 6.0), 1.0),
        Outcome(12.0, 0.05, (5.0, 6.0), 1.0),
        Outcome(nan, 0.2, (5.0, 6.0), 1.0),
    ]
    found = {figure.name: figure.value for figure in _figures(outcomes)}
    assert found["cycle: mean probability less how often there is one"] == pytest.approx(-0.2875)
    assert found["period: share of 90 % intervals that hold it"] == 0.5
    assert found["period: share of intervals that are above it"] == 0.0
