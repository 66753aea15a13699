from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration import FULL, Outcome, _gap, draw_rows, tenths

from vbks.grammar.canonical import structures


def test_tenths__have_mean_count_and_share() -> None:
    beliefs = np.array([0.0, 0.04, 0.92, 1.0])
    low, high = tenths(beliefs, np.array([False, False, False, True]))
    assert (low.mean, low.count, low.share) == (pytest.approx(0.02), 2, 0.0)
    assert (high.mean, high.count, high.share) == (pytest.approx(0.96), 2, 0.5)


def test_structures__are_all_different() -> None:
    for case, least in zip(FULL, (12, 60), strict=True):
        assert len(structures(case.structures)) == len(case.structures) >= least


def test_gap__is_the_belief_in_the_first_less_how_often_it_is_right() -> None:
    outcomes = [
        Outcome(truth, {"bayes": np.array([0.75, 0.25])}, (), 0.0, 2) for truth in (0, 0, 0, 1)
    ]
    gap, error, believed, right = _gap("bayes", outcomes)
    assert (gap, believed, right) == (0.0, 0.75, 0.75)
    assert error == pytest.approx(0.25)


def test_drawn_rows__have_standardised_inputs_and_targets_as_they_are() -> None:
    rows = draw_rows(FULL[0].structures[0], 50, np.random.default_rng(0))
    X, y = rows.arrays()
    assert (X.mean(), X.std()) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0))
    assert (rows.units.y_mean, rows.units.y_scale) == (0.0, 1.0)
    assert y.std() != pytest.approx(1.0, abs=1e-3)
