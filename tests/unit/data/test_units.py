import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from vbks.data.units import Moments, Units
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit
from vbks.errors import DataError

WARPS = (Identity(), Log(), InverseSoftplus(40.0), Logit(-1.0, 500.0))
OVER_WARPS = pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.name)
Y = np.random.default_rng(0).lognormal(3.0, 0.8, size=50)


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


def warped_units(warp):
    warped = moments([warp.forward(Y)[:, None]])
    return Units.of(np.zeros((50, 1)), Y).with_warp(warp, warped)


@OVER_WARPS
def test_units__standardise_after_the_warp(warp):
    units = warped_units(warp)
    z = units.standardise_targets(Y)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(z * units.y_scale + units.y_mean, warp.forward(Y), rtol=1e-12)
    np.testing.assert_allclose(units.restore_targets(z), Y, rtol=1e-12)


@OVER_WARPS
def test_units__restore_quantiles(warp):
    units = warped_units(warp)
    draws = np.random.default_rng(0).normal(0.3, 0.5, size=9999)
    for level in (0.1, 0.5, 0.95):
        restored = units.restore_targets(np.quantile(draws, level, method="nearest"))
        own = np.quantile(units.restore_targets(draws), level, method="nearest")
        assert restored == pytest.approx(own, rel=1e-12)


@OVER_WARPS
def test_units__restore_moments_and_covariances_of_samples(warp):
    units = warped_units(warp)
    mean, covariance = np.array([0.3, -0.4]), np.array([[0.3, -0.1], [-0.1, 0.2]])
    rng = np.random.default_rng(0)
    y = units.restore_targets(rng.multivariate_normal(mean, covariance, size=100_000))
    gaps = y - y.mean(axis=0)
    products = gaps[:, :, None] * gaps[:, None, :]
    found = units.restore_moments(mean, np.diag(covariance))
    assert (np.abs(found[0] - y.mean(axis=0)) < 4 * y.std(axis=0) / np.sqrt(len(y))).all()
    restored = units.restore_covariance(mean, covariance)
    error = products.std(axis=0) / np.sqrt(len(y))
    assert (np.abs(restored - products.mean(axis=0)) < 4 * error).all()
    np.testing.assert_allclose(np.diag(restored), found[1], rtol=1e-9)


@OVER_WARPS
def test_units__make_densities_that_add_up_to_one(warp):
    units = warped_units(warp)

    def density(y):
        z = units.standardise_targets(np.array([y]))
        return np.exp(norm.logpdf(z, 0.3, 0.5) + units.log_slope(np.array([y])))[0]

    ends = units.restore_targets(np.array([-5.0, -0.5, 0.3, 1.5, 6.0]))
    whole = sum(quad(density, a, b)[0] for a, b in itertools.pairwise(ends))
    assert whole == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("warp", WARPS[1:], ids=lambda warp: warp.name)
def test_units__give_no_density_to_targets_that_cannot_be(warp):
    units, outside = warped_units(warp), np.array([-1.0, -7.0])
    log_density = norm.logpdf(units.standardise_targets(outside)) + units.log_slope(outside)
    np.testing.assert_array_equal(log_density, -np.inf)


@pytest.mark.parametrize("warp", WARPS[1:], ids=lambda warp: warp.name)
def test_units__do_not_restore_variances_alone_after_a_warp(warp):
    message = f"cannot be restored after the warp '{warp.name}'. Use restore_moments with means"
    with pytest.raises(DataError, match=message):
        warped_units(warp).restore_variances(np.ones(2))


def test_units__of_targets_as_they_are_have_no_warp():
    units = warped_units(Log()).with_targets_as_they_are()
    np.testing.assert_array_equal(units.standardise_targets(Y), Y)


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
