import itertools
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal

from vbks.data.sources import ArraySource, DatasetSource
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit
from vbks.errors import DataError


def table(num_rows=40):
    rng = np.random.default_rng(0)
    return 5 + 2 * rng.normal(size=(num_rows, 3)), -1 + 0.1 * rng.normal(size=num_rows)


def by_hand(X, y):
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def dataset(X, y):
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((X, y))


def assert_same(rows, others, rtol=0.0):
    for part, other in zip(rows, others, strict=True):
        np.testing.assert_allclose(part, other, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    "give",
    [
        lambda X, y: (X, y),
        lambda X, y: [X, y],
        lambda X, y: (X.tolist(), y[:, None].tolist()),
        lambda X, y: (pd.DataFrame(X, columns=list("abc")), pd.Series(y, name="d")),
        dataset,
    ],
)
def test_prepare__standardises_as_by_hand(give):
    X, y = table()
    data = prepare(give(X, y))
    assert (data.num_rows, data.num_inputs, data.notices) == (40, 3, ())
    assert_same(data.arrays(), by_hand(X, y), rtol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int32, np.uint8, np.float32])
def test_prepare__takes_numbers_of_any_type(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(30, 2)).astype(dtype)
    y = np.arange(30) % 2 == 1
    X_standard, y_standard = prepare((X, y)).arrays()
    assert X_standard.dtype == y_standard.dtype == np.float64
    assert_same((X_standard, y_standard), by_hand(X.astype(float), y.astype(float)), rtol=1e-12)


@pytest.mark.parametrize(
    ("offset", "scale"), [(0, 1e-12), (0, 1e12), (1e12, 1e7), (-1e12, 1e8), (1e6, 10), (1, 1e-4)]
)
def test_prepare__does_not_mind_offsets_and_scales(offset, scale, monkeypatch):
    monkeypatch.setattr("vbks.data.review.REVIEWED_ROWS", 97)
    X, y = (offset + scale * part for part in table(1000))
    # Extended precision, because the mean by hand rounds as well.
    exact = by_hand(X.astype(np.longdouble), y.astype(np.longdouble))
    assert_same(prepare((X, y)).arrays(), exact, rtol=1e-9)


def test_prepare__returns_training_data_unchanged():
    data = prepare(table())
    assert prepare(data) is data


def test_prepare__can_leave_targets_as_they_are():
    X, _ = table()
    counts = np.arange(40) % 3
    data = prepare((X, counts), standardise_targets=False)
    np.testing.assert_array_equal(data.arrays()[1], counts)
    np.testing.assert_allclose(data.arrays()[0].std(axis=0), 1)
    one_class = prepare((X, np.ones(40)), standardise_targets=False)
    np.testing.assert_array_equal(one_class.arrays()[1], 1)


def test_training_data__gives_the_same_standardised_rows_in_every_way():
    data = prepare(table())
    X, y = data.arrays()
    assert_same(map(np.concatenate, zip(*data.blocks(7), strict=True)), (X, y))
    rows = np.sort(np.random.default_rng(3).choice(40, 9, replace=False, shuffle=False))
    assert_same(data.sample(9, np.random.default_rng(3)), (X[rows], y[rows]))
    epoch = [part for _, part in itertools.islice(data.minibatches(8, seed=0), 5)]
    np.testing.assert_array_equal(np.sort(np.concatenate(epoch)), np.sort(y))


def test_arrays__are_made_once():
    data = prepare(table())
    assert data.arrays()[0] is data.arrays()[0]


def test_training_data__of_dataset_and_arrays_have_the_same_blocks():
    for one, other in zip(
        prepare(dataset(*table())).blocks(7), prepare(table()).blocks(7), strict=True
    ):
        assert_same(one, other)


def test_dataset_of_unknown_length__is_read_with_its_number_of_rows():
    unknown = dataset(*table()).filter(lambda x, y: True)
    data = prepare(unknown, num_rows=40)
    assert isinstance(data.source, DatasetSource)
    assert_same(data.arrays(), prepare(table()).arrays())
    with pytest.raises(DataError, match="Give it as num_rows"):
        prepare(unknown)
    with pytest.raises(DataError, match="num_rows is 50, but there are only 40"):
        prepare(unknown, num_rows=50)
    with pytest.raises(DataError, match="num_rows is 30, but there are more"):
        prepare(unknown, num_rows=30)


