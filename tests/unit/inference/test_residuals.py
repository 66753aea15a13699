"""Tests of what a fit leaves unexplained."""

import numpy as np

from vbks.inference.choices import make_context
from vbks.inference.evaluator import fit_candidates
from vbks.inference.residuals import as_parent
from vbks.inference.settings import FitSettings


def test_parent__shows_the_period_that_is_left() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 10.0, 120)
    y = 3.0 * x + np.sin(2 * np.pi * x / 0.9) + 0.1 * rng.normal(size=120)
    comparison, _ = make_context((x, y), 1, FitSettings(inference="exact"))
    (fit,) = fit_candidates(["LIN"], comparison.data, inference="exact", restarts=1)
    parent = as_parent(fit, comparison)
    np.testing.assert_array_equal(parent.theta, fit.theta)
    assert parent.residuals is not None
    period = 0.9 / comparison.data.units.x_scale[0]
    np.testing.assert_allclose(parent.residuals[0].periods[0], period, rtol=0.02)
