"""Tests of values that a user has given with an expression."""

import numpy as np

from vbks.kernels.given import GivenValues
from vbks.kernels.parameters import FixedPrior, NormalPrior


def test_given__holds_what_is_fixed_and_leaves_the_rest() -> None:
    given, thetas = GivenValues((1.0, 2.0, 3.0), fixed=(1,)), np.zeros((2, 3))
    np.testing.assert_array_equal(given.hold(thetas), [[0.0, 2.0, 0.0]] * 2)
    np.testing.assert_array_equal(thetas, 0.0)


def test_given__priors_of_what_is_fixed_know_the_value() -> None:
    priors = (NormalPrior(0.0, 1.0), NormalPrior(1.0, 2.0))
    found = GivenValues((1.0, 2.0), fixed=(0,)).priors(priors)
    assert found == (FixedPrior(1.0), priors[1])
