from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from vbks.data.times import with_days

HOURS = pd.date_range("2020-01-01", periods=5, freq="6h")
DAYS = 18262 + np.arange(5) / 4
SUMMER = timezone(timedelta(hours=2))


def column(values):
    array = np.asarray(values)
    return array[:, None]


@pytest.mark.parametrize(
    "table",
    [
        column(HOURS),
        column(HOURS).astype("datetime64[s]"),
        column(list(HOURS)),
        column(HOURS.to_pydatetime()),
        column(
            [time.replace(tzinfo=SUMMER) + timedelta(hours=2) for time in HOURS.to_pydatetime()]
        ),
        column(HOURS.tz_localize("UTC").tz_convert("Asia/Tokyo")),
        column([np.datetime64(time) for time in HOURS]).astype(object),
        pd.DataFrame({"a": HOURS}),
        pd.DataFrame({"a": HOURS.as_unit("s")}),
        pd.DataFrame({"a": HOURS.tz_localize("UTC").tz_convert("America/New_York")}),
        pd.DataFrame({"a": HOURS.astype(object)}),
        pd.DataFrame({"a": list(HOURS.to_numpy())}, dtype=object),
    ],
)
def test_instants__become_days_since_1970(table):
    found = np.asarray(with_days(table), dtype=float)
    np.testing.assert_allclose(found, DAYS[:, None], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([date(2020, 1, 1), date(1969, 12, 31), date(1, 1, 1)], [18262, -1, -719162]),
        (np.array(["2020-01", "1970-02"], dtype="datetime64[M]"), [18262, 31]),
        (np.array(["1971", "9999"], dtype="datetime64[Y]"), [365, 2932532]),
    ],
)
def test_days_months_and_years__begin_at_midnight(days, expected):
    found = np.asarray(with_days(column(days)), dtype=float)
    np.testing.assert_array_equal(found[:, 0], expected)


@pytest.mark.parametrize(
    "table",
    [
        column(HOURS - HOURS[0]),
        column([timedelta(hours=6 * i) for i in range(5)]),
        pd.DataFrame({"a": HOURS - HOURS[0]}),
        pd.DataFrame({"a": HOURS - HOURS[0]}, dtype=object),
    ],
)
def test_durations__become_days(table):
    found = np.asarray(with_days(table), dtype=float)
    np.testing.assert_allclose(found[:, 0], np.arange(5) / 4, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        column(np.array(["2020-01-01", "NaT", "2020-01-03"], dtype="datetime64[D]")),
        column([datetime(2020, 1, 1), None, datetime(2020, 1, 3)]),
        column([date(2020, 1, 1), pd.NaT, date(2020, 1, 3)]),
        column([date(2020, 1, 1), float("nan"), date(2020, 1, 3)]),
        np.ma.MaskedArray(column(HOURS[:3].normalize()), mask=[[0], [1], [0]])
        + column(np.array([0, 0, 2], dtype="timedelta64[D]")),
        pd.DataFrame({"a": [pd.Timestamp("2020-01-01"), pd.NaT, pd.Timestamp("2020-01-03")]}),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01", None, "2020-01-03"]).tz_localize("UTC")}),
    ],
)
def test_missing_times__become_nan(table):
    found = np.asarray(with_days(table), dtype=float)[:, 0]
    np.testing.assert_array_equal(found, [18262, np.nan, 18264])


def test_columns_beside_times__stay_as_they_are():
    names = ["a", "time", "a"]
    frame = pd.concat([pd.Series(range(5)), pd.Series(HOURS), pd.Series(list("vwxyz"))], axis=1)
    frame.columns = names
    before = frame.copy()
    found = with_days(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert list(found.columns) == names
    pd.testing.assert_series_equal(found.iloc[:, 0], frame.iloc[:, 0])
    np.testing.assert_array_equal(found.iloc[:, 1], DAYS)
    pd.testing.assert_series_equal(found.iloc[:, 2], frame.iloc[:, 2])


def test_rows_of_times_and_numbers__become_numbers():
    rows = np.array([[time, 0.5 * i, i] for i, time in enumerate(HOURS)], dtype=object)
    found = with_days(rows)
    np.testing.assert_array_equal(found, np.column_stack([DAYS, np.arange(5) / 2, np.arange(5)]))
    assert [dtype.kind for dtype in found.dtypes] == ["f", "f", "i"]


@pytest.mark.parametrize(
    "table",
    [
        np.ones((3, 2)),
        column(["2020-01-01", "2020-01-02"]),
        column([1, 2, 3]).astype(object),
        column([None, None]),
        np.array([[date(2020, 1, 1)], [3]], dtype=object),
        np.array([[date(2020, 1, 1)], [timedelta(1)]], dtype=object),
        np.array([[date(2020, 1, 1)], [[1, 2]]], dtype=object),
        column(np.array([1, 2], dtype="timedelta64[M]")),
        column(np.array([1, 2], dtype="timedelta64[M]")).astype(object),
    ],
)
def test_tables_without_columns_of_times__stay_as_they_are(table):
    assert with_days(table) is table


def test_frame_without_times__stays_as_it_is():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [date(2020, 1, 1), "z"]})
    pd.testing.assert_frame_equal(with_days(frame), frame)
