import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vbks import DataError
from vbks.data.given import as_pandas, inputs_and_targets, with_instants
from vbks.data.tables import read_inputs, read_table

MONTHS = pd.date_range("2014-01-01", periods=6, freq="MS")
DAYS = (MONTHS - pd.Timestamp("1970-01-01")).days.to_numpy()
SOLD = np.array([5.0, 3, 4, 8, 6, 7])
TABLE = pd.DataFrame({"month": MONTHS, "price": SOLD**2, "sold": SOLD})


def read(X, y=None):
    given = inputs_and_targets(X, y)
    return read_table(given.X, given.y), given.notices


@pytest.mark.parametrize(
    "index",
    [
        MONTHS,
        MONTHS.to_period("M"),
        MONTHS.tz_localize("UTC"),
        MONTHS.rename("month"),
        pd.Index(MONTHS.strftime("%Y-%m"), name="month"),
    ],
)
def test_series__is_explained_by_its_index(index):
    series = pd.Series(SOLD, index, name="sold")
    table, notices = read(series)
    assert table.names == (series.index.name or "time",) or index.dtype == object
    np.testing.assert_array_equal(table.X[:, 0], DAYS)
    np.testing.assert_array_equal(table.y, SOLD)
    assert (table.target, table.times, notices) == ("sold", (0,), ())


def test_series_without_dates__is_explained_by_the_number_of_its_rows():
    table, (notice,) = read(pd.Series(SOLD))
    np.testing.assert_array_equal(table.X[:, 0], np.arange(6))
    assert notice.startswith("The series has no dates: its input is the number of the row, from 0")
    years = pd.Series(SOLD, pd.RangeIndex(1990, 1996, name="year"))
    table, notices = read(years)
    assert (table.names, notices) == (("year",), ())
    np.testing.assert_array_equal(table.X[:, 0], np.arange(1990, 1996))


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        TABLE.set_index("month"),
        TABLE.set_index(MONTHS.to_period("M").rename("month")).drop(columns="month"),
        TABLE.assign(month=MONTHS.strftime("%Y-%m-%d")),
        TABLE.assign(month=MONTHS.strftime("%Y-%m").astype("string")),
        TABLE.assign(**{"Unnamed: 0": range(6)})[["Unnamed: 0", *TABLE]],
        pl.DataFrame({name: TABLE[name].to_numpy() for name in TABLE}),
        pl.DataFrame({"month": list(MONTHS.strftime("%Y-%m-%d")), "price": SOLD**2, "sold": SOLD}),
        pa.table({name: TABLE[name].to_numpy() for name in TABLE}),
    ],
)
def test_table__has_its_target_by_name(given):
    table, notices = read(given, "sold")
    assert (table.names, table.target, table.times) == (("month", "price"), "sold", (0,))
    np.testing.assert_array_equal(table.X, np.column_stack([DAYS, SOLD**2]))
    np.testing.assert_array_equal(table.y, SOLD)
    assert len(notices) == ("Unnamed: 0" in getattr(given, "columns", ()))


def test_several_names__are_several_targets():
    given = inputs_and_targets(TABLE, ["price", "sold"])
    assert list(given.X) == ["month"]
    assert list(given.y) == ["price", "sold"]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (TABLE, "sales", "no column 'sales'. The columns: month, price, sold"),
        (TABLE.assign(shop="a"), "sold", "column 'shop' .* expected numbers: row 1 has 'a'"),
        (TABLE.set_axis(["sold", "price", "sold"], axis=1), "sold", "two columns 'sold'"),
        (TABLE.set_index(["month", "price"])["sold"], None, "several levels.*reset_index"),
        (pl.DataFrame({"a": SOLD}).lazy(), "a", "LazyFrame of polars. Give table.collect"),
    ],
)
def test_other_tables__are_refused(X, y, message):
    with pytest.raises(DataError, match=message):
        read(X, y)


@pytest.mark.parametrize(
    "index", [range(1, 7), [0, 1, 2, 3, 5, 4], MONTHS.strftime("%B"), MONTHS.shift(1)]
)
def test_indexes__have_to_be_the_same(index):
    with pytest.raises(DataError, match=r"different indexes: row \d is .* or, .* y.to_numpy\(\)"):
        read_table(TABLE[["price"]], TABLE["sold"].set_axis(index))
    same = read_table(TABLE[["price"]].set_axis(index), TABLE["sold"].set_axis(index))
    np.testing.assert_array_equal(same.y, SOLD)
    assert read_table(MONTHS, TABLE["sold"].set_axis(index)).times == (0,)


@pytest.mark.parametrize(
    "inputs",
    [
        list(MONTHS.strftime("%Y-%m")),
        np.array(MONTHS.strftime("%Y-%m-%d")),
        MONTHS,
        MONTHS.to_period("M"),
        MONTHS.to_period("M").to_series(),
        pl.Series("month", MONTHS.to_numpy()),
        pl.Series("month", list(MONTHS.strftime("%Y-%m-%dT%H:%MZ"))),
    ],
)
def test_times__are_read_wherever_inputs_are(inputs):
    found = read_inputs(inputs)
    np.testing.assert_array_equal(found.X[:, 0], DAYS)
    assert found.times == (0,)


def test_texts_that_can_be_read_in_two_ways__are_refused():
    with pytest.raises(DataError, match=r"has '01/02/2014'. Give dates that begin with the year"):
        read_table(["01/02/2014"] * 6, SOLD)


def test_columns_of_texts__may_stand_beside_numbers():
    rows = np.array([["2014-01-01", 1.5], ["2014-01-02", None]], dtype=object)
    found = with_instants(rows)
    assert found[0, 0] == pd.Timestamp("2014-01-01")
    assert rows[0, 0] == "2014-01-01"
    table = pd.DataFrame({"day": ["2014-01-01", None], "n": [1, 2]}, index=[5, 6])
    changed = with_instants(table)
    assert changed["day"].isna().tolist() == [False, True]
    assert changed.index.tolist() == [5, 6]


def test_as_pandas__leaves_all_else_as_it_is():
    array = np.arange(3)
    assert as_pandas(array) is array
    assert as_pandas(TABLE) is TABLE
    assert as_pandas(pl.Series("a", [1, None])).isna().tolist() == [False, True]
