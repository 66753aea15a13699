"""Delimited texts as rows of cells, with the lines that they are in."""

from __future__ import annotations

import csv
import re
from typing import Any

from vbks.data.files.encodings import decode
from vbks.data.files.separators import find_separator, spaced_rows
from vbks.data.files.settings import FileSettings
from vbks.data.files.sheets import Row, Sheet
from vbks.errors import DataError

COMMENT = re.compile(r"\s*#(?!(?:N/A|NA|NULL!|VALUE!|DIV/0!|REF!|NAME\?|NUM!)(?:\W|$))|\s*//")
"""How a line begins that is a comment, and not an error of a spreadsheet in its first cell."""

SAID = re.compile(r"(?i)sep=(.)\s*$")
"""The first line of a file that says its separator to Excel."""

MOST_LINES = 100
"""A cell that goes on over more lines than this has a quotation mark that is never closed."""


def read_text(data: bytes, name: str, settings: FileSettings) -> Sheet:
    """The rows of a text that is in bytes."""
    text, notice = decode(data, name, settings.encoding)
    lines = re.split("\r\n|\r|\n", text.lstrip("\ufeff"))
    said = SAID.fullmatch(lines[0])
    separator = settings.separator or (said[1] if said else None)
    if said:
        lines[0] = ""
    comments = [line.strip().lstrip("#/ \t") for line in lines if COMMENT.match(line)]
    lines = ["" if COMMENT.match(line) else line for line in lines]
    separator = separator or find_separator(lines[:2000])
    rows, places = _rows(lines, separator, name)
    return Sheet(
        name, rows, places, separator=separator, comments=comments,
        notices=[notice] if notice else [],
    )  # fmt: skip


def _reader(lines: list[str], separator: str) -> Any:
    if separator == " ":
        return spaced_rows(lines)
    ended = (f"{line}\n" for line in lines)
    return csv.reader(ended, delimiter=separator, skipinitialspace=separator != "\t")


def _rows(lines: list[str], separator: str, name: str) -> tuple[list[Row], list[int]]:
    """Cells of all lines that have some, and the numbers of the lines."""
    rows: list[Row] = []
    places: list[int] = []
    reader = _reader(lines, separator)
    before = 0
    try:
        for row in reader:
            if reader.line_num - before > MOST_LINES:
                raise DataError(
                    f"line {before + 1} of '{name}' has a quotation mark that is not closed. "
                    "Close it, or take it out."
                )
            if row:
                rows.append(row)
                places.append(before + 1)
            before = reader.line_num
    except csv.Error as error:
        reason = str(error).rstrip(".")
        raise DataError(f"line {before + 1} of '{name}' cannot be read: {reason}.") from None
    return rows, places
