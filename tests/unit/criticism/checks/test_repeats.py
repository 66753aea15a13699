"""Rows that repeat others, rounded targets, and partners of rows."""

import numpy as np
import pytest
from support.residuals import draw, make_residuals, share_above, smooth_covariance

from vbks.criticism.checks.repeats import measure_repeats, partners_of, resolution

N = 80


def test_copies__are_counted():
    x = np.sort(np.concatenate([np.arange(60.0), np.arange(0.0, 60.0, 3.0)]))
    C = smooth_covariance(x)
    y = draw(C)
    same = np.diff(x, prepend=-1.0) == 0.0
    copied = np.where(same, np.roll(y, 1), y)
    found = measure_repeats(make_residuals(x, copied, C))
    assert share_above(found) == 0.0
    assert found.finding.startswith("20 of 80 rows repeat another row exactly")
    assert share_above(measure_repeats(make_residuals(x, y, C))) > 0.05


def test_values_of_the_row_before__are_found_and_told():
    C = smooth_covariance(np.arange(N))
    y = draw(C)
    y[1::4] = y[::4]
    found = measure_repeats(make_residuals(np.arange(N), y, C))
    assert share_above(found) == 0.0
    assert "have the target of the row before" in found.finding


def test_rounded_targets__are_no_copies():
    C = smooth_covariance(np.arange(N))
    y = np.round(draw(C), 1)
    assert np.sum(np.diff(y) == 0.0) > 4
    assert share_above(measure_repeats(make_residuals(np.arange(N), y, C))) > 0.05


def test_partners__are_the_last_rows_with_the_same_inputs():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0], [1.0, 2.0]])
    assert partners_of(X).tolist() == [0, 0, 0, 2, 2]


@pytest.mark.parametrize(
    ("y", "step"),
    [
        (np.array([112.0, 118.0, 132.0]), 1.0),
        (np.array([1200.0, 300.0]), 100.0),
        (np.array([0.25, 1.5]), 0.01),
        (np.array([np.pi, np.e]), 0.0),
        (np.zeros(3), 0.0),
    ],
)
def test_resolution__is_a_power_of_ten(y, step):
    assert resolution(y) == pytest.approx(step)
