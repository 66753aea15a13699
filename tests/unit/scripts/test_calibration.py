from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration import STRUCTURES, calibration_error, draw_rows, tenths

from vbks.grammar import structures


def test_tenths__have_mean_count_and_share() -> None:
    beliefs = np.array([0.0, 0.04, 0.92, 1.0])
    low, high = tenths(beliefs, np.array([False, False, False, True]))
    assert (low.mean, low.count, low.share) == (pytest.approx(0.02), 2, 0.0)
    assert (high.mean, high.count, high.share) == (pytest.approx(0.96), 2, 0.5)


def test_calibration_error__is_the_mean_distance_over_beliefs() -> None:
    sure_and_wrong = tenths(np.array([1.0, 0.0]), np.array([False, True]))
    assert calibration_error(sure_and_wrong) == 1.0
    right_as_often_as_believed = tenths(np.full(4, 0.25), np.array([True, False, False, False]))
    assert calibration_error(right_as_often_as_believed) == 0.0


def test_structures__are_all_different() -> None:
    assert len(structures(STRUCTURES)) == len(STRUCTURES) == 8


def test_drawn_rows__have_standardised_inputs_and_targets_as_they_are() -> None:
    rows = draw_rows(STRUCTURES[0], 50, np.random.default_rng(0))
    X, y = rows.arrays()
    assert (X.mean(), X.std()) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0))
    assert (rows.units.y_mean, rows.units.y_scale) == (0.0, 1.0)
    assert y.std() != pytest.approx(1.0, abs=1e-3)
