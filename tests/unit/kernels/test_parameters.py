"""Tests of hyperparameters: where fits may start them."""

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.parameters import FixedPrior, NormalPrior, Parameter

SUMMARY = InputSummary(-1.5, 1.5, 0.01, periods=(0.3, 0.7))


def test_fixed_prior__is_its_value() -> None:
    np.testing.assert_array_equal(FixedPrior(2.5).draw(np.array([0.1, 0.9])), 2.5)
    assert (FixedPrior(2.5).centre, FixedPrior(2.5).precision) == (2.5, 0.0)


@pytest.mark.parametrize("role", ["lengthscale", "period", "location", "change", "width"])
def test_start__of_a_role_fits_the_range_of_the_input(role: str) -> None:
    parameter = Parameter("own", NormalPrior(99.0, 0.1), role=role)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    starts = np.array([parameter.draw_start(rng, SUMMARY) for _ in range(300)])
    if role in ("location", "change"):
        beyond = 0.0 if role == "change" else SUMMARY.range
        assert np.all((starts >= -1.5 - beyond) & (starts <= 1.5 + beyond))
    else:
        assert np.all(np.exp(starts) <= 3 * SUMMARY.range + 1e-9)
        assert np.all(np.exp(starts) >= 2 * SUMMARY.spacing - 1e-9)


def test_start__of_a_period_is_often_one_of_the_periodogram() -> None:
    parameter = Parameter("own", NormalPrior(0.0, 1.0), role="period")
    rng = np.random.default_rng(0)
    starts = [parameter.draw_start(rng, SUMMARY) for _ in range(400)]
    is_peak = np.isclose(np.exp(starts)[:, np.newaxis], SUMMARY.periods).any(axis=1)
    assert 0.5 < is_peak.mean() < 0.7


def test_start__without_a_role_is_from_the_prior_and_an_own_one_comes_first() -> None:
    rng = np.random.default_rng(0)
    plain = Parameter("own", NormalPrior(40.0, 0.5))
    starts = [plain.draw_start(rng, SUMMARY) for _ in range(500)]
    assert abs(np.mean(starts) - 40.0) < 3 * 0.5 / np.sqrt(500)
    own = Parameter("own", NormalPrior(0.0, 1.0), start=lambda rng, x: x.low, role="period")
    assert own.draw_start(rng, SUMMARY) == -1.5


def test_power__of_the_input_is_one_for_lengths() -> None:
    assert Parameter("l", NormalPrior(0.0, 1.0), per_input=True).input_power == 1
    assert Parameter("a", NormalPrior(0.0, 1.0)).input_power == 0
    assert Parameter("v", NormalPrior(0.0, 1.0), input_power=-2).input_power == -2
