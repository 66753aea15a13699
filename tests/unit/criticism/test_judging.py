"""Checks averaged over models, and what is said of them."""

import numpy as np
import pytest
from support.residuals import draw, make_residuals, smooth_covariance

from vbks.criticism.judging import judge

N = 60
X = np.arange(float(N))
C = smooth_covariance(X)
CYCLE = np.sin(2 * np.pi * X / 6)


def test_missed_cycle__is_looked_at_and_named():
    found = {r.check: r for r in judge([(make_residuals(X, draw(C) + CYCLE, C), 1.0)], 0.05, 0)}
    cycle = found["periodogram"]
    assert cycle.verdict == "look" and cycle.adjusted <= 0.05 and cycle.surprise > 1.0
    assert cycle.sentence == "Residuals repeat every 6 months: a cycle is missed."
    assert "neighbours" not in found
    assert "clear" in {r.verdict for r in found.values()}


def test_p_values__are_averaged_over_models_with_their_weights():
    y = draw(C) + CYCLE
    wave = 2.0 * np.cos(2 * np.pi * np.subtract.outer(X, X) / 6)
    missed, has_it = make_residuals(X, y, C), make_residuals(X, y, C + wave)
    (a,), (b,) = (
        [r for r in judge([(own, 1.0)], 0.05, 0) if r.check == "periodogram"]
        for own in (missed, has_it)
    )
    mixed = judge([(has_it, 0.6), (missed, 0.4)], 0.05, 0)
    (both,) = [r for r in mixed if r.check == a.check]
    assert both.p_value == pytest.approx(0.6 * b.p_value + 0.4 * a.p_value)
    assert not a.is_clear and b.is_clear and both.is_clear
