from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd
import pytest

from vbks.datasets.swissgrid import read_swissgrid
from vbks.errors import DataError

ENERGY = (
    "Summe endverbrauchte Energie Regelblock Schweiz\n"
    "Total energy consumed by end users in the Swiss controlblock"
)
PRODUCED = (
    "Summe produzierte Energie Regelblock Schweiz\nTotal energy production Swiss controlblock"
)


def sheet(labels: Sequence[object], energies: Sequence[object]) -> pd.DataFrame:
    rows = [[label, 1.5, energy] for label, energy in zip(labels, energies, strict=True)]
    return pd.DataFrame([[None, PRODUCED, ENERGY], ["Zeitstempel", "kWh", "kWh"], *rows])


def export(cells: pd.DataFrame, path: Path, sep: str = ",", encoding: str = "utf-8") -> Path:
    cells.to_csv(path, sep=sep, header=False, index=False, encoding=encoding)
    return path


def minutes(path: Path) -> list[float]:
    return [round(day * 24 * 60, 6) for day in read_swissgrid(path).X[:, 0]]


def test_workbook__is_read_by_the_heading_of_its_column(tmp_path: Path) -> None:
    path = tmp_path / "EnergieUebersichtCH-2022.xlsx"
    cells = sheet(["01.01.2022 00:15", "01.01.2022 00:30"], [705123.25, 698000])
    with pd.ExcelWriter(path) as workbook:
        pd.DataFrame([["Uebersicht"]]).to_excel(workbook, sheet_name="Uebersicht")
        cells.to_excel(workbook, sheet_name="Zeitreihen0h15", header=False, index=False)
    data = read_swissgrid(path)
    assert data.y.tolist() == [705123.25, 698000]
    assert data.X[:, 0] * 96 == pytest.approx([0, 1])
    assert data.x_names == ("days since 2022-01-01 00:15",)


def test_workbook_with_dates__is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "EnergieUebersichtCH-2019.xlsx"
    times = list(pd.to_datetime(["2019-01-01 00:15:00.000003", "2019-01-01 00:29:59.999997"]))
    cells = sheet(times, [1, 2])
    cells.to_excel(path, sheet_name="Zeitreihen0h15", header=False, index=False)
    assert minutes(path) == [0, 15]


@pytest.mark.parametrize(
    ("sep", "encoding", "texts"),
    [
        (",", "utf-8", ["705123.25", "698000"]),
        (";", "cp1252", ["705'123.25", "698’000"]),
        (";", "utf-8-sig", ["705123,25", "698000,0"]),
        ("\t", "utf-8", ["705 123.25", "698 000"]),
    ],
)
def test_exported_sheet__is_read_as_excel_writes_it(
    sep: str, encoding: str, texts: list[str], tmp_path: Path
) -> None:
    cells = sheet(["01.01.2022 00:15", "01.01.2022 00:30"], texts)
    data = read_swissgrid(export(cells, tmp_path / "2022.csv", sep, encoding))
    assert data.y.tolist() == [705123.25, 698000]


def test_clock_changes__do_not_move_the_time_elapsed(tmp_path: Path) -> None:
    year = pd.date_range("2021-01-01 00:15", "2022-01-01", freq="15min", tz="Europe/Zurich")
    cells = sheet(list(year.strftime("%d.%m.%Y %H:%M")), range(len(year)))
    data = read_swissgrid(export(cells, tmp_path / "2021.csv"))
    assert data.X[:, 0] == pytest.approx(np.arange(365 * 96) / 96)
    assert data.y == pytest.approx(np.arange(365 * 96))


def test_hour_that_does_not_exist__is_winter_time(tmp_path: Path) -> None:
    labels = ["28.03.2021 01:45", "28.03.2021 02:00", "28.03.2021 03:15"]
    assert minutes(export(sheet(labels, [1, 2, 3]), tmp_path / "2021.csv")) == [0, 15, 30]


def test_years__share_a_midnight_and_may_come_in_any_order(tmp_path: Path) -> None:
    first = export(sheet(["31.12.2021 23:45", "01.01.2022 00:00"], [1, 2]), tmp_path / "2021.csv")
    second = export(sheet(["01.01.2022 00:00", "01.01.2022 00:15"], [2, 3]), tmp_path / "2022.csv")
    assert read_swissgrid(second, first).y.tolist() == [1, 2, 3]


def test_blank_values__are_left_out(tmp_path: Path) -> None:
    labels = ["01.01.2022 00:15", "01.01.2022 00:30", "01.01.2022 00:45", None]
    assert minutes(export(sheet(labels, [1, None, 3, None]), tmp_path / "2022.csv")) == [0, 30]


@pytest.mark.parametrize(
    ("label", "energy", "message"),
    [
        ("Summe", 5, r"row 4 of '.*' has 'Summe', expected a time such as '31\.12\.2019 23:45'"),
        ("01.01.2022 00:30", "viel", r"row 4 of '.*' has 'viel', expected an energy in kWh"),
    ],
)
def test_wrong_cell__is_named_with_its_row(
    label: str, energy: object, message: str, tmp_path: Path
) -> None:
    cells = sheet(["01.01.2022 00:15", label], [1, energy])
    with pytest.raises(DataError, match=message):
        read_swissgrid(export(cells, tmp_path / "2022.csv"))


def test_other_table__is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"no column of '.*' is headed 'Summe endverbrauchte"):
        read_swissgrid(path)
    path.write_text("")
    with pytest.raises(DataError, match="is not a table"):
        read_swissgrid(path)


def test_other_unit__is_refused(tmp_path: Path) -> None:
    cells = sheet(["01.01.2022 00:15"], [1]).replace("kWh", "MWh")
    with pytest.raises(DataError, match="in 'MWh', expected 'kWh'"):
        read_swissgrid(export(cells, tmp_path / "2022.csv"))


def test_workbook_without_the_sheet__is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.xlsx"
    pd.DataFrame([[1]]).to_excel(path)
    with pytest.raises(DataError, match="not a workbook with a sheet 'Zeitreihen0h15'"):
        read_swissgrid(path)
    path.write_bytes(b"PK no workbook")
    with pytest.raises(DataError, match="not a workbook with a sheet 'Zeitreihen0h15'"):
        read_swissgrid(path)


@pytest.mark.parametrize(("suffix", "package"), [("xls", "xlrd"), ("xlsx", "openpyxl")])
def test_missing_excel_reader__is_named(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_excel(*_: object, **__: object) -> NoReturn:
        raise ImportError

    monkeypatch.setattr(pd, "read_excel", read_excel)
    path = tmp_path / f"EnergieUebersichtCH-2019.{suffix}"
    path.touch()
    with pytest.raises(DataError, match=rf"the package '{package}' .* pip install 'vbks\[excel\]'"):
        read_swissgrid(path)


def test_no_file__is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        read_swissgrid(tmp_path / "gone.xls")
    with pytest.raises(DataError, match="no Swissgrid file was given"):
        read_swissgrid()
