"""Score tests of cycles, steps, outliers and trends, beside generalised least squares."""

import numpy as np
import pytest
from support.residuals import draw, make_residuals, share_above, smooth_covariance

from vbks.criticism.checks.regressors import (
    frequencies_of,
    measure_cycle,
    measure_outlier,
    measure_step,
    measure_trend,
    periodogram,
)

X = np.arange(80.0)
C = smooth_covariance(X)


def test_periodogram__is_what_least_squares_explain():
    y = draw(C)
    residuals = make_residuals(X, y, C, num=3)
    frequencies = frequencies_of(residuals)
    power = periodogram(residuals, frequencies)[0]
    P = np.linalg.inv(C)
    for place in (0, 20, 57):
        angles = 2 * np.pi * frequencies[place] * X
        H = np.column_stack([np.cos(angles), np.sin(angles)])
        explained = y @ P @ H @ np.linalg.solve(H.T @ P @ H, H.T @ P @ y)
        assert power[place] == pytest.approx(0.5 * explained)


def test_cycle__is_found_with_its_period_at_uneven_times():
    x = np.sort(np.random.default_rng(3).uniform(0, 80, 80))
    own = smooth_covariance(x)
    residuals = make_residuals(x, draw(own) + np.sin(2 * np.pi * x / 12), own)
    found = measure_cycle(residuals)
    assert share_above(found) == 0.0
    assert found.finding == "residuals repeat every 12 months: a cycle is missed"
    assert share_above(measure_cycle(make_residuals(x, draw(own), own))) > 0.05


def test_step__is_found_where_it_is():
    residuals = make_residuals(X, draw(C) + 2.0 * (X >= 50), C)
    found = measure_step(residuals)
    assert share_above(found) == 0.0
    assert "jumps up by 2" in found.finding and "50 months" in found.finding
    assert share_above(measure_step(make_residuals(X, draw(C), C))) > 0.05


def test_outlier__is_the_largest_error_of_a_row_given_all_others():
    y = draw(C)
    y[33] -= 3.0
    found = measure_outlier(make_residuals(X, y, C))
    others = np.arange(80) != 33
    gain = np.linalg.solve(C[np.ix_(others, others)], C[others, 33])
    error = y[33] - gain @ y[others]
    sd = np.sqrt(C[33, 33] - gain @ C[others, 33])
    assert found.values[0] == pytest.approx(-error / sd)
    assert found.finding.startswith("row 34 (at 33 months) lies")
    assert "below" in found.finding
    assert share_above(found) == 0.0


def test_trend__names_the_input_that_residuals_depend_on():
    X2 = np.random.default_rng(0).uniform(0, 1, (80, 2))
    noise = np.eye(80)
    y = draw(noise) + 3.0 * X2[:, 1]
    axes = {"along": None, "names": ("age", "dose"), "unit": None}
    found = measure_trend(make_residuals(X2, y, noise, **axes))
    assert share_above(found) == 0.0
    assert found.finding == "residuals rise, fall or bend along dose: a trend is missed"


def test_order__is_needed_for_cycles_and_steps():
    X2 = np.random.default_rng(0).uniform(0, 1, (30, 2))
    own = make_residuals(X2, draw(np.eye(30)), np.eye(30), along=None, names=("a", "b"))
    assert measure_cycle(own) is None and measure_step(own) is None
