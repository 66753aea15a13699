"""Autocorrelations beside a loop, and rows with similar inputs."""

import numpy as np
from support.residuals import draw, make_residuals, share_above

from vbks.criticism.checks.order import (
    autocorrelations,
    measure_autocorrelation,
    measure_neighbours,
)


def test_autocorrelations__are_those_of_a_loop():
    z = np.random.default_rng(0).normal(size=(2, 20))
    found = autocorrelations(z)
    for lag in (1, 4):
        products = sum(z[1, t] * z[1, t + lag] for t in range(20 - lag))
        np.testing.assert_allclose(found[1, lag - 1], products / sum(z[1] ** 2))


def test_related_rows__are_found_with_their_lag():
    n = 80
    C = 0.7 ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    found = measure_autocorrelation(make_residuals(np.arange(n), draw(C), np.eye(n)))
    assert share_above(found) == 0.0
    assert "next to each other in the order of month are alike" in found.finding


def test_neighbours__are_asked_of_several_inputs():
    X = np.random.default_rng(1).uniform(0, 1, (100, 2))
    squares = np.sum((X[:, np.newaxis] - X) ** 2, axis=-1)
    C = np.exp(-0.5 * squares / 0.1**2) + 0.1 * np.eye(100)
    axes = {"along": None, "names": ("a", "b")}
    found = measure_neighbours(make_residuals(X, draw(C), 1.1 * np.eye(100), **axes))
    assert share_above(found) == 0.0 and "alike" in found.finding
    alone = make_residuals(X[:, 0], draw(C), np.eye(100))
    assert measure_neighbours(alone) is None
