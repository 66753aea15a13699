import pytest

from vbks import DataError
from vbks.data.files.settings import FileSettings
from vbks.data.files.text_files import read_text


def read(text, **settings):
    return read_text(text.encode(), "f", FileSettings(**settings))


def test_rows__know_their_lines():
    sheet = read('# from me\na,b\n\n1,2\r\n"3\n4",5\n6,7\n')
    assert sheet.rows == [["a", "b"], ["1", "2"], ["3\n4", "5"], ["6", "7"]]
    assert sheet.places == [2, 4, 5, 7]
    assert sheet.comments == ["from me"]
    assert sheet.separator == ","


def test_errors_of_spreadsheets__are_no_comments():
    assert read("a,b\n#N/A,1\n#DIV/0!,2\n#1,3\n").rows[1:] == [["#N/A", "1"], ["#DIV/0!", "2"]]


def test_separator__that_the_file_or_the_call_says_decides():
    assert read("sep=|\na|b\n").rows == [["a", "b"]]
    assert read("a;b\n1;2\n", sep=",").rows == [["a;b"], ["1;2"]]


def test_open_quotation_mark__is_named():
    with pytest.raises(DataError, match="line 2 of 'f' has a quotation mark that is not closed"):
        read('a,b\n1,"2\n' + "3,4\n" * 200)


def test_huge_cell__is_named():
    with pytest.raises(DataError, match="line 2 of 'f' cannot be read: field larger"):
        read("a,b\n" + "1" * 200_000 + ",2\n")
