import numpy as np
import pandas as pd
import pytest

from vbks import DataError
from vbks.data.files.choosing import Columns, choose_columns, read_inputs, read_rows
from vbks.data.files.opening import open_file

TEXT = "a,place,b,c\n1.5,x,3,5\n2.5,y,4,6\n3.5,x,9,9\n"


@pytest.fixture
def opened(tmp_path):
    def opened(text=TEXT):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return open_file(path)

    return opened


def test_columns__last_of_numbers_is_the_target_and_texts_are_left_out(opened):
    table = opened()
    assert choose_columns(table) == Columns(("a", "b"), "c", ("place",), is_target_guessed=True)
    assert choose_columns(table, target="a") == Columns(("b", "c"), "a", ("place",))
    assert choose_columns(table, ["c"]) == Columns(("c",), "b", is_target_guessed=True)
    assert choose_columns(table, ["b", "a", "b"], "c") == Columns(("b", "a"), "c")
    assert choose_columns(table, others=["c"]).inputs == ("a",)


@pytest.mark.parametrize(
    ("inputs", "target", "message"),
    [
        (["d"], None, "no column 'd'. The columns: a, place, b, c"),
        ([], "d", "no column 'd'"),
        (["a"], "a", "'a' is an input and the target"),
        (["a", "place", "b", "c"], None, "none is left for the target"),
    ],
)
def test_columns__that_were_named_are_checked(opened, inputs, target, message):
    with pytest.raises(DataError, match=message):
        choose_columns(opened(), inputs, target)


def test_columns_that_count_rows__are_left_out_beside_others(opened):
    found = read_rows(opened("id,day,y\n1,2014-01-01,5\n2,2014-01-02,6\n3,2014-01-03,7\n"))
    assert found.columns.inputs == ("day",)
    assert "Left out, as they count rows: id." in found.summary
    assert choose_columns(opened("id,y\n1,5\n2,6\n3,7\n")).inputs == ("id",)
    assert choose_columns(opened("id,x,y\n7,1,5\n2,2,6\n3,3,7\n")).inputs == ("id", "x")
    assert choose_columns(opened("t,x,y\n1,1,5\n2,2,6\n3,3,7\n")).inputs == ("t", "x")
    named = choose_columns(opened("id,x,y\n1,1,5\n2,2,6\n3,3,7\n"), ["id"])
    assert named.inputs == ("id",)
    last = choose_columns(opened("day,y,id\n2014-01-01,5,1\n2014-01-02,6,2\n2014-01-03,7,3\n"))
    assert (last.target, last.counting) == ("y", ("id",))


def test_target__has_numbers(opened):
    table = opened("day,y,when\n2014-01-01,5,2015-01-01\n2014-01-02,6,2015-01-02\n")
    assert read_rows(table).columns.target == "y"
    with pytest.raises(
        DataError, match=r"column 'when' of '.*' has '2015-01-01' in line 2, expected"
    ):
        read_rows(table, target="when")


def test_rows__have_what_was_read_and_what_to_tell(opened):
    found = read_rows(opened("day;y;sd\n28.02.2014;1,5;0,1\n01.03.2014;2,5;0,2\n"), noise="sd")
    assert found.X["day"].tolist() == [*pd.to_datetime(["2014-02-28", "2014-03-01"], utc=True)]
    assert found.y.tolist() == [1.5, 2.5]
    assert found.noise.tolist() == [0.1, 0.2]
    assert found.summary == "2 rows: y explained by day (dates from 2014-02-28 to 2014-03-01)."
    assert found.notices == (
        "day: read as day.month.year ('28.02.2014' is 2014-02-28).",
        "y, sd: read with a decimal comma ('1,5' is 1.5).",
    )


def test_numbers_for_missing_values__are_told(opened):
    text = "x,y\n" + "".join(f"{k},{k}\n" for k in range(9))
    (notice,) = read_rows(opened(text + "9,-999\n10,-999\n")).notices
    assert notice.startswith("y is -999 in 2 rows, far from all others")
    assert read_rows(opened(text + "9,-99\n10,-60\n")).notices == ()


def test_read_inputs__are_those_of_the_fit(opened):
    np.testing.assert_array_equal(
        read_inputs(opened(), ("c", "a"), 2), [[5, 1.5], [6, 2.5], [9, 3.5]]
    )
    with pytest.raises(DataError, match="no column 'month'"):
        read_inputs(opened(), ("month",), 1)
    with pytest.raises(DataError, match="4 columns, but the selection was fitted to 2"):
        read_inputs(opened(), None, 2)
    assert list(read_inputs(opened("a,b\n1,2\n3,4\n"), None, 2)) == ["a", "b"]
