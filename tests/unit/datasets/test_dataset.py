"""Tests of the steps that readers of files share."""

import numpy as np
import pandas as pd
import pytest

from vbks.datasets.dataset import days_since, existing_file, series
from vbks.errors import DataError


def hours(first: str, values: list[float]) -> pd.Series:
    return pd.Series(values, index=pd.date_range(first, periods=len(values), freq="12h"))


def test_series__joins_parts_in_the_order_of_time_and_keeps_the_first_of_two():
    late, early = hours("2020-01-02", [3.0, np.nan, 5.0]), hours("2020-01-01", [1.0, 2.0, 9.0])
    found = series("load", [late, early], "MW", "made up")
    np.testing.assert_array_equal(found.X[:, 0], [0.0, 0.5, 1.0, 2.0])
    np.testing.assert_array_equal(found.y, [1.0, 2.0, 3.0, 5.0])
    assert found.x_names == ("days since 2020-01-01 00:00",)


def test_series__without_a_value_is_refused():
    with pytest.raises(DataError, match="the load files hold no usable value"):
        series("load", [hours("2020-01-01", [np.nan])], "MW", "made up")


def test_days__count_from_the_first_time():
    times = pd.DatetimeIndex(["2020-03-01 06:00", "2020-02-29 00:00"])
    np.testing.assert_allclose(days_since(pd.Timestamp("2020-02-29"), times), [1.25, 0.0])


def test_file__has_to_be_there_and_no_folder(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x")
    assert existing_file(str(file)) == file
    with pytest.raises(DataError, match="is a folder, not a file"):
        existing_file(tmp_path)
    with pytest.raises(DataError, match=r"there is no file '.*b.csv'"):
        existing_file(tmp_path / "b.csv")
