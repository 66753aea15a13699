import pandas as pd
import pytest

from vbks import DataError
from vbks.data.files.opening import open_file
from vbks.data.files.settings import FileSettings


@pytest.fixture
def opened(tmp_path):
    def opened(text, **settings):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return open_file(path, FileSettings(**settings))

    return opened


TEXT = "day,shop,sold,note\n2014-01-01,a,1.5,\n2014-01-02,b,2,\n"


def test_columns__have_kinds(opened):
    table = opened(TEXT)
    assert [table.kind(name) for name in table.names] == ["dates", "texts", "numbers", "nothing"]
    assert table.num_rows == 2
    assert table.cells("sold").tolist() == ["1.5", "2"]
    assert table.reading("sold").values.tolist() == [1.5, 2]


def test_other_columns__are_refused_when_they_are_used(opened):
    table = opened(TEXT)
    with pytest.raises(
        DataError, match=r"column 'shop' of '.*data.csv' has 'a' in line 2, expected"
    ):
        table.reading("shop")
    with pytest.raises(DataError, match=r"column 'note' of '.*' has nothing in it"):
        table.reading("note")


def test_decimal_marks__of_other_columns_decide(opened):
    table = opened("a;b;c\n1,5;1.234;1,234\n2,5;987;3,456\n")
    assert table.reading("b").values.tolist() == [1234, 987]
    assert table.reading("c").values.tolist() == [1.234, 3.456]
    assert opened("a;b\n5;1,234\n6;3,456\n").reading("b").values.tolist() == [1.234, 3.456]
    assert opened('a,b\n5,"1,234"\n6,"3,456"\n').reading("b").values.tolist() == [1234, 3456]


def test_faults__name_file_column_and_line(opened):
    table = opened("a,b\n1,2\n2,3\nx,4\n")
    with pytest.raises(
        DataError, match=r"column 'a' of '.*data.csv' has 'x' in line 4, which is no"
    ):
        table.kind("a")


def test_long_cells__are_cut_in_messages(opened):
    table = opened("a,b\n1,2\n2,3\n" + "x" * 500 + ",4\n")
    with pytest.raises(DataError, match=r"has 'x{40}\.\.\.' in line 4"):
        table.kind("a")


def test_times_of_a_column__are_read_by_what_was_asked_for(opened):
    table = opened("a,b\n01/02/2014,2\n01/03/2014,3\n", date_format="dd/mm/yyyy")
    assert table.reading("a").values[0] == pd.Timestamp("2014-02-01", tz="UTC")
