"""Tests of what Bayesian optimisation prefers."""

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.errors import SettingsError, VbksError
from vbks.search.strategies import acquisition as module
from vbks.search.strategies.acquisition import (
    ExpectedImprovement,
    UpperConfidenceBound,
    acquisition_of,
    log_expected_improvement,
    register_acquisition,
)


@pytest.mark.parametrize("mean, sd", [(1.0, 0.5), (-0.5, 1.0), (0.0, 0.1), (-2.0, 1.0)])
def test_expected_improvement__is_that_of_samples(mean: float, sd: float) -> None:
    draws = mean + sd * np.random.default_rng(0).normal(size=400_000)
    gains = np.maximum(draws - 0.1, 0.0)
    found = np.exp(log_expected_improvement(np.array([mean]), np.array([sd]), 0.1))[0]
    assert abs(found - gains.mean()) < 3 * gains.std() / np.sqrt(len(gains))


def test_expected_improvement__is_in_order_where_it_is_tiny() -> None:
    means = -np.logspace(-2, 5, 50)
    found = log_expected_improvement(means, np.ones(50), 0.0)
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) < 0)
    below = log_expected_improvement(np.array([-1e-9, 1e-9]), np.ones(2), 0.0)
    assert below[0] == pytest.approx(below[1], abs=1e-8)


def test_upper_confidence_bound__is_a_quantile_and_does_not_look_at_the_best() -> None:
    mean, sd = np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.1, 2.0])
    found = UpperConfidenceBound(1.5)(mean, sd, best=0.3)
    np.testing.assert_allclose(found, [1.5, 1.15, 2.0], rtol=1e-12)
    np.testing.assert_array_equal(UpperConfidenceBound(0.0)(mean, sd, best=-9.0), mean)


def test_upper_confidence_bound__refuses_a_width_below_zero() -> None:
    with pytest.raises(SettingsError, match="width of an upper confidence bound is -1"):
        UpperConfidenceBound(-1)


def test_acquisition_of__knows_names_and_passes_on_values() -> None:
    assert acquisition_of("ei") == ExpectedImprovement()
    assert acquisition_of("ucb") == UpperConfidenceBound()
    given = UpperConfidenceBound(3.0)
    assert acquisition_of(given) is given
    with pytest.raises(VbksError, match="acquisition"):
        acquisition_of("entropy")


def test_register_acquisition__makes_a_name_known_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ACQUISITIONS", dict(module._ACQUISITIONS))

    def by_mean(mean: Array, sd: Array, best: float) -> Array:
        return mean

    register_acquisition("mean", by_mean)
    assert acquisition_of("mean") is by_mean
    with pytest.raises(SettingsError, match="'mean' exists already"):
        register_acquisition("mean", by_mean)
