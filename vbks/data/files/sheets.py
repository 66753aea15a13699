"""Rows of cells as a file has them, before anything is known of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import pandas as pd

Row: TypeAlias = Sequence[Any]
"""Cells of a row: texts, or what a workbook has."""


@dataclass(frozen=True)
class Sheet:
    """Rows of cells, and where each of them is in its file."""

    file: str
    rows: list[Row]
    places: list[int]
    """The line of each row, or its row in a workbook, counted from 1."""
    place_name: Literal["line", "row"] = "line"
    separator: str | None = None
    """What is between cells, if something is."""
    comments: list[str] = field(default_factory=list)
    """What stands in lines that begin with a sign of comments."""
    notices: list[str] = field(default_factory=list)
    """Sentences about what was guessed."""


def is_empty(cell: Any) -> bool:
    """Whether nothing is in a cell."""
    if isinstance(cell, str):
        return not cell or cell.isspace()
    return cell is None or (not isinstance(cell, list | tuple | dict) and bool(pd.isna(cell)))


def num_filled(row: Row) -> int:
    """How many cells of a row have something in them."""
    return sum(not is_empty(cell) for cell in row)
