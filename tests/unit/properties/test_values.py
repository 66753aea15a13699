import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm

from vbks.properties.values import Density, Peak, Weighted, log_density, told_peaks
from vbks.words import Estimate

EVEN = (np.arange(400) + 0.5) / 400


def two_peaks():
    """Values near 1 with a belief of 0.6, and near 5 with 0.2."""
    values = np.concatenate([norm.ppf(EVEN, 1.0, 0.1), norm.ppf(EVEN, 5.0, 0.2)])
    return Weighted(values, np.repeat([0.6 / 400, 0.2 / 400], 400))


def test_weighted__leaves_out_what_is_no_number():
    parts = [(np.array([1.0, np.nan]), np.array([0.5, 0.3])), (np.array([2.0]), np.array([0.0]))]
    found = Weighted.of(parts)
    assert found.values.tolist() == [1.0] and found.total == 0.5
    assert Weighted.of([]).estimate is None and Weighted.of([]).density(1.0) is None


def test_estimate__has_the_median_and_nine_tenths_of_the_weight():
    found = Weighted(norm.ppf(EVEN, 3.0, 2.0), np.full(400, 0.002)).estimate
    assert found.value == pytest.approx(3.0, abs=1e-6)
    assert (found.low, found.high) == (
        pytest.approx(norm.ppf(0.05, 3.0, 2.0), abs=0.02),
        pytest.approx(norm.ppf(0.95, 3.0, 2.0), abs=0.02),
    )
    assert Weighted(np.ones(3), np.ones(3) / 3).estimate == Estimate(1.0)


def test_peaks__are_apart_and_have_their_probabilities():
    first, second = told_peaks(two_peaks(), gap=1.0)
    assert first.probability == pytest.approx(0.6) and second.probability == pytest.approx(0.2)
    assert first.estimate.value == pytest.approx(1.0, abs=1e-3)
    assert second.estimate.low == pytest.approx(norm.ppf(0.05, 5.0, 0.2), abs=0.01)
    assert len(told_peaks(two_peaks(), gap=10.0)) == 1
    assert Peak(0.5, Estimate(2.0, 1.0, 4.0)).in_unit(3.0).estimate == Estimate(6.0, 3.0, 12.0)


def test_density__has_the_mass_of_each_peak_given_that_there_is_a_value():
    found = two_peaks().density(gap=1.0)
    total = trapezoid(found.density, found.x)
    is_first = found.x < 3.0
    assert total == pytest.approx(1.0, abs=0.01)
    assert trapezoid(found.density[is_first], found.x[is_first]) == pytest.approx(0.75, abs=0.01)
    height = 0.75 * norm.pdf(1.0, 1.0, 0.1)
    assert found.density.max() == pytest.approx(height, rel=0.1)


def test_density__of_positive_values_is_smoothed_on_their_logarithms():
    values = Weighted(np.exp(norm.ppf(EVEN, 1.0, 0.5)), np.full(400, 1 / 400))
    found = log_density(values, gap=0.2)
    assert np.all(found.x > 0.0)
    assert trapezoid(found.density, found.x) == pytest.approx(1.0, abs=0.02)
    middle = np.interp(np.exp(1.0), found.x, found.density)
    assert middle == pytest.approx(norm.pdf(0, 0, 0.5) / np.exp(1.0), rel=0.15)


def test_density__of_points_is_none():
    assert Weighted(np.full(5, 2.0), np.full(5, 0.1)).density(1.0) is None


def test_density__in_another_unit_has_the_same_mass():
    found = Density(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])).in_unit(12.0, "months")
    assert trapezoid(found.density, found.x) == pytest.approx(1.0)
    assert found.unit == "months" and len(found) == 3 and found.x[-1] == 24.0
