import io

import openpyxl
import pytest

from vbks import DataError
from vbks.data.files.settings import FileSettings
from vbks.data.files.workbooks import read_workbook


def workbook(*rows):
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def read(data, **settings):
    return read_workbook(data, "f", "xlsx", FileSettings(**settings))


def test_rows__are_those_with_something_in_them():
    sheet = read(workbook((), (None, "a", "b"), (None, 1, None), (), (None, 2.5, "x")))
    assert sheet.rows == [["a", "b"], [1, None], [2.5, "x"]]
    assert sheet.places == [2, 3, 5]
    assert sheet.place_name == "row"


def test_texts_of_missing_values__stay_as_they_are():
    assert read(workbook(("a", "b"), ("NA", 1), ("null", 2))).rows[1:] == [["NA", 1], ["null", 2]]


def test_broken_workbook__is_refused():
    with pytest.raises(DataError, match=r"'f' cannot be read as a workbook: .* Save it once more"):
        read(workbook(("a", "b"))[:-30])
    assert read(workbook()).rows == []
