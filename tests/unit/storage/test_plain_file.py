"""Tests of JSON files with named values."""

from pathlib import Path

import pytest

from vbks.errors import FileError
from vbks.storage.plain_file import read_plain, write_plain


def test_values__come_back(tmp_path: Path) -> None:
    file, values = tmp_path / "a.json", {"name": "θ", "num": 3, "inner": {"a": [1, None]}}
    write_plain(file, values)
    assert read_plain(file).values == values
    assert file.read_bytes().isascii()


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1', "", '{"a": Infinity}', "[" * 100_000])
def test_text__that_is_not_json_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(FileError, match=r"is not JSON that can be read"):
        read_plain(file)


def test_file__that_is_not_there_is_said_and_a_list_has_no_names(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_plain(tmp_path / "b.json")
    file = tmp_path / "list.json"
    file.write_text("[1, 2]")
    with pytest.raises(FileError, match="has no 'a'"):
        read_plain(file).text("a")


def test_not_a_number__is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_plain(tmp_path / "a.json", {"a": float("nan")})
    assert not list(tmp_path.iterdir())
