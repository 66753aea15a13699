"""Tide-gauge files of the British Oceanographic Data Centre (the "NTSLF format")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pandas as pd

from vbks.datasets.dataset import Dataset, FilePath, existing_file, series
from vbks.errors import DataError

Y_NAMES = {"level": "sea level (m)", "residual": "residual (m)"}

ROW = re.compile(
    r"\s*\d+\)\s+(?P<time>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)(?P<time_flag>[A-Z]?)"
    r"\s+(?P<level>-?\d+\.?\d*)(?P<level_flag>[A-Z]?)"
    r"(\s+(?P<residual>-?\d+\.?\d*)(?P<residual_flag>[A-Z]?))?\s*"
)
"""`     1) 2002/01/01 00:00:00      2.971M      0.193 `: a letter behind a value is its flag."""


def read_bodc(*paths: FilePath, quantity: Literal["level", "residual"] = "level") -> Dataset:
    """Sea level, or what the predicted tide leaves of it, over the days of one or more files.

    A flagged value is not a measurement and is left out: M is improbable, N is missing and
    T is interpolated.
    """
    if not paths:
        raise DataError("no tide-gauge file was given. Give one or more paths.")
    if quantity not in Y_NAMES:
        raise DataError(f"unknown quantity '{quantity}'. Known: {', '.join(Y_NAMES)}.")
    parts = [_read(existing_file(path), quantity) for path in paths]
    source = "British Oceanographic Data Centre, tide gauges, UTC."
    return series("bodc", parts, Y_NAMES[quantity], source)


def _read(file: Path, quantity: str) -> pd.Series[float]:
    lines = file.read_text(encoding="latin-1").splitlines()
    rows = list(_rows(file, lines, first=_first_row(file, lines)))
    times = _times(file, [row["time"] for row in rows])
    flagged = [row["time_flag"] or row[f"{quantity}_flag"] for row in rows]
    values = [None if flag else row[quantity] for row, flag in zip(rows, flagged, strict=True)]
    return pd.Series(values, index=times, dtype="float64")


def _times(file: Path, texts: list[str]) -> pd.DatetimeIndex:
    times = pd.to_datetime(texts, format="%Y/%m/%d %H:%M:%S", errors="coerce")
    if times.hasnans:
        wrong = texts[times.isna().argmax()]
        raise DataError(f"'{file}' has a reading at {wrong}, a time that does not exist.")
    return times


def _first_row(file: Path, lines: list[str]) -> int:
    """How many lines stand above the readings; the last two are headings."""
    for number, line in enumerate(lines):
        if line.split()[:3] == ["Cycle", "Date", "Time"]:
            return number + 2
    raise DataError(
        f"'{file}' has no line 'Cycle Date Time ...' above its readings. "
        "Give a tide-gauge file as the British Oceanographic Data Centre delivers it."
    )


def _rows(file: Path, lines: list[str], first: int) -> Iterator[re.Match[str]]:
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            continue
        row = ROW.fullmatch(line)
        if row is None:
            raise DataError(
                f"line {number} of '{file}' is not a reading: '{line.strip()}'. "
                "Expected a number, a date, a time and a level; is the file complete?"
            )
        yield row
