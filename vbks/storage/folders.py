"""Folders that are written completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from vbks.errors import FileError, as_path
from vbks.storage.writing import sync

FolderPath: TypeAlias = "str | PathLike[str]"


def write_folder(
    folder: FolderPath,
    what: str,
    refuse_to_replace: Callable[[Path], None],
    write: Callable[[Path], None],
) -> None:
    """Have a new folder written beside the one that is meant, and put it in its place when whole.

    ``what`` is what messages call it; ``refuse_to_replace`` raises if something there must stay.
    """
    target = Path(os.path.realpath(as_path("the folder", folder)))
    temporary = _beside(target, "tmp")
    try:
        refuse_to_replace(target)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        write(temporary)
        _sync_all(temporary)
        _put_in_place(temporary, target)
    except OSError as error:
        raise FileError(
            f"{what} cannot be written to '{target}': {error.strerror or error}. Give a folder "
            "that can be written to and has space; what was there is as it was."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def refuse_unless_empty(target: Path) -> None:
    """Refuse a folder that holds anything, and what is no folder."""
    if target.exists() and not target.is_dir():
        raise FileError(f"'{target}' is not a folder. Give the path of a new folder.")
    name = min((path.name for path in target.iterdir()), default=None) if target.exists() else None
    if name is not None:
        raise FileError(
            f"the folder '{target}' holds '{name}', which would be lost. Give the path of a new "
            "folder."
        )


def _put_in_place(temporary: Path, target: Path) -> None:
    """Rename the new folder; what it replaces is moved aside before, and back if that fails."""
    earlier = _beside(target, "old")
    shutil.rmtree(earlier, ignore_errors=True)
    try:
        if target.exists():
            target.rename(earlier)
        temporary.rename(target)
    except BaseException:
        if earlier.exists() and not target.exists():
            earlier.rename(target)
        raise
    sync(target.parent)
    shutil.rmtree(earlier, ignore_errors=True)


def _beside(target: Path, purpose: str) -> Path:
    """A hidden folder on the same disk, of this process alone."""
    return target.parent / f".{target.name}.{purpose}-{os.getpid()}"


def _sync_all(folder: Path) -> None:
    """Have all that is below a folder reach the disk, and its name after its content."""
    for path in folder.iterdir():
        if path.is_dir():
            _sync_all(path)
        else:
            sync(path)
    sync(folder)
