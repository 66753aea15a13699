"""What is between the cells of a text: the character by which most lines have as many cells."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

SEPARATORS = ("\t", ";", "|", ",")
"""Separators that are tried; of those that fit as well, the first counts: commas are in numbers."""

SAMPLED_LINES = 200
"""Lines that are looked at."""

USUAL_SHARE = 0.5
"""At least this share of the lines has the number of cells that is most frequent."""


def find_separator(lines: Sequence[str]) -> str:
    """The separator of lines without comments; a space where they have columns of spaces.

    A comma for lines of one cell, which has no effect there.
    """
    sample = [line for line in lines if line.strip()][:SAMPLED_LINES]
    best, found = (0.0, 1), ","
    for separator in SEPARATORS:
        share, width = _usual_width(_widths(sample, separator))
        if width > 1 and share > max(USUAL_SHARE, best[0]):
            best, found = (share, width), separator
    if best[0]:
        return found
    widths = [len(line.split()) for line in sample]
    _, width = _usual_width(widths)
    return " " if width > 1 and {*widths[1:]} == {width} else ","


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """The numbers of cells of lines, as far as they can be read."""
    widths: list[int] = []
    with suppress(csv.Error):
        widths.extend(len(row) for row in csv.reader(lines, delimiter=separator))
    return widths


def spaced_rows(lines: Iterable[str]) -> Any:
    """A reader of lines with columns of spaces."""
    return csv.reader((line.strip() for line in lines), delimiter=" ", skipinitialspace=True)


def _usual_width(widths: Sequence[int]) -> tuple[float, int]:
    """The number of cells that most lines with several have, and the share of all that have it."""
    counts = Counter(widths)
    if not counts:
        return 0.0, 1
    width, count = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
    return count / len(widths), width
