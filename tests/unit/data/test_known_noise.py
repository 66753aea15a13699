"""Tests of reading noise that is known of each row."""

import numpy as np
import pytest

from vbks.data.known_noise import read_noise
from vbks.errors import DataError


@pytest.mark.parametrize("values", [2.0, [2.0, 2.0, 2.0], [[2.0], [2.0], [2.0]], np.full(3, 2)])
def test_noise__is_one_number_for_all_rows_or_one_for_each(values):
    np.testing.assert_array_equal(read_noise(values, 3), np.full(3, 2.0))


def test_noise__is_a_copy():
    given = np.ones(3)
    read_noise(given, 3)[0] = 9.0
    np.testing.assert_array_equal(given, np.ones(3))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("abc", "noise_variance cannot be read as numbers"),
        ([1.0, 2.0], r"has the shape \[2\], expected \[3\]"),
        ([[1.0, 2.0, 3.0]], r"has the shape \[1, 3\]"),
        ([1.0, -2.0, np.nan], "2 values that are no variances, the first in row 2: -2"),
        (np.inf, "3 values that are no variances, the first in row 1: inf"),
    ],
)
def test_noise__that_is_none_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        read_noise(values, 3)
