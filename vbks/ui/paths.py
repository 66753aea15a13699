"""Files and folders that are written to, looked at before the work and not after it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from vbks.errors import FileError

PICTURES = (".png", ".svg", ".pdf")
"""Endings of pictures."""

TABLES = (".csv", ".json")
"""Endings of tables."""

PAGES = (".html", ".htm", ".json")
"""Endings of reports: pages, and their data."""


def is_selection(folder: Path) -> bool:
    """Whether a folder holds a saved selection."""
    return (folder / "selection.json").is_file()


def refuse_without_selection(folder: Path) -> None:
    """Refuse a folder that `vbks fit` has not written."""
    if not is_selection(folder):
        raise FileError(f"'{folder}' holds no saved selection. Give a folder of `vbks fit`.")


def refuse_existing(path: Path, force: bool) -> None:
    """Refuse to replace what is there unless asked to, and to write where that is not possible."""
    if path.exists() and not force:
        raise FileError(f"'{path}' exists already. Give another --out, or --force to replace it.")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise FileError(f"there is no folder '{path.parent}' to write to. Make it first.")
    if not os.access(parent, os.W_OK):
        raise FileError(f"the folder '{path.parent}' cannot be written to. Give another --out.")


def refuse_file(
    path: Path | None, endings: Sequence[str], force: bool, option: str = "--out"
) -> None:
    """Refuse a file, if one is given, that has another ending or could not be written."""
    if path is None:
        return
    if path.suffix.lower() not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise FileError(f"'{path}' does not end in {known}. Give another {option}.")
    if path.is_dir():
        raise FileError(f"'{path}' is a folder, not a file. Give another {option}.")
    refuse_existing(path, force)


def refuse_checkpoint(folder: Path | None) -> None:
    """Refuse a place for finished work that is no folder and cannot become one."""
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise FileError(f"'{folder}' is a file, not a folder. Give another --checkpoint.")
    if not folder.exists() and not folder.absolute().parent.is_dir():
        raise FileError(f"there is no folder '{folder.parent}' to write to. Make it first.")


def refuse_unusable(folder: Path) -> None:
    """Find out before the fit, and not after it, that a folder cannot be written."""
    if folder.exists():
        if not is_selection(folder):
            raise FileError(f"'{folder}' holds no selection, so it stays. Give another --out.")
        return
    try:
        folder.mkdir()
        folder.rmdir()
    except OSError as error:
        raise FileError(
            f"'{folder}' cannot be written: {error.strerror}. Give another --out."
        ) from None
