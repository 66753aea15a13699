"""Hourly loads of the Global Energy Forecasting Competition 2012 (`Load_history.csv`)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from vbks.datasets.dataset import Dataset, FilePath, existing_file, series
from vbks.errors import DataError

DAY = ["zone_id", "year", "month", "day"]
HOURS = [f"h{hour}" for hour in range(1, 25)]


def read_gefcom(path: FilePath, zone: int = 1) -> Dataset:
    """Hourly load of one zone over days; h1 is the hour that ends at 01:00.

    The hours that the competition asked for are blank in the file and are left out.
    """
    file = existing_file(path)
    table = _table(file)
    zones = pd.to_numeric(table["zone_id"], errors="coerce")
    if zone not in set(zones):
        known = ", ".join(f"{known:.0f}" for known in sorted(set(zones.dropna())))
        raise DataError(f"'{file}' has no zone {zone}. Its zones: {known}.")
    loads = _loads(file, table[zones == zone])
    source = (
        f"Global Energy Forecasting Competition 2012 (Hong, Pinson and Fan, 2014), zone {zone}."
    )
    return series("gefcom", [loads], "load (kW)", source)


def _table(file: Path) -> pd.DataFrame:
    """The cells of all zones, as they are written."""
    try:
        table = pd.read_csv(file, dtype=str)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"'{file}' is not a table: {str(error).strip()}.") from None
    missing = [name for name in DAY + HOURS if name not in table]
    if missing:
        raise DataError(
            f"'{file}' has no column '{missing[0]}'. "
            "Expected zone_id, year, month, day, h1, ..., h24, as in Load_history.csv."
        )
    return table


def _loads(file: Path, table: pd.DataFrame) -> pd.Series[float]:
    written = table["year"] + "-" + table["month"] + "-" + table["day"]
    days = pd.to_datetime(written, format="%Y-%m-%d", errors="coerce")
    _refuse_first(file, written[days.isna()], "day")
    parts: list[pd.Series[float]] = []
    for number, hour in enumerate(HOURS, start=1):
        loads = pd.to_numeric(table[hour].str.replace(",", ""), errors="coerce")
        _refuse_first(file, table[hour][loads.isna() & table[hour].notna()], f"load in {hour}")
        times = pd.DatetimeIndex(days) + pd.Timedelta(hours=number)
        parts.append(pd.Series(loads.to_numpy(), index=times))
    return pd.concat(parts)


def _refuse_first(file: Path, wrong: pd.Series[str], what: str) -> None:
    if not wrong.empty:
        line = int(wrong.index[0]) + 2
        raise DataError(f"line {line} of '{file}' has '{wrong.iloc[0]}' as {what}. Correct it.")
