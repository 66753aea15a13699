"""Tests of reading several targets, a column each."""

import numpy as np
import pandas as pd
import pytest

from vbks.data.columns import num_columns, read_columns, read_noise_columns
from vbks.errors import DataError

TABLE = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("y", "expected"),
    [(TABLE, 2), (TABLE[:, :1], 1), (TABLE[:, 0], 1), (TABLE.tolist(), 2), ([[1], [2, 3]], 1),
     (pd.DataFrame(TABLE), 2), (None, 1)],
)  # fmt: skip
def test_num_columns__counts_those_of_tables(y, expected):
    assert num_columns(y) == expected


def test_columns__have_their_names_or_numbers_from_one():
    named = read_columns(pd.DataFrame(TABLE, columns=["load", "price"]))
    assert list(named) == ["load", "price"]
    for unnamed in (TABLE, TABLE.tolist(), pd.DataFrame(TABLE)):
        found = read_columns(unnamed)
        assert list(found) == ["1", "2"]
        np.testing.assert_array_equal(found["2"], TABLE[:, 1])


def test_columns__of_one_name_twice_or_of_no_table_are_refused():
    with pytest.raises(DataError, match="two columns of the name 'a'"):
        read_columns(pd.DataFrame(TABLE, columns=["a", "a"]))
    with pytest.raises(DataError, match="Y has 1 dimensions"):
        read_columns([1.0, 2.0])


def test_noise__is_that_of_all_targets_or_of_each():
    assert read_noise_columns(None, 2) == [None, None]
    assert read_noise_columns(0.5, 3) == [0.5] * 3
    first, second = read_noise_columns(TABLE, 2)
    np.testing.assert_array_equal(np.column_stack([first, second]), TABLE)
    with pytest.raises(DataError, match=r"noise_variance has 2 columns, expected \[N\], or \[N, 3"):
        read_noise_columns(TABLE, 3)
