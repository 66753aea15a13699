"""Targets that decide the scale of the data."""

import numpy as np
import pytest

from vbks.data.extremes import extreme_rows, notices_of_extremes
from vbks.data.training import prepare

RNG = np.random.default_rng(0)


def test_one_row_far_away__is_named_with_what_the_others_are():
    y = RNG.normal(size=60)
    y[16] = 1e6
    (told,) = notices_of_extremes(y)
    assert told.startswith("row 17 holds more than 99 % of the variance of the target")
    assert "1e+06" in told and "student_t" in told


def test_usual_targets__have_no_extreme_rows():
    for y in (RNG.normal(size=60), RNG.standard_t(3, 200), np.exp(RNG.normal(size=100))):
        assert not len(extreme_rows(y))
    assert not len(extreme_rows(np.ones(9)))
    assert not len(extreme_rows(np.where(np.arange(60) < 30, 0.0, 1e6)))


def test_several_rows__are_named_the_largest_first():
    y = RNG.normal(size=300)
    y[[3, 40, 200, 250, 299]] = [1e6, -3e6, 2e6, 5e6, 4e6]
    assert extreme_rows(y)[0] == 250
    (told,) = notices_of_extremes(y)
    assert told.startswith("rows 251, 300, 41, ... hold")


def test_values__of_any_size_are_compared():
    y = np.append(RNG.normal(size=50), 1e149)
    assert extreme_rows(y).tolist() == [50]


def test_prepare__tells_it_before_a_fit():
    y = np.append(np.arange(20.0), 1e7)
    (told,) = prepare((np.arange(21.0), y)).notices
    assert "row 21 holds" in told


@pytest.mark.parametrize("width", [1e-300, 1e-160])
def test_inputs_without_a_scale__are_told_before_a_fit(width):
    (told,) = prepare((np.linspace(0, width, 9), np.arange(9.0))).notices
    assert "larger units" in told
