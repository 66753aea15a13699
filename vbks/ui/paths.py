"""Files and folders that are written to, looked at before the work and not after it."""

from __future__ import annotations

from pathlib import Path

from vbks.errors import FileError


def is_selection(folder: Path) -> bool:
    """Whether a folder holds a saved selection."""
    return (folder / "selection.json").is_file()


def refuse_existing(path: Path, force: bool) -> None:
    """Refuse to replace what is there unless asked to, and to write where there is no folder."""
    if path.exists() and not force:
        raise FileError(f"'{path}' exists already. Give another --out, or --force to replace it.")
    if not path.absolute().parent.is_dir():
        raise FileError(f"there is no folder '{path.parent}' to write to. Make it first.")


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
