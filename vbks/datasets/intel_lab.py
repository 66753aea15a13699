"""Readings of the 54 sensors in the Intel Berkeley lab, 2004 (`data.txt`, `mote_locs.txt`)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from vbks.datasets.dataset import Dataset, FilePath, days_since, existing_file
from vbks.errors import DataError

COLUMNS = ["date", "time", "epoch", "mote", "temperature", "humidity", "light", "voltage"]

UNITS = {"temperature": "°C", "humidity": "%", "light": "lux"}

PLAUSIBLE = {"temperature": (0.0, 50.0), "humidity": (0.0, 100.0), "light": (0.0, 1e5)}
"""Readings outside are left out: a mote whose battery dies reports 122 °C and humidity below 0."""


def read_intel_lab(
    path: FilePath,
    locations: FilePath | None = None,
    motes: tuple[int, ...] | None = None,
    quantity: Literal["temperature", "humidity", "light"] = "temperature",
) -> Dataset:
    """Readings over days, and over the place in the lab if the file of locations is given.

    Lines that end early are normal in this file; a reading that is missing is left out. With
    `locations`, so are readings of motes that are not in that file.
    """
    if quantity not in UNITS:
        raise DataError(f"unknown quantity '{quantity}'. Known: {', '.join(UNITS)}.")
    file = existing_file(path)
    table = _readings(file, quantity)
    if motes is not None:
        table = table[table["mote"].isin(motes)]
    places: list[str] = []
    if locations is not None:
        table = table.join(_locations(existing_file(locations)), on="mote", how="inner")
        places = ["x (m)", "y (m)"]
    if table.empty:
        raise DataError(f"'{file}' has no plausible {quantity} of these motes. Ask for others.")
    table = table.sort_values("when", kind="stable")
    times = pd.DatetimeIndex(table["when"])
    return Dataset(
        name="intel_lab",
        X=np.column_stack([days_since(times[0], times), table[places].to_numpy(dtype=np.float64)]),
        y=table[quantity].to_numpy(dtype=np.float64),
        x_names=(f"days since {times[0]:%Y-%m-%d %H:%M}", *places),
        y_name=f"{quantity} ({UNITS[quantity]})",
        source="Intel Lab Data, Intel Berkeley Research lab, February to April 2004.",
    )


def _readings(file: Path, quantity: str) -> pd.DataFrame:
    """Columns when, mote and the quantity, of lines that have all three."""
    table = _columns(file, COLUMNS, ["date", "time", "mote", quantity])
    texts = table["date"].astype(str) + " " + table["time"].astype(str)
    when = pd.to_datetime(texts, format="ISO8601", errors="coerce")
    values = pd.to_numeric(table[quantity], errors="coerce")
    low, high = PLAUSIBLE[quantity]
    readings = pd.DataFrame(
        {
            "when": when,
            "mote": pd.to_numeric(table["mote"], errors="coerce"),
            quantity: values.where(values.between(low, high)),
        }
    )
    if when.isna().all():
        raise DataError(
            f"'{file}' has no line that begins with a date and a time. "
            "Expected lines such as '2004-02-28 00:59:16.02785 3 1 19.9884 37.0933 45.08 2.69964'."
        )
    return readings.dropna()


def _locations(file: Path) -> pd.DataFrame:
    """Places in metres from the upper right corner of the lab, by mote."""
    names = ["mote", "x (m)", "y (m)"]
    table: pd.DataFrame = _columns(file, names, names).apply(pd.to_numeric, errors="coerce")
    wrong = table.index[table.isna().any(axis=1)]
    if not wrong.empty:
        raise DataError(f"line {wrong[0] + 1} of '{file}' is not a location. Expected: mote x y.")
    return table.set_index("mote")


def _columns(file: Path, names: list[str], used: list[str]) -> pd.DataFrame:
    """Columns between spaces; a line that ends early has missing values."""
    try:
        return pd.read_csv(
            file, sep=r"\s+", names=names, usecols=used, index_col=False, low_memory=False
        )
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"'{file}' is not a table: {str(error).strip()}.") from None
