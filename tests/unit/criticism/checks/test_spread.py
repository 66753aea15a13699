"""Noise that changes along an input, or with the level of the target."""

import numpy as np
import pytest
from support.residuals import draw, make_residuals, share_above, smooth_covariance

from vbks.criticism.checks.spread import measure_spread, measure_warp

N = 100
X = np.arange(float(N))


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        (np.linspace(0.3, 2.0, N), "the noise grows along month"),
        (np.linspace(2.0, 0.3, N), "the noise shrinks along month"),
        (0.3 + 2.0 * np.exp(-0.5 * (X - 50) ** 2 / 15**2), "larger in the middle"),
    ],
)
def test_noise_that_changes__is_found_and_told(sizes, told):
    y = sizes * np.random.default_rng(0).standard_normal(N)
    found = measure_spread(make_residuals(X, y, np.eye(N)))
    assert share_above(found) < 0.01
    assert told in found.finding


def test_wrong_warp__is_found_in_its_direction():
    C = smooth_covariance(X)
    y = draw(C)
    bent = np.exp(1.2 * y)
    bent = (bent - bent.mean()) / bent.std()
    found = measure_warp(make_residuals(X, bent, C))
    assert share_above(found) < 0.01
    assert found.finding.startswith("high targets scatter more") and "logarithm" in found.finding
    assert measure_warp(make_residuals(X, -bent, C)).finding.startswith("low targets")
    assert share_above(measure_warp(make_residuals(X, y, C))) > 0.05
