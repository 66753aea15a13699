from __future__ import annotations

from pathlib import Path

import pytest

from vbks.datasets.gefcom import read_gefcom
from vbks.errors import DataError

HEAD = "zone_id,year,month,day," + ",".join(f"h{hour}" for hour in range(1, 25))


def row(zone: int, day: str, loads: list[str]) -> str:
    return f"{zone},{day}," + ",".join([f'"{load}"' for load in loads] + [""] * (24 - len(loads)))


@pytest.fixture
def history(tmp_path: Path) -> Path:
    full = [f"16,{hour:03}" for hour in range(24)]
    path = tmp_path / "Load_history.csv"
    rows = [row(1, "2004,1,1", full), row(1, "2004,1,2", []), row(1, "2004,1,3", ["17,000", "900"])]
    path.write_text("\n".join([HEAD, *rows, row(2, "2004,1,1", ["1,234,567"])]) + "\n")
    return path


def test_zone__has_its_hours_in_days_without_blank_ones(history: Path) -> None:
    data = read_gefcom(history, zone=1)
    assert len(data.y) == 26
    assert data.X[:, 0] * 24 == pytest.approx([*range(24), 48, 49])
    assert data.y[[0, 23, 24, 25]].tolist() == [16000, 16023, 17000, 900]
    assert data.x_names == ("days since 2004-01-01 01:00",)


def test_thousands__may_come_twice(history: Path) -> None:
    assert read_gefcom(history, zone=2).y.tolist() == [1234567]


def test_unknown_zone__is_told_the_known_ones(history: Path) -> None:
    with pytest.raises(DataError, match=r"has no zone 21\. Its zones: 1, 2\."):
        read_gefcom(history, zone=21)


def test_missing_column__is_named(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text("zone_id,year,month,day,h1\n1,2004,1,1,5\n")
    with pytest.raises(DataError, match="has no column 'h2'"):
        read_gefcom(path)


def test_wrong_load__is_named_with_its_line(history: Path) -> None:
    history.write_text(history.read_text().replace("17,000", "n/k"))
    with pytest.raises(DataError, match=r"line 4 of '.*' has 'n/k' as load in h1"):
        read_gefcom(history)


def test_wrong_day__is_named_with_its_line(history: Path) -> None:
    history.write_text(history.read_text().replace("2004,1,3", "2004,2,30"))
    with pytest.raises(DataError, match=r"line 4 of '.*' has '2004-2-30' as day"):
        read_gefcom(history)


@pytest.mark.parametrize("text", ["", "a,b\n1,2,3,4\n5,6,7,8,9\n"])
def test_other_file__is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text(text)
    with pytest.raises(DataError, match="is not a table"):
        read_gefcom(path)


def test_no_file__is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        read_gefcom(tmp_path / "gone.csv")
