import os

import pytest

from vbks.errors import FileError
from vbks.ui.paths import PICTURES, refuse_existing, refuse_file


def test_refuse_file__takes_what_can_be_written(tmp_path):
    refuse_file(None, PICTURES, False)
    refuse_file(tmp_path / "a.PNG", PICTURES, False)
    (tmp_path / "b.svg").write_text("mine")
    refuse_file(tmp_path / "b.svg", PICTURES, True)
    assert (tmp_path / "b.svg").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.xyz", r"'.*a\.xyz' does not end in \.png, \.svg or \.pdf\. Give another --plot\."),
        ("a", "does not end in"),
        ("folder.png", "is a folder, not a file"),
        ("there.png", "exists already"),
        ("none/a.png", "there is no folder"),
    ],
)
def test_refuse_file__names_the_option(tmp_path, name, message):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "there.png").touch()
    with pytest.raises(FileError, match=message):
        refuse_file(tmp_path / name, PICTURES, False, "--plot")


def test_refuse_existing__refuses_folders_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(FileError, match="cannot be written to"):
        refuse_existing(tmp_path / "a.png", False)
