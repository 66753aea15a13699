import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from vbks.data.tables import default_labels, read_inputs, read_table
from vbks.errors import DataError

X = np.array([[1, 0], [2, 1], [3, 0], [4, 0], [5, 1]])
Y = np.array([1, 0, 1, 1, 0])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float32, np.longdouble])
def test_arrays_of_any_number__are_kept_as_they_are(dtype):
    given = X.astype(dtype), Y.astype(dtype)
    table = read_table(*given)
    assert table.X is given[0]
    assert table.y.dtype == dtype
    np.testing.assert_array_equal(table.y, given[1])


@pytest.mark.parametrize(
    ("inputs", "targets"),
    [
        (X.tolist(), Y.tolist()),
        (tuple(map(tuple, X)), tuple(Y)),
        (X, Y[:, None]),
        (pd.DataFrame(X), pd.Series(Y)),
        (pd.DataFrame(X, columns=["a", "a"]), pd.DataFrame({"b": Y})),
        (pd.DataFrame({"a": X[:, 0], "b": X[:, 1] == 1}), pd.Series(Y, dtype="boolean")),
        (pd.DataFrame(X).astype("Int64"), pd.Series(Y, dtype="float32")),
        (np.ma.MaskedArray(X), np.ma.MaskedArray(Y, mask=False)),
    ],
)
def test_array_likes__become_columns(inputs, targets):
    table = read_table(inputs, targets)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, Y)
    assert table.X.dtype.kind in "if"


@pytest.mark.parametrize("column", [X[:, 0], X[:, 0].tolist(), pd.Series(X[:, 0])])
def test_list_of_numbers__is_one_input(column):
    np.testing.assert_array_equal(read_table(column, Y).X, X[:, :1])


def test_memory_maps__stay_where_they_are(tmp_path):
    for name, values in (("X", X[:, 0]), ("y", Y[:, None])):
        np.save(tmp_path / f"{name}.npy", values)
    table = read_table(*(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "Xy"))
    assert type(table.X) is type(table.y) is np.memmap
    assert (table.X.shape, table.y.shape) == ((5, 1), (5,))


@pytest.mark.parametrize(
    ("inputs", "targets", "labels"),
    [
        (X, Y, ("input 1", "input 2", "the target")),
        (pd.DataFrame(X), pd.Series(Y), ("input 1", "input 2", "the target")),
        (
            pd.DataFrame(X, columns=["load", 7]),
            pd.Series(Y, name="price"),
            ("column 'load'", "column 7", "the target 'price'"),
        ),
        (pd.Series(Y, name="day"), pd.DataFrame({7: Y}), ("column 'day'", "the target 7")),
    ],
)
def test_labels__are_the_names_of_columns_or_their_numbers(inputs, targets, labels):
    assert read_table(inputs, targets).labels == labels


def test_default_labels__count_from_one():
    assert default_labels(2) == ("input 1", "input 2", "the target")


def test_missing_values_of_other_kinds__become_nan():
    frame = pd.DataFrame({"a": pd.Series([1, None, 3, 4, 5], dtype="Int64")})
    table = read_table(frame, np.ma.masked_equal(Y, 0))
    assert np.isnan(table.X[1, 0])
    np.testing.assert_array_equal(np.isnan(table.y), Y == 0)


@pytest.mark.parametrize(
    ("inputs", "targets", "message"),
    [
        (X, Y[:4], "X has 5 rows and y has 4. Give one target for each row of X"),
        (X, X, "y has 2 columns, expected one target. Choose a column, or fit each"),
        (X, pd.DataFrame(X), "y has 2 columns"),
        (X[:, :0], Y, "X has no columns. Give at least one"),
        (pd.DataFrame(index=range(5)), Y, "X has no columns"),
        (X, Y[:, None][:, :0], "y has no columns"),
        (X[None], Y, "X is of type 'ndarray' and has 3 dimensions, expected .* Reshape it"),
        (None, Y, "X is of type 'NoneType' and has 0 dimensions"),
        (X, 3.0, "y is of type 'float' and has 0 dimensions"),
        ([[1, 2], [3]], Y, "X cannot be read as an array: .* Give numbers, in rows of one length"),
    ],
)
def test_other_shapes__are_refused(inputs, targets, message):
    with pytest.raises(DataError, match=message):
        read_table(inputs, targets)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, 2, "abc", 4, 5], "'object', expected numbers: row 3 has 'abc'. Convert the column"),
        (["abc"] * 5, "row 1 has 'abc'"),
        (["abc" * 100] * 5, r"row 1 has 'abc.*\.\.\..*abc'"),
        (np.array([b"abc"] * 5), "row 1 has b'abc'"),
        ([1, 2, 3, None, 5], "row 4 has None. Drop or fill missing values"),
        (pd.Series([1, 2, 3, 4, 5], dtype=object), "'object', expected numbers: row 1 has 1"),
        (pd.Series([1, 2, 3, 4, 5], dtype="category"), "'category', expected numbers: row 1"),
        ([Decimal(3)] * 5, r"row 1 has Decimal\('3'\)"),
        ([10**30] * 5, "'object', expected numbers: row 1 has 10{30}"),
        (Y + 1j, r"'complex128', expected numbers: row 1 has \(1\+1j\). Give the real part"),
        (pd.Series(Y + 1j), r"'complex128', expected numbers: row 1 has \(1\+1j\)"),
    ],
)
def test_columns_of_other_types__are_refused(column, message):
    with pytest.raises(DataError, match=f"^input 1 is of type .*{message}"):
        read_table(column, Y)
    with pytest.raises(DataError, match="the target is of type"):
        read_table(X, column)


