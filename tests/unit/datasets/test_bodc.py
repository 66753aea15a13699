from __future__ import annotations

from pathlib import Path

import pytest

from vbks.datasets.bodc import read_bodc
from vbks.errors import DataError

HEAD = """\
Port:              P038
Site:              Aberdeen
Latitude:          57.14325
Longitude:         -2.07451
Start Date:        01JAN2002-00.00.00
End Date:          31DEC2002-23.00.00
Contributor:       National Oceanography Centre, Liverpool
Datum information: The data refer to Admiralty Chart Datum (ACD)
Parameter code:    ASLVZZ01 = Surface elevation (unspecified datum) of the water body
  Cycle    Date      Time      ASLVZZ01     Residual
 Number yyyy mm dd hh mi ssf           f            f
"""
ROWS = """\
     1) 2002/01/01 00:00:00      2.9710       0.1930
     2) 2002/01/01 06:00:00      3.1000M      0.2000M
     3) 2002/01/01 12:00:00    -99.0000N    -99.0000N
     4) 2002/01/01 18:00:00      3.2000T      0.2100T
     5) 2002/01/02 00:00:00      2.5000      -0.0500
     6) 2002/01/02 06:00:00      2.6000     -99.0000N

"""


@pytest.fixture
def year(tmp_path: Path) -> Path:
    path = tmp_path / "2002ABE.txt"
    path.write_text(HEAD + ROWS)
    return path


def test_level__leaves_out_flagged_values(year: Path) -> None:
    data = read_bodc(year)
    assert data.X[:, 0].tolist() == [0.0, 1.0, 1.25]
    assert data.y.tolist() == [2.971, 2.5, 2.6]
    assert data.x_names == ("days since 2002-01-01 00:00",)


def test_residual__has_flags_of_its_own(year: Path) -> None:
    assert read_bodc(year, quantity="residual").y.tolist() == [0.193, -0.05]


def test_unknown_quantity__is_told_the_known_ones(year: Path) -> None:
    with pytest.raises(DataError, match=r"unknown quantity 'tide'\. Known: level, residual"):
        read_bodc(year, quantity="tide")  # type: ignore[arg-type]


def test_file_without_residuals__still_has_levels(tmp_path: Path) -> None:
    path = tmp_path / "level.txt"
    path.write_text(HEAD + "     1) 2002/01/01 00:00:00      2.971\n")
    assert read_bodc(path).y.tolist() == [2.971]
    with pytest.raises(DataError, match="no usable value"):
        read_bodc(path, quantity="residual")


def test_several_years__follow_each_other_and_share_a_midnight(year: Path, tmp_path: Path) -> None:
    next_year = tmp_path / "2003ABE.txt"
    next_year.write_text(
        HEAD + "     1) 2002/01/01 00:00:00  9.0  0.1\n     2) 2002/01/03 00:00:00  3.0  0.1\n"
    )
    data = read_bodc(next_year, year)
    assert data.X[:, 0].tolist() == [0.0, 1.0, 1.25, 2.0]
    assert data.y[0] == 9.0


def test_truncated_row__is_named(year: Path) -> None:
    year.write_text(HEAD + ROWS.rstrip() + "\n     7) 2002/01/02 1")
    with pytest.raises(DataError, match=r"line 18 of '.*' is not a reading: '7\) 2002/01/02 1'"):
        read_bodc(year)


def test_impossible_date__is_refused(year: Path) -> None:
    year.write_text(HEAD + "     1) 2002/02/30 00:00:00  2.9  0.1\n")
    with pytest.raises(DataError, match="at 2002/02/30 00:00:00, a time that does not exist"):
        read_bodc(year)


def test_other_file__is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    with pytest.raises(DataError, match="no line 'Cycle Date Time"):
        read_bodc(path)


def test_no_file__is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file '.*gone\.txt'"):
        read_bodc(tmp_path / "gone.txt")
    with pytest.raises(DataError, match="is a folder"):
        read_bodc(tmp_path)
    with pytest.raises(DataError, match="no tide-gauge file was given"):
        read_bodc()
