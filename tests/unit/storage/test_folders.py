"""Tests of folders that are written completely or not at all."""

from pathlib import Path

import pytest

from vbks.errors import FileError
from vbks.storage.folders import refuse_unless_empty, write_folder


def written(text: str):
    def write(folder: Path) -> None:
        (folder / "inner").mkdir()
        (folder / "inner" / "a").write_text(text)

    return write


def test_folder__is_there_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "new"
    write_folder(target, "the thing", refuse_unless_empty, written("x"))
    assert (target / "inner" / "a").read_text() == "x"
    assert list(tmp_path.iterdir()) == [target]


def test_folder__is_replaced_where_that_is_allowed(tmp_path: Path) -> None:
    target = tmp_path / "new"
    for text in ("x", "y"):
        write_folder(target, "the thing", lambda path: None, written(text))
    assert (target / "inner" / "a").read_text() == "y"
    assert list(tmp_path.iterdir()) == [target]


def test_folder__stays_as_it_was_if_writing_fails(tmp_path: Path) -> None:
    target = tmp_path / "new"
    write_folder(target, "the thing", refuse_unless_empty, written("x"))

    def broken(folder: Path) -> None:
        (folder / "half").write_text("y")
        raise OSError(28, "No space left on device")

    with pytest.raises(FileError, match=r"the thing cannot be written to .*: No space left"):
        write_folder(target, "the thing", lambda path: None, broken)
    assert (target / "inner" / "a").read_text() == "x"
    assert list(tmp_path.iterdir()) == [target]


def test_folder__that_holds_anything_is_refused(tmp_path: Path) -> None:
    refuse_unless_empty(tmp_path)
    refuse_unless_empty(tmp_path / "nothing")
    (tmp_path / "a").write_text("x")
    with pytest.raises(FileError, match="holds 'a', which would be lost"):
        refuse_unless_empty(tmp_path)
    with pytest.raises(FileError, match="is not a folder"):
        refuse_unless_empty(tmp_path / "a")
