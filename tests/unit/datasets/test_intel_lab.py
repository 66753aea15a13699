from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from vbks.datasets.intel_lab import read_intel_lab
from vbks.errors import DataError

READINGS = """\
2004-02-29 00:59:16.02785 3 1 19.9884 37.0933 45.08 2.69964
2004-02-28 00:59:16.02785 2 2 19.3024 38.4629 45.08 2.68742
2004-03-31 03:38:15.757551 2 1 122.153 -3.91901 11.04 2.03397
2004-03-01 00:59:16.02785 9 1 18.5 39.0
2004-03-01 12:59:16.02785 10 1
2004-03-02 00:59:16.02785 11 6485 20.0 39.0 45.08 2.7
2004-03-03 00:59:16.02785 12
"""


@pytest.fixture
def data_txt(tmp_path: Path) -> Path:
    path = tmp_path / "data.txt"
    path.write_text(READINGS)
    return path


@pytest.fixture
def mote_locs(tmp_path: Path) -> Path:
    path = tmp_path / "mote_locs.txt"
    path.write_text("1 21.5 23\n2 24.5 20\n")
    return path


def test_readings__are_sorted_and_the_implausible_and_missing_are_left_out(data_txt: Path) -> None:
    data = read_intel_lab(data_txt)
    assert data.X[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert data.y.tolist() == [19.3024, 19.9884, 18.5, 20.0]
    assert data.y_name == "temperature (°C)"


def test_locations__become_inputs_and_unknown_motes_are_left_out(
    data_txt: Path, mote_locs: Path
) -> None:
    data = read_intel_lab(data_txt, mote_locs)
    assert data.X.tolist() == [[0, 24.5, 20], [1, 21.5, 23], [2, 21.5, 23]]
    assert data.x_names[1:] == ("x (m)", "y (m)")


def test_motes__are_chosen(data_txt: Path) -> None:
    assert read_intel_lab(data_txt, motes=(2,)).y.tolist() == [19.3024]


def test_quantity__is_chosen(data_txt: Path) -> None:
    assert read_intel_lab(data_txt, quantity="light").y.tolist() == [45.08, 45.08, 45.08, 11.04]


def test_unknown_quantity__is_told_the_known_ones(data_txt: Path) -> None:
    with pytest.raises(DataError, match=r"'pressure'\. Known: temperature, humidity, light"):
        read_intel_lab(data_txt, quantity="pressure")  # type: ignore[arg-type]


def test_compressed_file__is_read_as_it_is_published(tmp_path: Path) -> None:
    path = tmp_path / "data.txt.gz"
    path.write_bytes(gzip.compress(READINGS.encode()))
    assert len(read_intel_lab(path).y) == 4


def test_truncated_download__is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.txt.gz"
    path.write_bytes(gzip.compress(READINGS.encode())[:-20])
    with pytest.raises(DataError, match="is not a table: Compressed file ended"):
        read_intel_lab(path)


def test_broken_fields__are_left_out(data_txt: Path) -> None:
    data_txt.write_text(READINGS + "2004-03-05 00:59:16 9 1 1x.5 39.0 45.08 2.7\nsomething else\n")
    assert len(read_intel_lab(data_txt).y) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line that begins with a date and a time"),
        ("1 2 3 4 5 6 7 8\n", "no line that begins with a date and a time"),
        ("1 2 3\n4 5 6\n", "is not a table: Too many columns specified"),
    ],
)
def test_other_file__is_refused(text: str, message: str, data_txt: Path) -> None:
    data_txt.write_text(text)
    with pytest.raises(DataError, match=message):
        read_intel_lab(data_txt)


def test_nothing_left__is_said(data_txt: Path) -> None:
    with pytest.raises(DataError, match="no plausible temperature of these motes"):
        read_intel_lab(data_txt, motes=(54,))


def test_broken_locations__are_named_with_their_line(data_txt: Path, mote_locs: Path) -> None:
    mote_locs.write_text("1 21.5 23\n2 24.5\n")
    with pytest.raises(DataError, match=r"line 2 of '.*mote_locs.txt' is not a location"):
        read_intel_lab(data_txt, mote_locs)


def test_no_file__is_refused(data_txt: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        read_intel_lab(tmp_path / "gone.txt")
    with pytest.raises(DataError, match="there is no file"):
        read_intel_lab(data_txt, tmp_path / "gone.txt")
