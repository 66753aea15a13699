import pandas as pd
import pytest

from vbks import DataError
from vbks.data.csv_files import (
    Columns,
    choose_columns,
    choose_inputs,
    describe,
    read_csv,
    with_dates,
)


@pytest.fixture
def write(tmp_path):
    def write(text, encoding="utf-8"):
        file = tmp_path / "data.csv"
        file.write_bytes(text.encode(encoding))
        return file

    return write


TABLE = pd.DataFrame({"a": [1.0, 2.0], "place": ["x", "y"], "b": [3, 4], "c": [5.0, 6.0]})


def test_read_csv__reads_numbers_and_texts(write):
    table = read_csv(write("\ufeffmonth, load\n2020-01, 1.5\n2020-02, 2\n"))
    assert list(table.columns) == ["month", "load"]
    assert table["load"].tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty. Give a header and rows"),
        ("a,b\n", "has a header and no rows"),
        ("1.0,2.0\n3.0,4.0\n", "the first row of .* has numbers"),
        ("a,b\n1,2,3\n4,5,6\n", "more cells than its header"),
        ("a,b\n1,2\n4,5,6\n", "cannot be read as CSV: .* line 3"),
    ],
)
def test_read_csv__refuses_what_is_no_table(write, text, message):
    with pytest.raises(DataError, match=message):
        read_csv(write(text))


def test_read_csv__refuses_other_encodings(write):
    with pytest.raises(DataError, match="cannot be read as CSV: 'utf-8' codec"):
        read_csv(write("größe,b\n1,2\n", "latin-1"))


def test_read_csv__refuses_what_is_not_there(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_csv(tmp_path)


@pytest.mark.parametrize(
    "cells",
    [
        ["1949-01", "1949-02"],
        ["1949-01-01", "1949-02-01"],
        ["01/01/1949", "02/01/1949"],
        ["1949-01-01 00:00:00+00:00", "1949-02-01 01:00:00+01:00"],
        ["1949-01-01", "1949-02-01T00:00:00"],
        ["1 Jan 1949", "1 Feb 1949"],
    ],
)
def test_dates__are_found_in_texts(cells):
    column = with_dates(pd.DataFrame({"month": cells}))["month"]
    assert column.tolist() == [
        pd.Timestamp("1949-01-01", tz="UTC"),
        pd.Timestamp("1949-02-01", tz="UTC"),
    ]


def test_dates__may_be_missing():
    column = with_dates(pd.DataFrame({"day": ["2020-01-01", None]}))["day"]
    assert column.isna().tolist() == [False, True]


@pytest.mark.parametrize(
    "cells",
    [["Mon", "Tue"], ["may", "june"], ["A1", "B2"], ["12:30", "12:31"], ["2020-01-01", "soon"]],
)
def test_dates__are_not_found_in_other_texts(cells):
    assert with_dates(pd.DataFrame({"a": cells}))["a"].tolist() == cells


def test_texts_among_numbers__are_left_alone():
    assert with_dates(pd.DataFrame({"a": ["1.5", "?"]}))["a"].tolist() == [1.5, "?"]


def test_with_dates__changes_a_copy():
    table = pd.DataFrame({"day": ["2020-01-01"]})
    with_dates(table)
    assert table["day"].tolist() == ["2020-01-01"]


def test_choose_columns__takes_the_last_as_target_and_leaves_texts_out():
    assert choose_columns(TABLE) == Columns(("a", "b"), "c", ("place",))
    assert choose_columns(TABLE, target="a") == Columns(("b", "c"), "a", ("place",))
    assert choose_columns(TABLE, ["c"]) == Columns(("c",), "b")
    assert choose_columns(TABLE, ["b", "a", "b"], "c") == Columns(("b", "a"), "c")


@pytest.mark.parametrize(
    ("inputs", "target", "message"),
    [
        (["d"], None, "no column 'd'. The columns: a, place, b, c"),
        ([], "d", "no column 'd'"),
        (["a"], "a", "'a' is an input and the target"),
        (["a", "place", "b", "c"], None, "none is left for the target"),
    ],
)
def test_choose_columns__names_what_is_wrong(inputs, target, message):
    with pytest.raises(DataError, match=message):
        choose_columns(TABLE, inputs, target)


def test_choose_columns__wants_something_to_explain_the_target_by():
    with pytest.raises(DataError, match=r"The columns: 'a;b'. They are separated by commas"):
        choose_columns(pd.DataFrame({"a;b": ["1;2"]}))
    with pytest.raises(DataError, match="no column of numbers or dates"):
        choose_columns(TABLE[["place", "c"]])


def test_choose_inputs__are_those_of_the_fit():
    assert choose_inputs(TABLE, ("c", "a"), 2) == ["c", "a"]
    assert choose_inputs(TABLE[["a", "b"]], None, 2) == ["a", "b"]
    with pytest.raises(DataError, match="no column 'month'"):
        choose_inputs(TABLE, ("month",), 1)
    with pytest.raises(DataError, match="4 columns, but the selection was fitted to 2"):
        choose_inputs(TABLE, None, 2)


def test_describe__says_what_was_taken():
    table = with_dates(TABLE.assign(a=["2020-01-01", "2020-03-01"]))
    assert describe(table, choose_columns(table)) == (
        "2 rows: c explained by a (dates from 2020-01-01 to 2020-03-01) and b. "
        "Left out, as they have texts: place."
    )
