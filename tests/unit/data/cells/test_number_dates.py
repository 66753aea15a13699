import numpy as np
import pandas as pd
import pytest

from vbks.data.cells.number_dates import read_number_dates

MONTHS = pd.date_range("2013-11-01", periods=15, freq="MS")
HOURS = pd.date_range("2014-01-01", periods=9, freq="h")


def numbers(form, times=MONTHS):
    return times.strftime(form).to_numpy().astype(float)


@pytest.mark.parametrize("form", ["%Y%m", "%Y%m%d", "%Y.%m"])
def test_dates_in_one_number__are_found(form):
    found = read_number_dates(numbers(form), "x")
    assert found.values.tolist() == MONTHS.tz_localize("UTC").tolist()


@pytest.mark.parametrize(("unit", "number"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_times_since_1970__are_found(unit, number):
    values = HOURS.astype("int64").to_numpy() / 1e9 * number
    found = read_number_dates(values, "x")
    assert found.values.tolist() == HOURS.tz_localize("UTC").tolist()
    assert "since 1970" in found.how
    uneven = values[[0, 3, 4, 8]]
    assert read_number_dates(uneven, "x") is None
    assert read_number_dates(uneven, "created_at") is not None


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1990.0, 2010.0),
        np.arange(201400.0, 201420.0),
        np.array([201401.0, 201402.0, 201403.0]),
        np.array([200110.0, 201201.0, 199912.0, 200404.0, 200709.0]),
        1958 + np.arange(30) / 12,
        np.arange(20.0),
        np.array([1.2e9, 1.3e9, 1.5e9, 1.8e9]),
        np.linspace(1000, 1001, 20),
    ],
)
def test_other_numbers__stay_numbers(values):
    assert read_number_dates(values, "price") is None


def test_missing_numbers__are_missing_dates():
    found = read_number_dates(np.append(numbers("%Y%m"), np.nan), "x")
    assert found.values.isna().tolist() == [False] * 15 + [True]
