"""Saved selections of several targets: a folder with one of each, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vbks.errors import FileError, as_path
from vbks.selection.files import ARRAY_FILE, KIND, PLAIN_FILE, read_selection, save
from vbks.selection.record import SelectionRecord
from vbks.storage.folders import FolderPath, write_folder
from vbks.storage.plain_file import read_plain, write_plain
from vbks.storage.records import damaged
from vbks.version import __version__

NAMES_FILE = "targets.json"
"""The names of the targets, and whether they share a belief."""

SEVERAL = f"{KIND}s"
"""What tells it from any other JSON."""


def save_several(by_name: Mapping[str, SelectionRecord], shared: bool, folder: FolderPath) -> None:
    """Write selections to a folder, which may hold earlier ones but nothing else."""
    write_folder(
        folder, "the selections", _refuse_to_replace, lambda path: _write(by_name, shared, path)
    )


def is_several(folder: FolderPath) -> bool:
    """Whether a folder says that it has selections of several targets."""
    return (as_path("the folder", folder) / NAMES_FILE).is_file()


def read_several(folder: FolderPath) -> tuple[dict[str, SelectionRecord], bool]:
    """The selections that were saved to a folder, and whether they share a belief."""
    path = Path(folder)
    record = read_plain(path / NAMES_FILE)
    if record.values.get("kind") != SEVERAL:
        raise FileError(f"'{path / NAMES_FILE}' is not of saved selections. Give another folder.")
    names = record.texts("names")
    if not names or len({*names}) != len(names):
        raise damaged(f"{record.place} has no names of targets, or one of them twice")
    by_name = {name: read_selection(path / str(place)) for place, name in enumerate(names, 1)}
    return by_name, record.flag("shared")


def _write(by_name: Mapping[str, SelectionRecord], shared: bool, folder: Path) -> None:
    plain = {
        "kind": SEVERAL,
        "version": __version__,
        "names": list(by_name),
        "shared": shared,
    }
    write_plain(folder / NAMES_FILE, plain)
    for place, own in enumerate(by_name.values(), 1):
        save(own, folder / str(place))


def _refuse_to_replace(target: Path) -> None:
    """Refuse to put selections where something else is; an empty folder is nothing."""
    if not target.exists():
        return
    if not target.is_dir():
        raise FileError(f"'{target}' is not a folder. Give the path of a new folder.")
    for path in sorted(target.rglob("*")):
        is_known = path.name in (NAMES_FILE, PLAIN_FILE, ARRAY_FILE) or path.name.isdigit()
        if not is_known or not is_several(target):
            raise FileError(
                f"the folder '{target}' holds '{path.relative_to(target)}', which is no part of "
                "saved selections and would be lost. Give the path of a new folder."
            )
