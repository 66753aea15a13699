import datetime

import pytest

from vbks import DataError
from vbks.data.files.layout import is_value, lay_out
from vbks.data.files.sheets import Sheet


def grid(*rows, comments=(), separator=","):
    rows = [list(row) for row in rows]
    places = list(range(1, len(rows) + 1))
    return lay_out(Sheet("f", rows, places, separator=separator, comments=list(comments)))


def values(found):
    return {name: column.tolist() for name, column in found.columns.items()}


def test_table__has_names_and_places():
    found = grid(("a", "b"), ("1", "2"), ("3", "4"))
    assert values(found) == {"a": ["1", "3"], "b": ["2", "4"]}
    assert found.place(1) == "line 3"
    assert found.notices == ()


def test_titles__are_left_out_and_told():
    found = grid(("Sales", "", ""), ("2014",), ("a", "b", "c"), ("1", "2", "3"), ("4", "5", "6"))
    assert [*found.columns] == ["a", "b", "c"]
    assert found.notices == ("The header is in line 3 ('a', 'b', 'c'): 2 rows above it left out.",)


@pytest.mark.parametrize("last", [("Total", "9"), ("Summe:", "9"), ("Grand total", "9"), ("note",)])
def test_totals_and_notes__are_left_out_and_told(last):
    found = grid(("a", "b"), ("2014-01-01", "2"), ("2014-01-02", "4"), last)
    assert values(found)["b"] == ["2", "4"]
    assert found.notices == (f"Line 4 ('{last[0]}') is no row of the table and was left out.",)


def test_date_without_a_target__is_a_row():
    assert len(values(grid(("a", "b"), ("2014-01-01", "2"), ("2014-01-02",)))["b"]) == 2


def test_names__are_each_there_once():
    found = grid(("a", "", "a", "a"), ("1", "2", "3", "4"), ("1", "2", "3", "4"))
    assert [*found.columns] == ["a", "Unnamed: 1", "a (2)", "a (3)"]
    assert len(found.notices) == 2
    assert "Another column 'a' is called 'a (2)' here." in found.notices


def test_columns_with_nothing__are_left_out_where_they_have_no_name():
    rows = ("a", "", "b"), ("1", "", "2"), ("3", "", "4")
    assert [*grid(*rows).columns] == ["a", "b"]


def test_names_of_rows__need_none():
    found = grid(("a", "b"), ("1", "5", "6"), ("2", "7", "8"))
    assert values(found) == {"Unnamed: 0": ["1", "2"], "a": ["5", "7"], "b": ["6", "8"]}


def test_header_in_a_comment__is_taken():
    found = grid(("1", "2"), ("3", "4"), comments=["by me", "a b"], separator=" ")
    assert values(found) == {"a": ["1", "3"], "b": ["2", "4"]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "'f' is empty"),
        ((("a", "b"),), "has a header and no rows"),
        ((("1", "2"), ("3", "4")), "the first row of 'f' has numbers or dates"),
        ((("2014-01-01", "2"), ("2014-01-02", "4")), "the first row of 'f' has numbers or dates"),
        ((("a", "b"), ("1", "2"), ("1", "2", "3")), "line 3 of 'f' has 3 cells between ','"),
    ],
)
def test_other_layouts__are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        grid(*rows)


def test_values__are_numbers_and_dates():
    assert all(map(is_value, ("1", "1,5", "2014-01", "NA", 5, datetime.date(2014, 1, 1))))
    assert not any(map(is_value, ("a", "note: 5", "price 1")))
