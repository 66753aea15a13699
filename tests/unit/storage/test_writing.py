"""Tests of files that are written completely or not at all."""

from pathlib import Path
from typing import IO

import pytest

from vbks.storage.writing import write_file


def test_file__is_there_as_a_whole_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"before")
    write_file(file, lambda stream: stream.write(b"after"))
    assert file.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [file]


def test_file__stays_as_it_was_if_writing_fails(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"before")

    def broken(stream: IO[bytes]) -> None:
        stream.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(file, broken)
    assert file.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [file]
