import pytest
from support.selections import HOSTILE

from vbks.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe in m² – „x“ 日本", "Größe in m² – „x“ 日本"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("one\ntwo\r\tthree\x07\x9b", "one\\ntwo\\r\\tthree\\x07\\x9b"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800 \u2028", "\\ud800 \\u2028"),
    ],
)
def test_printable__shows_what_would_steer_a_terminal(text, shown):
    assert printable(text) == shown


def test_printable__leaves_nothing_that_is_hostile():
    assert printable(HOSTILE).isprintable()
