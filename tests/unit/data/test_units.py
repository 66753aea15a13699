import numpy as np

from vbks.data import Units


def test_units__standardise_and_restore():
    rng = np.random.default_rng(0)
    X, y = 1e6 + 30 * rng.normal(size=(50, 3)), -5 + 1e-3 * rng.normal(size=50)
    units = Units.of(X, y)
    Z, z = units.standardise_inputs(X), units.standardise_targets(y)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-10)
    np.testing.assert_allclose(units.restore_targets(z), y)


def test_units__of_a_constant_input_make_it_zero():
    units = Units.of(np.full((4, 1), 7.0), np.arange(4.0))
    np.testing.assert_array_equal(units.standardise_inputs(np.full((4, 1), 7.0)), 0)
