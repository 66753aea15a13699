import pytest

from vbks import DataError
from vbks.data.files.encodings import decode

TEXT = "größe;α\n1;2\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode__is_found_without_a_guess(encoding):
    assert decode(TEXT.encode(encoding), "f", None) == (TEXT, "")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("größe;verkäufe\n1;2\n", "cp1252"),
        ("prix;quantité\n5 €;2\n", "cp1252"),
        ("дата;продажи;сумма\n01.02.2014;1,5;2\n", "cp1251"),
        ("日付,売上\n2014-01-01,5\n2014-01-02,6\n", "shift_jis"),
    ],
)
def test_other_encodings__are_guessed_and_told(text, encoding):
    found, notice = decode(text.encode(encoding), "f", None)
    assert found == text
    assert "which fits best; --encoding says otherwise" in notice


def test_encoding__that_was_asked_for_decides():
    assert decode("größe".encode("cp437"), "f", "cp437") == ("größe", "")
    with pytest.raises(DataError, match=r"'f' is not written in ascii: .* Give another --encoding"):
        decode("größe".encode(), "f", "ascii")


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, b"\x00\x01\x02abc\x00\x03"])
def test_bytes_that_no_text_has__are_refused(data):
    with pytest.raises(DataError, match="'f' has bytes that no text has"):
        decode(data, "f", None)
