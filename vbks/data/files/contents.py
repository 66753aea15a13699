"""The bytes of a file, unpacked, and what kind of table they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Literal, TypeAlias

from vbks.datasets.dataset import existing_file
from vbks.errors import DataError

Kind: TypeAlias = Literal["text", "xlsx", "xls", "parquet"]
"""Kinds of files that are read."""

PACKED = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}
"""How files are unpacked, by their first bytes."""

REFUSED = {
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a database",
    b"ARROW1": "an Arrow file",
    b"\x89HDF": "an HDF file",
    b"\x93NUMPY": "a NumPy array",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"PAR": "a broken Parquet file",
    b"{\\rtf": "a document",
    b"(\xb5/\xfd": "packed by Zstandard",
    b"7z\xbc\xaf": "packed by 7-Zip",
    b"Rar!": "packed by RAR",
}
"""What other files are, by their first bytes."""


def read_contents(path: str | Path) -> tuple[bytes, Kind]:
    """The bytes of a file, unpacked if they were packed, and their kind."""
    file = existing_file(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(f"'{file}' cannot be read: {error.strerror}.") from None
    for beginning, unpack in PACKED.items():
        if data.startswith(beginning):
            data = _unpacked(file, data, unpack)
            break
    if data.startswith(b"PK\x03\x04"):
        data = _member(file, data)
    kind = _kind(data)
    if kind is None:
        what = next((name for start, name in REFUSED.items() if data.startswith(start)), None)
        what = what or _markup(data)
        if what is not None:
            raise DataError(
                f"'{file}' is {what}, not a table. Save it as CSV, as a workbook (.xlsx) or as "
                "Parquet."
            )
        if not data.strip():
            raise DataError(f"'{file}' is empty. Give a header and rows.")
        kind = "text"
    return data, kind


def _unpacked(file: Path, data: bytes, unpack: object) -> bytes:
    try:
        return unpack(data)  # type: ignore[operator, no-any-return]
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise DataError(
            f"'{file}' is packed and cannot be unpacked: {str(error).rstrip('.')}. "
            "It may have been cut off; get it once more."
        ) from None


def _member(file: Path, data: bytes) -> bytes:
    """The one file of an archive; a workbook is an archive that stays as it is."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            if any(name.startswith("xl/") for name in names):
                return data
            if "mimetype" in names or any(name.startswith("Index/") for name in names):
                raise DataError(
                    f"'{file}' is a document of another office program. Save it as CSV, or as a "
                    "workbook (.xlsx)."
                )
            files = [n for n in names if not n.endswith("/") and not n.startswith("__MACOSX")]
            if len(files) != 1:
                listed = ", ".join(f"'{name}'" for name in files[:5]) or "nothing"
                raise DataError(
                    f"'{file}' is an archive with {len(files)} files: {listed}. Unpack it, "
                    "and give one of them."
                )
            return archive.read(files[0])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error) as error:
        reason = str(error).rstrip(".")
        raise DataError(f"'{file}' cannot be unpacked: {reason}. Unpack it first.") from None


def _kind(data: bytes) -> Kind | None:
    if data.startswith(b"PK\x03\x04"):
        return "xlsx"
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return "xls"
    if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        return "parquet"
    return None


def _markup(data: bytes) -> str | None:
    """What a text is that other programs than spreadsheets read."""
    start = data[:1000].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<table", b"<head", b"<meta")):
        return "a web page"
    if start.startswith(b"<?xml") or start.startswith(b"<"):
        return "an XML file"
    if start.startswith((b"{", b"[{", b"[[")):
        return "a JSON file"
    return None
