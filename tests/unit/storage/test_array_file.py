"""Tests of packed arrays in files, whose headers are checked before memory is given."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from vbks.errors import FileError
from vbks.storage.array_file import read_arrays, write_arrays


def test_arrays__come_back_as_lists_of_numbers(tmp_path: Path) -> None:
    file, values = tmp_path / "a.npz", np.random.default_rng(0).normal(size=(3, 2))
    write_arrays(file, {"x": values, "none": np.zeros(0)})
    found = read_arrays(file, ("x", "none"))
    np.testing.assert_array_equal(found["x"], values.ravel())
    assert found["none"].shape == (0,)
    assert set(read_arrays(file)) == {"x", "none"}


def test_arrays__of_other_names_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    write_arrays(file, {"x": np.zeros(2)})
    with pytest.raises(FileError, match="has other arrays than were written"):
        read_arrays(file, ("y",))
    with pytest.raises(FileError, match="there is no file"):
        read_arrays(tmp_path / "b.npz")


@pytest.mark.parametrize(
    "values", [np.zeros((2, 2)), np.zeros(3, np.float32), np.array(["a"]), np.array([None])]
)
def test_arrays__of_another_kind_are_refused(tmp_path: Path, values: np.ndarray) -> None:
    file = tmp_path / "a.npz"
    np.savez(file, x=values)
    with pytest.raises(FileError, match="expected a list of float64"):
        read_arrays(file)


def test_arrays__that_are_compressed_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    np.savez_compressed(file, x=np.zeros(100_000))
    with pytest.raises(FileError, match="compressed or larger than the file"):
        read_arrays(file)


def test_files__that_are_cut_or_no_archives_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    write_arrays(file, {"x": np.zeros(50)})
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole.replace(b"(50,)", b"(99,)")):
        file.write_bytes(damaged)
        with pytest.raises(FileError, match="save the selection again"):
            read_arrays(file)


def test_files__with_a_member_twice_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    write_arrays(file, {"x": np.zeros(2)})
    with (
        zipfile.ZipFile(file, "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr("x.npy", b"")
    with pytest.raises(FileError, match="other arrays than were written"):
        read_arrays(file, ("x",))
