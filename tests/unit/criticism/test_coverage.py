"""Coverage of rows left out, beside predictions without each row."""

import numpy as np
import pytest
from scipy.stats import norm
from support.selections import make_fit

from vbks.criticism.coverage import coverage_of, left_out_probabilities
from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.selection.selection import Selection


@pytest.fixture(scope="module")
def average():
    x = np.arange(30.0)
    data = prepare((x, np.sin(x / 3) + 0.3 * np.random.default_rng(0).normal(size=30)))
    return Selection((make_fit("SE", 30),), {Identity(): data}).mixture.average


def test_probabilities__are_those_of_predictions_without_the_row(average):
    x, y = next(iter(average.data.values())).arrays()
    noise, variance, lengthscale = np.exp(average.members[0][0].theta)
    squares = np.subtract.outer(x[:, 0], x[:, 0]) ** 2
    C = variance * np.exp(-0.5 * squares / lengthscale**2) + noise * np.eye(30)
    others = np.delete(np.arange(30), 4)
    gain = np.linalg.solve(C[np.ix_(others, others)], C[others, 4])
    sd = np.sqrt(C[4, 4] - gain @ C[others, 4])
    below = norm.cdf((y[4] - gain @ y[others]) / sd)
    assert left_out_probabilities(average)[4] == pytest.approx(below, abs=1e-6)


def test_coverage__is_the_share_within_intervals(average):
    below = left_out_probabilities(average)
    half, most = coverage_of(average)
    assert half.share == np.mean((below >= 0.25) & (below <= 0.75))
    assert most.share == np.mean((below >= 0.05) & (below <= 0.95))
    assert (half.level, most.level, most.num_rows) == (0.5, 0.9, 30)
