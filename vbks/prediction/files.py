"""Saved selections: a folder with plain values as JSON and numbers as NumPy arrays, no pickle.

A folder is written completely or not at all. What is read may come from anywhere: it is checked,
takes little more memory than its files are large, and is never run.
"""

from __future__ import annotations

import json
import os
import shutil
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from vbks.arrays import Array
from vbks.errors import FileError
from vbks.grammar.quoting import quote
from vbks.prediction.encoding import ARRAYS, decode, encode
from vbks.prediction.selection import Selection
from vbks.storage.array_file import read_arrays
from vbks.storage.records import Record, damaged
from vbks.version import __version__

FORMAT = 1
"""Number of the format that is written; those up to it are read."""

KIND = "vbks selection"
"""What tells our JSON from any other."""

PLAIN_FILE, ARRAY_FILE = "selection.json", "arrays.npz"

FolderPath: TypeAlias = "str | PathLike[str]"


def save(selection: Selection, folder: FolderPath) -> None:
    """Write a selection to a folder, which may hold an earlier one but nothing else."""
    plain, arrays = encode(selection)
    target = Path(os.path.realpath(folder))
    temporary = _beside(target, "tmp")
    try:
        _refuse_to_replace(target)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        _write(temporary, {"kind": KIND, "format": FORMAT, "version": __version__, **plain}, arrays)
        _put_in_place(temporary, target)
    except OSError as error:
        raise FileError(
            f"the selection cannot be written to '{target}': {error.strerror or error}. Give a "
            "folder that can be written to and has space; what was there is as it was."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load(folder: FolderPath) -> Selection:
    """The selection that was saved to a folder."""
    path = Path(folder)
    record, file = _read_plain(path), path / ARRAY_FILE
    return decode(record, read_arrays(file, ARRAYS), f"'{file}'")


def _refuse_to_replace(target: Path) -> None:
    """Refuse to put a selection where something else is; an empty folder is nothing."""
    if not target.exists():
        return
    if not target.is_dir():
        raise FileError(f"'{target}' is not a folder. Give the path of a new folder.")
    names = sorted(path.name for path in target.iterdir())
    for name in names:
        if name not in (PLAIN_FILE, ARRAY_FILE):
            raise FileError(
                f"the folder '{target}' holds '{name}', which is no part of a selection and would "
                "be lost. Give the path of a new folder."
            )
    if names and not _is_selection(target):
        raise FileError(
            f"the folder '{target}' holds other files than those of a selection, which would be "
            "lost. Give the path of a new folder."
        )


def _is_selection(folder: Path) -> bool:
    try:
        _read_plain(folder)
    except FileError:
        return False
    return True


def _write(folder: Path, plain: dict[str, Any], arrays: dict[str, Array]) -> None:
    text = json.dumps(plain, allow_nan=False, indent=1)
    with open(folder / PLAIN_FILE, "wb") as file:
        file.write(text.encode("ascii"))
        file.flush()
        os.fsync(file.fileno())
    with open(folder / ARRAY_FILE, "wb") as file:
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    _sync(folder)


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
    _sync(target.parent)
    shutil.rmtree(earlier, ignore_errors=True)


def _beside(target: Path, purpose: str) -> Path:
    """A hidden folder on the same disk, of this process alone."""
    return target.parent / f".{target.name}.{purpose}-{os.getpid()}"


def _sync(folder: Path) -> None:
    """Have the names in a folder reach the disk, where the system can be asked to."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read_plain(folder: Path) -> Record:
    """The plain values of a saved selection of a format that is known."""
    file = _plain_file(folder)
    try:
        values = json.loads(file.read_bytes(), parse_constant=_refuse_constant)
    except OSError as error:
        raise FileError(
            f"'{file}' cannot be read: {error.strerror or error}. Ask its owner for access."
        ) from error
    except (ValueError, RecursionError) as error:
        raise damaged(f"'{file}' is not JSON that can be read: {error}") from None
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise FileError(f"'{file}' is not of a saved selection. Give a folder that holds one.")
    record = Record(values, f"'{file}'")
    number = record.count("format")
    if number < 1:
        raise record.wrong("format", number, "a number from 1 on")
    if number > FORMAT:
        raise FileError(
            f"'{folder}' was written by vbks {quote(values.get('version'))} in format {number}, "
            f"and vbks {__version__} reads formats up to {FORMAT}. Install a newer vbks."
        )
    return record


def _plain_file(folder: Path) -> Path:
    if not folder.exists():
        raise FileError(f"there is no folder '{folder}'. Check the path.")
    if not folder.is_dir():
        raise FileError(f"'{folder}' is a file. Give the folder of a saved selection.")
    file = folder / PLAIN_FILE
    if not file.is_file():
        raise FileError(
            f"'{folder}' holds no saved selection, as there is no file '{PLAIN_FILE}' in it. "
            "Give a folder that holds one."
        )
    return file


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number there")
