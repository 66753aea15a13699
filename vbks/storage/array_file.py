"""Packed arrays from a file of `np.savez`, whose headers are checked before memory is given."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from vbks.arrays import Array
from vbks.errors import FileError
from vbks.storage.records import damaged
from vbks.storage.writing import write_file

SUFFIX = ".npy"
"""Names of arrays end with this in a file of `np.savez`."""


def read_arrays(file: Path, names: Sequence[str] | None = None) -> dict[str, Array]:
    """All packed arrays, of these names if they are known, no larger together than the file."""
    if not file.is_file():
        raise damaged(f"there is no file '{file}'")
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, file, names)
            return {
                member.filename.removesuffix(SUFFIX): _read(archive, member, file)
                for member in members
            }
    except FileError:
        raise
    except Exception as error:  # zipfile and NumPy raise errors of many kinds at damaged bytes
        raise damaged(f"'{file}' cannot be read: {str(error).rstrip('.')}") from error


def write_arrays(file: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays as lists of float64, lowest byte first, completely or not at all."""
    flat = {name: np.asarray(values, "<f8").ravel() for name, values in arrays.items()}
    write_file(file, lambda stream: np.savez(stream, **flat))


def _check_members(
    members: list[zipfile.ZipInfo], file: Path, expected: Sequence[str] | None
) -> None:
    """Refuse members that are missing, unknown, there twice, compressed, or larger than the file.

    A few bytes of a compressed member can stand for any number of them.
    """
    names = sorted(member.filename for member in members)
    if expected is not None and names != sorted(f"{name}{SUFFIX}" for name in expected):
        raise damaged(f"'{file}' has other arrays than were written")
    is_plain = all(member.compress_type == zipfile.ZIP_STORED for member in members)
    if not is_plain or sum(member.file_size for member in members) > file.stat().st_size:
        raise damaged(f"'{file}' holds arrays that are compressed or larger than the file")


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path) -> Array:
    """A list of float64, and nothing else."""
    with archive.open(member) as stream:
        _check_header(stream, member, file)
    with archive.open(member) as stream:
        values = np.lib.format.read_array(stream, allow_pickle=False)  # type: ignore[no-untyped-call]
    return np.asarray(values, dtype=np.float64)


def _check_header(stream: IO[bytes], member: zipfile.ZipInfo, file: Path) -> None:
    version: Any = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call]
    if version != (1, 0):
        raise damaged(f"'{member.filename}' of '{file}' has the version {version}, expected (1, 0)")
    header: Any = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
    shape, _, dtype = header
    if dtype != np.dtype("<f8") or len(shape) != 1:
        raise damaged(
            f"'{member.filename}' of '{file}' is an array {list(shape)} of {dtype}, expected a "
            "list of float64"
        )
    if stream.tell() + 8 * shape[0] != member.file_size:
        raise damaged(
            f"'{member.filename}' of '{file}' says that it has {shape[0]} numbers, but "
            f"{member.file_size - stream.tell()} bytes are there"
        )
