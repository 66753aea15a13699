import gzip
import lzma

import pytest

from vbks import DataError
from vbks.data.files.contents import read_contents


@pytest.fixture
def write(tmp_path):
    def write(data, name="data"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def test_kinds__are_found_by_the_bytes_and_not_by_the_name(write):
    assert read_contents(write(b"a,b\n", "data.xlsx")) == (b"a,b\n", "text")
    assert read_contents(write(b"PAR1xPAR1", "data.csv"))[1] == "parquet"
    assert read_contents(write(b"\xd0\xcf\x11\xe0", "data.csv"))[1] == "xls"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_files__are_unpacked(pack, write):
    assert read_contents(write(pack(b"a,b\n1,2\n"))) == (b"a,b\n1,2\n", "text")


@pytest.mark.parametrize("start", [b"%PDF-1", b"\x89PNG", b"{\\rtf1", b"7z\xbc\xaf", b"<html>"])
def test_other_files__are_named(start, write):
    with pytest.raises(DataError, match=r"not a table. Save it as CSV"):
        read_contents(write(start))


def test_files__have_to_be_there(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        read_contents(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_contents(tmp_path)
