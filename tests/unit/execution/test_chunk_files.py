import numpy as np
import pytest
from support.executors import quick_work

from vbks.execution.chunk_files import read_chunk, write_chunk


@pytest.fixture
def work():
    return quick_work(2)


def test_chunk__is_read_as_it_was_written(tmp_path, work):
    results = work.do(0)
    write_chunk(tmp_path / "a", results, 12.5)
    kept = read_chunk(tmp_path / "a", work, 0)
    assert kept.clock == 12.5
    for one, other in zip(kept.results, results, strict=True):
        assert (one.expression, one.restarts) == (other.expression, 1)
        np.testing.assert_array_equal(one.thetas, other.thetas)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.npz"]


def test_chunk_that_was_never_written__is_none(tmp_path, work):
    assert read_chunk(tmp_path / "a", work, 0) is None


def test_arrays_without_the_values_that_come_after_them__are_none(tmp_path, work):
    write_chunk(tmp_path / "a", work.do(0), 1.0)
    (tmp_path / "a.json").unlink()
    assert read_chunk(tmp_path / "a", work, 0) is None


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_truncated_file__is_none(tmp_path, work, suffix):
    write_chunk(tmp_path / "a", work.do(0), 1.0)
    file = tmp_path / f"a{suffix}"
    file.write_bytes(file.read_bytes()[:-20])
    assert read_chunk(tmp_path / "a", work, 0) is None