def test_memory_map__is_never_loaded_as_a_whole(tmp_path):
    shape = (200_000, 6)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, shape)
    X[:] = np.random.default_rng(0).normal(size=shape)
    y = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.float32, shape[:1])
    y[:] = X[:, 0]
    tracemalloc.start()
    data = prepare((X, y))
    for _ in itertools.islice(data.minibatches(100, seed=0), 3):
        pass
    data.sample(100, np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(data.source, ArraySource)
    assert type(data.source.X) is type(data.source.y) is np.memmap
    assert np.shares_memory(data.source.X, X)
    assert peak < X.nbytes / 2
    np.testing.assert_allclose(data.units.x_mean, X.mean(axis=0), atol=1e-12)


def test_constant_input__is_zero_and_told():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abc")).assign(b=0.1)
    data = prepare((frame, y))
    assert data.notices == ("column 'b' has the value 0.1 in all rows and explains nothing.",)
    np.testing.assert_array_equal(data.arrays()[0][:, 1], 0)


@pytest.mark.parametrize(("changed", "start"), [(0, ""), (1, "1 row has"), (7, "7 rows have")])
def test_repeated_inputs__are_told_if_targets_differ(changed, start):
    X, y = table()
    other = y + (np.arange(40) < changed)
    data = prepare((np.vstack([X, X]), np.concatenate([y, other])))
    notice = f"{start} the inputs of an earlier row and another target, which counts as noise."
    assert data.notices == ((notice,) if changed else ())


def test_repeated_inputs__are_not_searched_where_that_is_costly(tmp_path, monkeypatch):
    X, y = np.ones((40, 1)) * [[1, 2]], table()[1]
    X[0] = 0
    np.save(tmp_path / "X.npy", X)
    assert prepare((X, y)).notices
    assert not prepare((np.load(tmp_path / "X.npy", mmap_mode="r"), y)).notices
    assert not prepare(dataset(X, y)).notices
    monkeypatch.setattr("vbks.data.training.LARGEST_SEARCH_FOR_REPEATS", 39)
    assert not prepare((X, y)).notices


@pytest.mark.parametrize("value", [3.0, 1e12, 0.0])
def test_constant_target__is_refused(value):
    X, _ = table()
    rounding = np.spacing(value) * (np.arange(40) % 3)
    message = "the target is constant: its 40 values are about .* nothing can be learned. Give a"
    with pytest.raises(DataError, match=message):
        prepare((X, value + rounding))


@pytest.mark.parametrize(
    ("num_rows", "counted"),
    [(0, "are no rows"), (1, "is only one row"), (4, "are only 4 rows")],
)
@pytest.mark.parametrize("give", [lambda X, y: (X, y), dataset])
def test_few_rows__are_refused(num_rows, counted, give):
    X, y = table()
    with pytest.raises(DataError, match=f"there {counted} to learn from. Give at least 5"):
        prepare(give(X[:num_rows], y[:num_rows]))
    assert prepare((X[:5], y[:5])).num_rows == 5


@pytest.mark.parametrize("data", [None, 3, "ab", table()[0], pd.DataFrame([[1, 2]]), (1, 2, 3)])
def test_other_data__is_refused(data):
    message = rf"the data is of type '{type(data).__name__}', expected a pair \(X, y\) or a tf.data"
    with pytest.raises(DataError, match=message):
        prepare(data)


def test_wrong_values__are_named_with_their_column():
    X, y = table()
    frame = pd.DataFrame(X.copy(), columns=["day", "load", "price"])
    frame.loc[4:6, "load"] = np.nan
    with pytest.raises(DataError, match="column 'load' has 3 missing values, the first in row 5"):
        prepare((frame, y))
    with pytest.raises(DataError, match="input 2 has 3 missing values, the first in row 5"):
        prepare((frame.to_numpy(), y))
    with pytest.raises(DataError, match="input 2 has 3 missing values, the first in row 5"):
        prepare(dataset(frame.to_numpy(), y))
    with pytest.raises(DataError, match="the target 'load' has 3 missing values"):
        prepare((X, frame["load"]))


def test_number_of_rows__has_to_be_that_of_the_arrays():
    assert prepare(table(), num_rows=40).num_rows == 40
    with pytest.raises(DataError, match=r"num_rows is 30, but X has 40 rows. Leave it out"):
        prepare(table(), num_rows=30)


def test_training_data__needs_no_tensorflow_for_arrays():
    code = (
        "import sys; from vbks.data import prepare; prepare((range(9), range(9))).arrays();"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_training_data__can_be_made_of_any_source():
    data = prepare(table())
    again = TrainingData(ArraySource(*table()), data.units)
    assert_same(again.arrays(), data.arrays())


WARPS = (Log(), InverseSoftplus(3.0), Logit(0.0, 50.0))
OVER_WARPS = pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.name)


def positive_table(num_rows=40):
    X, y = table(num_rows)
    return X, np.exp(5 * (y + 1.2))


@OVER_WARPS
@pytest.mark.parametrize("give", [lambda X, y: (X, y), dataset])
def test_warped__standardises_warped_targets(warp, give, monkeypatch):
    monkeypatch.setattr("vbks.data.training.REVIEWED_ROWS", 7)
    X, y = positive_table()
    data = prepare(give(X, y))
    warped = data.warped(warp)
    assert_same(warped.arrays(), by_hand(X, warp.forward(y)), rtol=1e-12)
    assert warped.source is data.source
    assert warped.units.warp == warp
    np.testing.assert_allclose(warped.units.restore_targets(warped.arrays()[1]), y, rtol=1e-10)


def test_warped__keeps_notices():
    X, y = positive_table()
    data = prepare((np.column_stack([X, np.ones(40)]), y))
    assert data.warped(Log()).notices == data.notices != ()


def test_warped__by_the_identity_is_the_same():
    data = prepare(positive_table())
    assert data.warped(Identity()) is data
    assert data.log_jacobian == 0


def log_evidence(X, z):
    """Of a GP with mean 0, unit scales and some noise."""
    distance = np.sum((X[:, None] - X) ** 2, axis=-1)
    covariance = np.exp(-0.5 * distance) + 0.3 * np.eye(len(X))
    return multivariate_normal(cov=covariance).logpdf(z)


@OVER_WARPS
@pytest.mark.parametrize("standardise", [True, False])
def test_log_jacobian__makes_evidences_comparable(warp, standardise):
    """The model of warped targets is a density of those without a warp, by change of variables."""
    data = prepare(positive_table(), standardise_targets=standardise)
    warped = data.warped(warp)
    X, z = warped.arrays()
    t = data.arrays()[1]

    def warp_of_standardised(t):
        return warped.units.standardise_targets(data.units.restore_targets(t))

    step = 1e-5 * data.units.restore_targets(t) / data.units.y_scale
    slopes = (warp_of_standardised(t + step) - warp_of_standardised(t - step)) / (2 * step)
    np.testing.assert_allclose(warp_of_standardised(t), z, atol=1e-12)
    np.testing.assert_allclose(
        log_evidence(X, z) + warped.log_jacobian,
        log_evidence(X, warp_of_standardised(t)) + np.sum(np.log(slopes)),
        atol=1e-6,
    )


def test_log_jacobian__of_log_is_that_by_hand():
    _, y = positive_table()
    by_hand = 40 * np.log(y.std() / np.log(y).std()) - np.log(y).sum()
    assert prepare(positive_table()).warped(Log()).log_jacobian == pytest.approx(by_hand, rel=1e-12)


def test_log_jacobian__of_a_density_over_all_targets_adds_up_to_one():
    """One target of a normal model, at each place of a grid."""
    data = prepare(positive_table())
    units = data.warped(Log()).units
    t = np.linspace(-data.units.y_mean / data.units.y_scale + 1e-6, 40, 400_001)
    y = data.units.restore_targets(t)
    z = units.standardise_targets(y)
    log_slope = units.log_slope(y) + np.log(data.units.y_scale)
    density = np.exp(-0.5 * z**2 + log_slope) / np.sqrt(2 * np.pi)
    assert trapezoid(density, t) == pytest.approx(1, abs=1e-4)


def test_targets_that_cannot_be_warped__are_refused_with_their_row(monkeypatch):
    monkeypatch.setattr("vbks.data.training.REVIEWED_ROWS", 7)
    X, y = positive_table()
    y[[16, 30]] = 0, -1
    with pytest.raises(DataError, match=r"'log' needs targets above 0, .* is 0.0 in row 17. Leave"):
        prepare((X, y)).warped(Log())


def test_warped__is_not_done_twice():
    warped = prepare(positive_table()).warped(Log())
    for warp in (Log(), Identity()):
        with pytest.raises(
            DataError, match=r"have the warp 'log' already. Warp the data that it w"
        ):
            warped.warped(warp)


def test_targets_that_a_warp_makes_equal__are_refused():
    X, _ = table()
    data = prepare((X, 1e12 * (1 + 1e-15 * np.arange(1, 41) / 10)))
    message = "after the warp 'log' the targets differ by rounding alone: they are all about 27.63"
    with pytest.raises(DataError, match=message):
        data.warped(Log())


def test_times__are_inputs_in_days():
    _, y = table()
    times = pd.date_range("2020-01-01", periods=40, freq="6h", tz="Europe/Zurich")
    data = prepare((pd.DataFrame({"time": times}), y))
    days = data.units.restore_inputs(data.arrays()[0])[:, 0]
    np.testing.assert_allclose(days, 18262 - 1 / 24 + np.arange(40) / 4, atol=1e-9)
    times = times.to_series().where(np.arange(40) != 8)
    with pytest.raises(DataError, match=r"column 'time' has 1 missing value, in row 9. Drop or"):
        prepare((pd.DataFrame({"time": times}), y))


def test_in_runs__has_neighbours_from_end_to_end():
    X, y = np.arange(1000.0)[:, None], np.sin(np.arange(1000.0))
    order = np.random.default_rng(0).permutation(1000)
    data = prepare((X[order], y[order]))
    part = data.in_runs(300, 15)
    kept = np.sort(np.rint(part.units.restore_inputs(part.arrays()[0])[:, 0]))
    assert len(kept) == 300
    assert (kept[0], kept[-1]) == (0.0, 999.0)
    assert (np.diff(kept) == 1.0).sum() == 20 * 14
    assert part.units == data.units


def test_in_runs__of_fewer_rows_are_all():
    data = prepare((np.arange(40.0), np.sin(np.arange(40.0))))
    assert data.in_runs(40, 15) is data
    assert data.is_in_order
    assert not prepare((np.ones((40, 2)) * np.arange(40.0)[:, None], np.arange(40.0))).is_in_order
