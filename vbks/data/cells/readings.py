"""What came of reading a column: values and how they were read, or the cell that could not be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from vbks.arrays import Mask

Cells: TypeAlias = npt.NDArray[Any]
"""The cells [N] of a column, texts among them: an array of objects."""


@dataclass(frozen=True)
class Reading:
    """Numbers or dates [N] of a column, with NaN or NaT where nothing is known."""

    values: pd.Series[Any]
    how: str = ""
    """How cells were read that do not say it themselves, such as "day/month/year"; else nothing."""
    example: int = 0
    """A row in which that shows, counted from 0."""


@dataclass(frozen=True)
class Fault:
    """A cell of a column that could not be read as the others."""

    row: int
    """Its row, counted from 0."""
    reason: str
    """What is wrong with it, after its text and place."""


SPACES = "\u00a0\u202f\u2007\u2009\ufeff\u200b"
"""Spaces of other widths, which numbers have between thousands and texts from the web around."""

MARKERS = frozenset(
    {"", "na", "n/a", "n.a.", "n.a", "nan", "nat", "null", "(null)", "none", "nil", "<na>"}
    | {"missing", "not available", "no data", "k.a.", "-", "--", "---", "–", "—", "?", "*"}
    | {".", "..", "...", "#n/a", "#na", "#null!", "#value!", "#div/0!", "#ref!", "#name?", "#num!"}
)
"""What people and programs write where nothing is known, in small letters."""

LONGEST_MARKER = max(map(len, MARKERS))
"""Letters of the longest of them."""


def are_texts(cells: Cells) -> Mask:
    """Which of the cells [N] are texts."""
    return np.fromiter((isinstance(cell, str) for cell in cells), bool, len(cells))


def stripped(cells: Cells) -> Cells:
    """The same cells, with plain spaces in their texts and none around them."""
    table = str.maketrans(dict.fromkeys(SPACES[:4], " ") | dict.fromkeys(SPACES[4:], None))
    changed = [
        (cell if cell.isascii() else cell.translate(table)).strip()
        if isinstance(cell, str)
        else cell
        for cell in cells
    ]
    found = np.empty(len(changed), dtype=object)
    found[:] = changed
    return found


def are_missing(cells: Cells) -> Mask:
    """Which of the cells [N] say that nothing is known."""
    return np.fromiter(map(_is_missing, cells), bool, len(cells))


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return len(cell) <= LONGEST_MARKER and not cell[:1].isdigit() and cell.lower() in MARKERS
    return cell is None or (np.ndim(cell) == 0 and bool(pd.isna(cell)))
