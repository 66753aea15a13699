"""Saved selections: a folder with plain values as JSON and numbers as NumPy arrays, no pickle.

A folder is written completely or not at all. What is read may come from anywhere: it is checked,
takes little more memory than its files are large, and is never run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.errors import FileError
from vbks.grammar.quoting import quote
from vbks.selection.encoding import ARRAYS, decode, encode
from vbks.selection.old_formats import array_names, upgraded
from vbks.selection.record import SelectionRecord
from vbks.storage.array_file import read_arrays, write_arrays
from vbks.storage.family_encoding import check_families, encode_families
from vbks.storage.folders import FolderPath, write_folder
from vbks.storage.plain_file import read_plain, write_plain
from vbks.storage.records import Record
from vbks.version import __version__

FORMAT = 6
"""Number of the format that is written; those up to it are read."""

OLD_FORMATS = 5
"""Formats up to this one are rewritten when they are read."""

KIND = "vbks selection"
"""What tells our JSON from any other."""

HEADER = ("kind", "format", "version", "families")
"""Values that are about the file and what it needs, not about the selection."""

ADDED = {"target_name": None}
"""Values that the first files of the newest format do not have."""

ADDED_TO_FITS = {"theta_samples": None}
"""Values of fits that the first files of the newest format do not have, and their arrays."""

PLAIN_FILE, ARRAY_FILE = "selection.json", "arrays.npz"

REPORTS = ("report.html", "report.json")
"""Reports that a folder may hold beside a selection, which are of it and go with it."""

REPORT_KIND = b"vbks report"
"""What tells our reports from files of the same name, among the first bytes."""


def save(selection: SelectionRecord, folder: FolderPath) -> None:
    """Write a selection to a folder, which may hold an earlier one but nothing else."""
    plain, arrays = encode(selection)
    families = encode_families(fit.expression for fit in selection.fits)
    plain = {"kind": KIND, "format": FORMAT, "version": __version__, **families, **plain}
    write_folder(
        folder, "the selection", _refuse_to_replace, lambda path: _write(path, plain, arrays)
    )


def read_selection(folder: FolderPath) -> SelectionRecord:
    """Everything of the selection that was saved to a folder."""
    path = Path(folder)
    record, file = _read_plain(path), path / ARRAY_FILE
    number = record.count("format")
    if number <= OLD_FORMATS:
        found = read_arrays(file, array_names(number))
        return decode(*upgraded(record, found), f"'{file}'")
    check_families(Record.of({"families": record.value("families")}, record.place))
    values = {name: value for name, value in record.values.items() if name not in HEADER}
    values, missing = _completed({**ADDED, **values})
    arrays = read_arrays(file, [name for name in ARRAYS if name not in missing])
    arrays |= {name: np.zeros(0) for name in missing}
    return decode(Record.of(values, record.place), arrays, f"'{file}'")


def _completed(values: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Plain values with those that no fit has, and the names of the arrays that are missing."""
    fits = values.get("fits")
    is_list = isinstance(fits, list) and all(isinstance(fit, dict) for fit in fits)
    if not is_list or not fits:
        return values, set()
    missing = {name for name in ADDED_TO_FITS if not any(name in fit for fit in fits)}
    more = {name: ADDED_TO_FITS[name] for name in missing}
    return {**values, "fits": [{**fit, **more} for fit in fits]}, missing


def _refuse_to_replace(target: Path) -> None:
    """Refuse to put a selection where something else is; an empty folder is nothing."""
    if not target.exists():
        return
    if not target.is_dir():
        raise FileError(f"'{target}' is not a folder. Give the path of a new folder.")
    names = sorted(path.name for path in target.iterdir())
    for name in names:
        if name not in (PLAIN_FILE, ARRAY_FILE) and not _is_report(target / name):
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


def _is_report(file: Path) -> bool:
    if file.name not in REPORTS or not file.is_file():
        return False
    with open(file, "rb") as stream:
        return REPORT_KIND in stream.read(500)


def _write(folder: Path, plain: dict[str, Any], arrays: dict[str, Array]) -> None:
    write_plain(folder / PLAIN_FILE, plain)
    write_arrays(folder / ARRAY_FILE, arrays)


def _read_plain(folder: Path) -> Record:
    """The plain values of a saved selection of a format that is known."""
    file = _plain_file(folder)
    record = read_plain(file)
    if record.values.get("kind") != KIND:
        raise FileError(f"'{file}' is not of a saved selection. Give a folder that holds one.")
    number = record.count("format")
    if number < 1:
        raise record.wrong("format", number, "a number from 1 on")
    if number > FORMAT:
        writer = quote(record.values.get("version"))
        raise FileError(
            f"'{folder}' was written by vbks {writer} in format {number}, "
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
