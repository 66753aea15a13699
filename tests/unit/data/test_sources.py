import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from vbks.data.sources import ArraySource, DatasetSource
from vbks.errors import DataError


def table(num_rows=23):
    """Rows whose target is their number, so that rows can be told apart."""
    X = np.random.default_rng(0).normal(size=(num_rows, 3))
    return X, np.arange(float(num_rows))


def array_source(num_rows=23):
    return ArraySource(*table(num_rows))


def dataset_source(num_rows=23):
    import tensorflow as tf

    return DatasetSource(tf.data.Dataset.from_tensor_slices(table(num_rows)))


def first(batches, num):
    return list(itertools.islice(batches, num))


def targets(batches, num):
    return np.concatenate([y for _, y in first(batches, num)])


def mapped(path, values, mode="r"):
    np.save(path, values)
    return np.load(path, mmap_mode=mode)


both = pytest.mark.parametrize("make", [array_source, dataset_source])


@both
def test_source__counts_rows_and_inputs(make):
    assert (make().num_rows, make().num_inputs) == (23, 3)


@both
@pytest.mark.parametrize("size", [1, 5, 23, 100])
def test_blocks__are_all_rows_in_order(make, size):
    X, y = table()
    blocks = list(make().blocks(size))
    assert [len(part) for _, part in blocks[:-1]] == [size] * (len(blocks) - 1)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([part for _, part in blocks]), y)


@both
@pytest.mark.parametrize("size", [1, 5, 8, 23])
def test_minibatches__have_every_row_once_in_each_epoch(make, size):
    source = make()
    start = targets(source.minibatches(size, seed=1), 23 // size)
    assert len(set(start)) == len(start)
    as_many_epochs_as_size = targets(source.minibatches(size, seed=1), 23)
    np.testing.assert_array_equal(np.bincount(as_many_epochs_as_size.astype(int)), size)


@both
def test_minibatches__have_the_rows_of_the_table(make):
    X, _ = table()
    for inputs, y in first(make().minibatches(7, seed=0), 5):
        np.testing.assert_array_equal(inputs, X[y.astype(int)])


@both
def test_minibatches__have_the_size_asked_for_or_all_rows(make):
    assert [len(y) for _, y in first(make().minibatches(7, seed=0), 20)] == [7] * 20
    for _, y in first(make().minibatches(100, seed=0), 3):
        np.testing.assert_array_equal(np.sort(y), np.arange(23))


@both
def test_minibatches__are_the_same_for_the_same_seed_only(make):
    source = make()
    drawn = [targets(source.minibatches(5, seed), 9) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()


@both
def test_minibatches__come_in_a_new_order_each_epoch(make):
    drawn = targets(make().minibatches(1, seed=0), 46)
    assert (drawn[:23] != drawn[23:]).any()


@both
def test_sample__has_different_rows_in_their_order(make):
    X, _ = table()
    inputs, y = make().sample(9, np.random.default_rng(2))
    assert len(y) == 9
    assert (np.diff(y) > 0).all()
    np.testing.assert_array_equal(inputs, X[y.astype(int)])


@both
def test_sample__is_all_rows_if_there_are_no_more(make):
    for part, whole in zip(make().sample(100, np.random.default_rng(0)), table(), strict=True):
        np.testing.assert_array_equal(part, whole)


def test_sample__draws_all_rows_equally_often():
    rng, source = np.random.default_rng(0), array_source()
    drawn = np.concatenate([source.sample(5, rng)[1] for _ in range(2000)])
    expected = 2000 * 5 / 23
    assert np.abs(np.bincount(drawn.astype(int)) - expected).max() < 4 * np.sqrt(expected)


def test_sample_of_a_dataset__is_that_of_the_arrays(monkeypatch):
    monkeypatch.setattr("vbks.data.sources.PASSED_ROWS", 4)
    sample = array_source().sample(9, np.random.default_rng(2))
    passed = dataset_source().sample(9, np.random.default_rng(2))
    for part, other in zip(sample, passed, strict=True):
        np.testing.assert_array_equal(part, other)


@both
@pytest.mark.parametrize("read", [lambda s: s.blocks(0), lambda s: s.minibatches(-1, seed=0)])
def test_batches_without_rows__are_refused(make, read):
    with pytest.raises(DataError, match=r"batches of (0|-1) rows .* at least 1 row"):
        next(read(make()))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32])
