import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from vbks.data.cells.columns import Forms, read_column
from vbks.data.cells.readings import Fault, Reading


def read(cells, name="c", dtype=object, is_target=False, **forms):
    column = pd.Series(cells, dtype=dtype, name=name)
    return read_column(column, Forms(**forms), is_target=is_target)


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["1", "2.5", "-"], object),
        ([1, 2.5, None], object),
        ([1, "2,5", None], object),
        ([Decimal(1), Decimal("2.5"), None], object),
        (["1", "2.5", None], "string"),
        (["1", "2.5", None], "category"),
        ([1, 2.5, np.nan], float),
    ],
)
def test_numbers__of_all_types_are_read(cells, dtype):
    np.testing.assert_array_equal(read(cells, dtype=dtype).values, [1, 2.5, np.nan])


@pytest.mark.parametrize(
    "cells",
    [
        ["2014-01-01", "2014-02-01", ""],
        [pd.Timestamp("2014-01-01"), "2014-02-01", None],
        [datetime.date(2014, 1, 1), datetime.datetime(2014, 2, 1), None],
        pd.to_datetime(["2014-01-01", "2014-02-01", None]),
        pd.to_datetime(["2014-01-01", "2014-02-01", None]).tz_localize("UTC"),
    ],
)
def test_dates__of_all_types_are_read_in_utc(cells):
    dtype = object if isinstance(cells, list) else None
    found = read(cells, dtype=dtype).values
    days = pd.to_datetime(["2014-01-01", "2014-02-01", None], utc=True)
    pd.testing.assert_series_equal(found, pd.Series(days), check_names=False)


def test_truth__is_one_or_zero():
    assert read([True, False]).values.tolist() == [1, 0]
    assert read([True, False], dtype=bool).values.tolist() == [1, 0]


def test_kinds__that_are_no_values_are_told():
    assert read(["a", "b"]) == "texts"
    assert read([[1], [2]]) == "texts"
    assert read(["", None, "NA"]) == "nothing"
    assert read([np.nan], dtype=float) == "nothing"


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        ([1, 2, "Total"], 2),
        ([pd.Timestamp("2014-01-02"), "13/02/2014"], 1),
        ([1, 2, "2014-01-01"], 2),
        ([None, "1", "2", "x"], 3),
    ],
)
def test_unlike_cells__are_faults(cells, row):
    found = read(cells)
    assert isinstance(found, Fault)
    assert found.row == row


def test_targets__are_numbers_even_where_they_look_like_dates():
    months = [f"2014{month:02d}" for month in range(1, 13)]
    assert read(months).how == "as year and month in one number"
    assert read(months, is_target=True).values[0] == 201401
    assert read(["01.2014", "02.2014"]).values.dt.month.tolist() == [1, 2]
    assert read(["01.2014", "02.2014"], is_target=True).values.tolist() == [1.2014, 2.2014]


def test_example__is_a_row_where_the_form_shows():
    found = read(["", "5", "1,5"])
    assert isinstance(found, Reading)
    assert found.example == 2
