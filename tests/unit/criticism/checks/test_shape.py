"""The distribution of residuals: quantiles, tails, and coverage."""

import numpy as np
import pytest
from scipy.stats import anderson, kurtosis, norm
from support.residuals import make_residuals, share_above

from vbks.criticism.checks import shape
from vbks.criticism.checks.shape import measure_coverage, measure_quantiles, measure_tails

N = 100


def with_residuals(z):
    return make_residuals(np.arange(N), z, np.eye(N))


def test_quantiles__have_the_distance_of_anderson_and_darling():
    z = np.random.default_rng(0).standard_t(2, N)
    found = measure_quantiles(with_residuals(z))
    ordered, i = np.sort(z), np.arange(1, N + 1)
    naive = -N - np.mean((2 * i - 1) * (norm.logcdf(ordered) + norm.logsf(ordered[::-1])))
    assert found.values[0] == pytest.approx(naive)
    assert share_above(found) < 0.05
    standardised = (z - z.mean()) / z.std(ddof=1)
    own = measure_quantiles(with_residuals(standardised)).values[0]
    assert own == pytest.approx(anderson(z).statistic)


def test_heavy_tails__are_told_from_one_outlier():
    rng = np.random.default_rng(2)
    heavy = measure_tails(with_residuals(rng.standard_t(2, N)))
    assert share_above(heavy) == 0.0 and "student_t" in heavy.finding
    single = rng.standard_normal(N)
    single[7] = 8.0
    assert share_above(measure_tails(with_residuals(single))) > 0.05


def test_kurtosis__leaves_the_largest_out():
    z = np.append(np.random.default_rng(0).normal(size=30), 50.0)
    centred = np.concatenate([z[:-1], -z[:-1]])  # as if their mean were known to be zero
    assert shape.kurtosis(z[np.newaxis])[0] == pytest.approx(kurtosis(centred, fisher=False))


def test_coverage__is_off_where_residuals_are_too_large_or_too_small():
    z = np.random.default_rng(0).standard_normal(N)
    narrow = measure_coverage(with_residuals(2.0 * z))
    assert share_above(narrow) == 0.0 and "too narrow" in narrow.finding
    assert "too wide" in measure_coverage(with_residuals(0.3 * z)).finding
    assert share_above(measure_coverage(with_residuals(z))) > 0.05
