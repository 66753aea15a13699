"""Saved selections of several targets: a folder with one of each, and their names."""

from __future__ import annotations

from pathlib import Path

from vbks.errors import FileError
from vbks.selection.files import ARRAY_FILE, KIND, PLAIN_FILE, load_one, save
from vbks.selection.selections import Selections
from vbks.storage.folders import FolderPath, write_folder
from vbks.storage.plain_file import read_plain, write_plain
from vbks.storage.records import damaged
from vbks.version import __version__

NAMES_FILE = "targets.json"
"""The names of the targets, and whether they share a belief."""

SEVERAL = f"{KIND}s"
"""What tells it from any other JSON."""


def save_several(selections: Selections, folder: FolderPath) -> None:
    """Write selections to a folder, which may hold earlier ones but nothing else."""
    write_folder(
        folder, "the selections", _refuse_to_replace, lambda path: _write(selections, path)
    )


def is_several(folder: FolderPath) -> bool:
    """Whether a folder says that it has selections of several targets."""
    return (Path(folder) / NAMES_FILE).is_file()


def load_several(folder: FolderPath) -> Selections:
    """The selections that were saved to a folder."""
    path = Path(folder)
    record = read_plain(path / NAMES_FILE)
    if record.values.get("kind") != SEVERAL:
        raise FileError(f"'{path / NAMES_FILE}' is not of saved selections. Give another folder.")
    names = record.texts("names")
    if not names or len({*names}) != len(names):
        raise damaged(f"{record.place} has no names of targets, or one of them twice")
    by_name = {name: load_one(path / str(place)) for place, name in enumerate(names, 1)}
    return Selections(by_name, record.flag("shared"))


def _write(selections: Selections, folder: Path) -> None:
    plain = {
        "kind": SEVERAL,
        "version": __version__,
        "names": list(selections.names),
        "shared": selections.shared,
    }
    write_plain(folder / NAMES_FILE, plain)
    for place, own in enumerate(selections.by_name.values(), 1):
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