DAYS = pd.date_range("2020-01-01", periods=5)


@pytest.mark.parametrize(
    ("times", "first", "message"),
    [
        (DAYS, 18262, r"'datetime64\[ns\]'.* row 1 has '2020-01-01.*'. Give times as numbers"),
        (pd.Series(DAYS), 18262, "row 1 has '2020-01-01 00:00:00'. Give times as numbers"),
        (pd.Series(DAYS.tz_localize("UTC")), 18262, r"row 1 has '2020-01-01 00:00:00\+00:00'. G"),
        (DAYS - DAYS[0], 0, r"'timedelta64\[ns\]'.* Give times as numbers"),
        (
            [datetime.date(2020, 1, day) for day in range(1, 6)],
            18262,
            "row 1 has '2020-01-01'. Give times as numbers",
        ),
    ],
)
def test_times__are_inputs_in_days_but_no_targets(times, first, message):
    expected = first + np.arange(5)
    np.testing.assert_array_equal(read_table(times, Y).X[:, 0], expected)
    np.testing.assert_array_equal(read_inputs(times).X[:, 0], expected)
    with pytest.raises(DataError, match=f"^the target is of type .*{message}"):
        read_table(X, times)


def test_times_beside_numbers__are_read_from_tables_and_rows():
    frame = pd.DataFrame({"time": DAYS, "load": pd.Series(Y, dtype="Int64")})
    for given in (frame, list(zip(DAYS, Y, strict=True))):
        np.testing.assert_array_equal(
            read_table(given, Y).X, np.column_stack([18262 + np.arange(5), Y])
        )
    assert read_table(frame, Y).labels[0] == "column 'time'"


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([*DAYS[:4], 3], r"input 1 is of type 'object'.* Give times as numbers"),
        ([*DAYS[:4], "2020-01-05"], r"input 1 is of type 'object'"),
        (["soon"] * 5, "row 1 has 'soon'. Convert the column"),
        (
            np.arange(5).astype("timedelta64[M]"),
            r"'timedelta64\[M\]'.* row 1 has '0 months'. Give t",
        ),
        ([[day, "a"] for day in DAYS], "input 2 is of type 'object'.* row 1 has 'a'"),
    ],
)
def test_columns_that_are_not_all_times__are_refused(times, message):
    with pytest.raises(DataError, match=message):
        read_table(times, Y)


@pytest.mark.parametrize(
    ("inputs", "labels", "names"),
    [
        (X, ("input 1", "input 2"), None),
        (X.tolist(), ("input 1", "input 2"), None),
        (X[:, 0], ("input 1",), None),
        (pd.DataFrame(X), ("input 1", "input 2"), None),
        (pd.DataFrame(X, columns=["load", 7]), ("column 'load'", "column 7"), None),
        (
            pd.DataFrame(X, columns=["load", "day"]),
            ("column 'load'", "column 'day'"),
            ("load", "day"),
        ),
        (pd.Series(X[:, 0], name="day"), ("column 'day'",), ("day",)),
        (pd.Series(X[:, 0]), ("input 1",), None),
    ],
)
def test_read_inputs__reads_inputs_alone_with_their_names(inputs, labels, names):
    found = read_inputs(inputs)
    np.testing.assert_array_equal(found.X, X[:, : len(labels)])
    assert (found.labels, found.names) == (labels, names)


@pytest.mark.parametrize(
    ("targets", "name"),
    [
        (Y, None),
        (pd.Series(Y), None),
        (pd.Series(Y, name="sold"), "sold"),
        (pd.Series(Y, name=7), None),
        (pd.DataFrame({"sold": Y}), "sold"),
    ],
)
def test_read_table__knows_the_name_of_the_target(targets, name):
    assert read_table(X, targets).target == name


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (X[None], "X is of type 'ndarray' and has 3 dimensions"),
        (X[:, :0], "X has no columns"),
        (
            pd.DataFrame({"city": list("abcde")}),
            "column 'city' is of type 'object'.* row 1 has 'a'",
        ),
        (["1", "2"], "input 1 is of type 'object', expected numbers: row 1 has '1'"),
    ],
)
def test_read_inputs__refuses_what_a_table_refuses(inputs, message):
    with pytest.raises(DataError, match=message):
        read_inputs(inputs)


def test_column_of_another_type__is_named():
    frame = pd.DataFrame({"load": Y, "city": list("abcde")})
    with pytest.raises(DataError, match=r"column 'city' is of type 'object'.* row 1 has 'a'"):
        read_table(frame, Y)
    mixed = [[1, 2], [3, "x"], ["y", 4], [5, 6], [7, 8]]
    with pytest.raises(DataError, match=r"input 2 is of type 'object'.* row 2 has 'x'"):
        read_table(mixed, Y)


@pytest.mark.parametrize("empty", [[], np.empty((0, 2)), pd.DataFrame({"a": []})])
def test_no_rows__are_a_table_all_the_same(empty):
    assert len(read_table(empty, []).X) == 0
