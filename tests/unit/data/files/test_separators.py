import pytest

from vbks.data.files.separators import find_separator, spaced_rows


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["a,b", "1,2"], ","),
        (["a;b", "1,5;2,5", "2,5;3,5"], ";"),
        (["a;b,c", "1,5;2,5", "2,5;3,5"], ";"),
        (["a\tb", "1,5\t2,5"], "\t"),
        (["a|b", "1|2"], "|"),
        (["a,b", '"1;2",3', '"4;5",6'], ","),
        (["Sales, 2014", "", "a;b;c", "1;2;3", "4;5;6"], ";"),
        (["a  b", "1  2", "10 20"], " "),
        (["a b", "1 1 2", "2 3 4"], " "),
        (["a", "1", "2"], ","),
        (["a b", "1", "2"], ","),
        (["a,b", "1,2", "3", "4,5"], ","),
        ([], ","),
    ],
)
def test_separator__is_what_most_lines_agree_on(lines, separator):
    assert find_separator(lines) == separator


def test_spaced_rows__keep_what_is_quoted():
    assert [*spaced_rows(['"a b"   c', "  1 2  "])] == [["a b", "c"], ["1", "2"]]
