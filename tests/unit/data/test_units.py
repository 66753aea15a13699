import numpy as np
import pytest

from vbks.data import Units
from vbks.data.units import Moments


def moments(blocks):
    whole = Moments.of_nothing(blocks[0].shape[1])
    for block in blocks:
        whole = whole.including(block)
    return whole


def test_units__standardise_and_restore():
    rng = np.random.default_rng(0)
    X, y = 1e6 + 30 * rng.normal(size=(50, 3)), -5 + 1e-3 * rng.normal(size=50)
    units = Units.of(X, y)
    Z, z = units.standardise_inputs(X), units.standardise_targets(y)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-10)
    np.testing.assert_allclose(units.restore_inputs(Z), X)
    np.testing.assert_allclose(units.restore_targets(z), y)


def test_units__restore_variances_of_targets():
    rng = np.random.default_rng(0)
    z = rng.normal(size=1000)
    units = Units(np.zeros(1), np.ones(1), y_mean=3.0, y_scale=0.2)
    np.testing.assert_allclose(units.restore_variances(z.var()), units.restore_targets(z).var())


def test_units__of_a_constant_input_make_it_zero():
    units = Units.of(np.full((4, 1), 7.0), np.arange(4.0))
    np.testing.assert_array_equal(units.standardise_inputs(np.full((4, 1), 7.0)), 0)


def test_units__of_a_constant_whose_mean_rounds_make_it_zero():
    X = np.full((100_003, 1), 0.1)
    units = Units.of(X, np.arange(len(X)))
    np.testing.assert_array_equal(units.standardise_inputs(X), 0)


def test_units__can_leave_targets_as_they_are():
    X, y = np.arange(6.0)[:, None], np.array([3.0, 0, 2, 5, 1, 1])
    units = Units.of(X, y).with_targets_as_they_are()
    np.testing.assert_array_equal(units.standardise_targets(y), y)
    np.testing.assert_allclose(units.standardise_inputs(X).std(), 1)


@pytest.mark.parametrize("lengths", [(1000,), (1, 999), (300, 300, 400), (999, 1)])
def test_moments__do_not_depend_on_the_blocks(lengths):
    rows = np.random.default_rng(0).normal(size=(1000, 2)) * [1, 1e6] + [1e3, -1e9]
    found = moments(np.split(rows, np.cumsum(lengths)[:-1]))
    assert found.count == 1000
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.variance, rows.var(axis=0), rtol=1e-12)
    np.testing.assert_array_equal([found.low, found.high], [rows.min(axis=0), rows.max(axis=0)])


def test_moments__keep_the_digits_behind_a_large_offset():
    rng = np.random.default_rng(0)
    offset = 2.0**40
    rows = np.round(1e3 * rng.normal(size=(5000, 1)), 1)
    shifted = rows + offset
    found = moments(np.array_split(shifted, 500))
    exact = shifted - offset
    np.testing.assert_allclose(found.mean - offset, exact.mean(axis=0), atol=np.spacing(offset))
    np.testing.assert_allclose(found.variance, exact.var(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "is_constant"),
    [
        ([3.0, 3.0, 3.0], True),
        ([0.0, 0.0, -0.0], True),
        ([0.3, 0.1 + 0.2, 0.3], True),
        ([1e12, 1e12 + 4e-4, 1e12], True),
        ([1e12, 1e12 + 1e-3, 1e12], False),
        ([0.0, 1e-12, -1e-12], False),
        ([0.0, 1e-200, 2e-200], True),
    ],
)
def test_moments__tell_a_constant_from_small_changes(values, is_constant):
    found = moments([np.array(values)[:, None]])
    assert found.is_constant.tolist() == [is_constant]
    assert (found.scale[0] == 1) == is_constant
