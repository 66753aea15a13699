"""Swissgrid's yearly energy overview of Switzerland (`EnergieUebersichtCH-YYYY.xls[x]`)."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pandas as pd

from vbks.datasets.dataset import Dataset, FilePath, existing_file, series
from vbks.errors import DataError

SHEET = "Zeitreihen0h15"

HEADING = "Summe endverbrauchte Energie Regelblock Schweiz"
"""The first line of the heading of the column; its English name follows, its unit is below."""

FIRST_ROW = 2
"""Rows of headings above the values."""


def read_swissgrid(*paths: FilePath) -> Dataset:
    """Energy used by end users in Switzerland every quarter of an hour, over days.

    Reads workbooks, and their sheets "Zeitreihen0h15" exported as CSV. The time stamps are local;
    the days are time elapsed, without the jumps of the clock in March and October.
    """
    if not paths:
        raise DataError("no Swissgrid file was given. Give one or more paths.")
    parts = [_read(existing_file(path)) for path in paths]
    source = "Swissgrid AG, energy overview of the Swiss control block."
    return series("swissgrid", parts, "end-user energy (kWh)", source)


def _read(file: Path) -> pd.Series[float]:
    cells = _cells(file)
    column = _column(file, cells)
    values = cells.iloc[FIRST_ROW:, [0, column]].dropna().astype(str)
    times = _times(file, values[0].str.strip())
    return pd.Series(_energies(file, values[column]).to_numpy(), index=times)


def _cells(file: Path) -> pd.DataFrame:
    """The sheet as it is, with its headings as the first rows."""
    if file.suffix.lower() == ".csv":
        text = _text(file)
        separator = max(";,\t", key=text[:1000].count)
        return _table(file, text, separator)
    try:
        return pd.read_excel(file, sheet_name=SHEET, header=None)
    except ImportError:
        package = "xlrd" if file.suffix.lower() == ".xls" else "openpyxl"
        raise DataError(
            f"'{file}' is a workbook, and the package '{package}' that reads it is missing. "
            "Run: pip install 'vbks[excel]', or export the sheet as CSV."
        ) from None
    except Exception as error:  # every Excel library raises errors of its own
        raise DataError(
            f"'{file}' is not a workbook with a sheet '{SHEET}': {error}. "
            "Give the file as Swissgrid publishes it, or export the sheet as CSV."
        ) from None


def _text(file: Path) -> str:
    """The text of an exported sheet: UTF-8, or what Excel writes on Western Windows."""
    data = file.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _table(file: Path, text: str, separator: str) -> pd.DataFrame:
    try:
        return pd.read_csv(StringIO(text), sep=separator, header=None, dtype=str)
    except ValueError as error:
        raise DataError(f"'{file}' is not a table: {str(error).strip()}.") from None


def _column(file: Path, cells: pd.DataFrame) -> int:
    """The number of the column with the energy of end users, in kWh."""
    names = [str(cell).split("\n")[0].strip() for cell in cells.iloc[0]]
    if HEADING not in names:
        raise DataError(
            f"no column of '{file}' is headed '{HEADING}'. Give the sheet '{SHEET}' with its two "
            "rows of headings."
        )
    column = names.index(HEADING)
    unit = str(cells.iloc[1, column]).strip() if len(cells) > 1 else ""
    if unit != "kWh":
        raise DataError(f"'{file}' gives the energy in '{unit}', expected 'kWh' in the second row.")
    return column


def _times(file: Path, labels: pd.Series[str]) -> pd.DatetimeIndex:
    """Local labels as instants; of an hour that comes twice, the first is summer time."""
    spaced = labels.str.replace(r"^(\d\d\.\d\d\.\d{4})\s*", r"\1 ", regex=True)
    times = pd.to_datetime(spaced, format="%d.%m.%Y %H:%M", errors="coerce")
    times = times.fillna(pd.to_datetime(labels, format="ISO8601", errors="coerce"))
    _refuse_first(file, labels[times.isna()], "a time such as '31.12.2019 23:45'")
    local = pd.DatetimeIndex(times).round("min")
    return local.tz_localize(
        "Europe/Zurich", ambiguous=~local.duplicated(), nonexistent=pd.Timedelta(hours=1)
    )


def _energies(file: Path, texts: pd.Series[str]) -> pd.Series[float]:
    """Numbers, also those that a Swiss or German Excel wrote as 1'234.5 or 1234,5."""
    plain = texts.str.replace(r"['’\s]", "", regex=True).str.replace(",", ".", regex=False)
    energies = pd.to_numeric(plain, errors="coerce")
    _refuse_first(file, texts[energies.isna()], "an energy in kWh")
    return energies


def _refuse_first(file: Path, wrong: pd.Series[str], expected: str) -> None:
    if not wrong.empty:
        row = int(wrong.index[0]) + 1
        raise DataError(f"row {row} of '{file}' has '{wrong.iloc[0]}', expected {expected}.")
