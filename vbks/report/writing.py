"""Reports in files: a page of HTML, or the same content as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

from vbks.errors import FileError, as_path
from vbks.report.content import Report
from vbks.report.page import page_of
from vbks.storage.folders import FolderPath
from vbks.storage.writing import write_file
from vbks.version import __version__

ENDINGS = (".html", ".htm", ".json")
"""Names of files end in one of these, which says what is written."""


def write_report(report: Report, path: FolderPath) -> Path:
    """Write a page, or JSON if the name ends in .json, completely or not at all."""
    file = as_path("the path of the report", path)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise FileError(
            f"'{file}' does not end in .html or .json, which says what to write. Rename it."
        )
    text = json_of(report) if ending == ".json" else page_of(report)
    try:
        write_file(file, lambda stream: stream.write(text.encode("utf-8")))
    except OSError as error:
        raise FileError(
            f"'{file}' cannot be written: {error.strerror or error}. Give another path."
        ) from error
    return file


def json_of(report: Report) -> str:
    """The content as JSON; numbers that are not finite are null."""
    values = {"kind": "vbks report", "version": __version__, **asdict(report)}
    return json.dumps(_plain(values), allow_nan=False, ensure_ascii=False, indent=1)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(own) for name, own in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(own) for own in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
