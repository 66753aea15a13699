"""Bytes as letters: what a mark says, UTF-8, or what fits best."""

from __future__ import annotations

import codecs

import numpy as np
from charset_normalizer import from_bytes

from vbks.errors import DataError

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks at the beginning of a file, longer ones before those that they begin with."""

SAMPLED = 65_536
"""Bytes that are looked at where the encoding has to be guessed."""

WINDOWS = "cp1252"
"""What spreadsheets of Western Windows write."""

GUESSED = "Letters are read as {0}, which fits best; --encoding says otherwise."
"""What is said of a guess."""


def decode(data: bytes, name: str, encoding: str | None) -> tuple[str, str]:
    """The text of a file, and a sentence if its encoding was guessed."""
    if encoding is not None:
        return _decoded(data, name, encoding), ""
    for mark, marked in MARKS:
        if data.startswith(mark):
            return _decoded(data, name, marked), ""
    if b"\x00" in data:
        return _decoded(data, name, _wide(data, name)), ""
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        guess = _guess(data)
        return data.decode(guess, errors="replace"), GUESSED.format(guess)


def _decoded(data: bytes, name: str, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError) as error:
        reason = str(error).rstrip(".")
        raise DataError(
            f"'{name}' is not written in {encoding}: {reason}. Give another --encoding."
        ) from None


def _wide(data: bytes, name: str) -> str:
    """UTF-16 without a mark has zeros beside its letters, on one side of them."""
    found = np.frombuffer(data[: SAMPLED - SAMPLED % 2], np.uint8)
    found = found[: len(found) - len(found) % 2]
    even, odd = (float(np.mean(found[start::2] == 0)) for start in (0, 1))
    if max(even, odd) > 0.3 and min(even, odd) < 0.05:
        encoding = "utf-16-be" if even > odd else "utf-16-le"
        start = data[:SAMPLED].decode(encoding, errors="replace")
        if not any(letter < " " and letter not in "\t\r\n" for letter in start):
            return encoding
    raise DataError(
        f"'{name}' has bytes that no text has, so it is no table. Save it as CSV, as a workbook "
        "(.xlsx) or as Parquet."
    )


def _guess(data: bytes) -> str:
    """The encoding that fits best: that of Western Windows where nothing is better."""
    found = from_bytes(data[:SAMPLED])
    best = found.best()
    if best is None:
        return WINDOWS
    letters = {byte for byte in data[:SAMPLED] if byte >= 128}
    is_western = all(bytes([byte]).decode(WINDOWS, "replace") in WESTERN for byte in letters)
    return WINDOWS if is_western else best.encoding


WESTERN = frozenset("äöüÄÖÜßéèêëàâáãåæçñóòôõøúùûíìîïÿœÉÈÊÀÂÁÃÅÆÇÑÓÔÕØÚÙÛÍÎ€£¥§°²³µ·–—‘’“”„\u00a0")
"""Letters and signs of Western European texts."""