def test_array_source__reads_any_number_as_float64(dtype):
    X, y = np.array([[0], [1], [1]], dtype=dtype), np.array([1, 0, 1], dtype=dtype)
    source = ArraySource(X, y)
    for inputs, values in (next(source.blocks(3)), next(source.minibatches(3, seed=0))):
        assert inputs.dtype == values.dtype == np.float64
        np.testing.assert_array_equal(inputs, X)
        np.testing.assert_array_equal(values, y)


def test_array_source__gives_rows_of_its_own():
    X, y = table()
    inputs, values = next(ArraySource(X, y).blocks(23))
    assert not np.shares_memory(inputs, X)
    assert not np.shares_memory(values, y)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_map__is_read_like_an_array(tmp_path, mode):
    X, y = table()
    source = ArraySource(mapped(tmp_path / "X.npy", X, mode), mapped(tmp_path / "y.npy", y, mode))
    for one, other in zip(source.blocks(5), ArraySource(X, y).blocks(5), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
    assert not source.is_in_memory


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_memory_map__keeps_changes_that_were_made_to_it(tmp_path, mode):
    X, y = table()
    changed = mapped(tmp_path / "X.npy", X, mode)
    changed[4] = 7
    source = ArraySource(changed, y)
    for _ in range(2):
        inputs, _ = next(source.blocks(23))
        np.testing.assert_array_equal(inputs[4], 7)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_map__does_not_stay_in_memory(tmp_path):
    X = mapped(tmp_path / "X.npy", np.zeros((1_000_000, 4)))
    source = ArraySource(X, np.zeros(1_000_000))
    before = mapped_megabytes()
    for _ in source.blocks(10_000):
        pass
    first(source.minibatches(256, seed=0), 10)
    assert mapped_megabytes() - before < X.nbytes / 2**20 / 4


def mapped_megabytes():
    return int(re.search(r"RssFile:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def rows_from(generator, shapes=((3,), ()), dtypes=("float64", "float64")):
    import tensorflow as tf

    signature = tuple(tf.TensorSpec(s, d) for s, d in zip(shapes, dtypes, strict=True))
    return tf.data.Dataset.from_generator(generator, output_signature=signature)


def test_dataset_of_unknown_length__needs_its_number_of_rows():
    dataset = rows_from(lambda: zip(*table(), strict=True))
    with pytest.raises(DataError, match=r"does not know its number of rows. Give it as num_rows"):
        DatasetSource(dataset)
    source = DatasetSource(dataset, num_rows=23)
    np.testing.assert_array_equal(next(source.blocks(100))[0], table()[0])


def test_dataset_of_known_length__refuses_another():
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices(table())
    assert DatasetSource(dataset, num_rows=23).num_rows == 23
    with pytest.raises(DataError, match="num_rows is 24, but the dataset has 23 rows"):
        DatasetSource(dataset, num_rows=24)


def test_endless_dataset__is_refused():
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices(table()).repeat()
    with pytest.raises(DataError, match=r"the dataset has no end. Leave out its .repeat\(\)"):
        DatasetSource(dataset, num_rows=23)


def test_dataset_of_numbers__has_one_input():
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices((np.arange(6), np.arange(6, dtype=np.float32)))
    (X, y), *_ = DatasetSource(dataset).blocks(6)
    np.testing.assert_array_equal(X, np.arange(6.0)[:, None])
    np.testing.assert_array_equal(y, np.arange(6.0))
    assert X.dtype == y.dtype == np.float64


@pytest.mark.parametrize(
    ("shapes", "dtypes", "message"),
    [
        (((None, 3), (None,)), ("float64", "float64"), r"\(None, 3\) .* call .unbatch\(\)"),
        (((5,), (5,)), ("float64", "float64"), r"shapes \(5,\) and \(5,\), expected one row"),
        (((None,), ()), ("float64", "float64"), "with a fixed D"),
        (((0,), ()), ("float64", "float64"), r"shapes \(0,\)"),
        ((None, ()), ("float64", "float64"), r"shapes <unknown> and \(\)"),
        (((3,), ()), ("string", "float64"), r"the x of the dataset is of type 'string'.*\.map"),
        (((3,), ()), ("float64", "complex64"), "the y of the dataset is of type 'complex64'"),
        (((3,), (), ()), ("float64",) * 3, r"expected pairs \(x, y\). .*\.map"),
    ],
)
def test_dataset_of_other_elements__is_refused(shapes, dtypes, message):
    dataset = rows_from(lambda: iter(()), shapes, dtypes)
    with pytest.raises(DataError, match=message):
        DatasetSource(dataset, num_rows=5)
