"""Tests of hyperparameters that families share."""

import math

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.shared_parameters import LEAST_PERIOD_SD, NOISE_VARIANCE, VARIANCE, period_prior


def test_period_prior__has_two_spacings_and_the_range_two_deviations_away() -> None:
    prior = period_prior(InputSummary(-1.5, 1.5, 3.0 / 1000))
    assert prior.mean - 2 * prior.sd == pytest.approx(math.log(2 * 3.0 / 1000))
    assert prior.mean + 2 * prior.sd == pytest.approx(math.log(3.0))


@pytest.mark.parametrize("spacing", [0.0, 1.0, 9.0])
def test_period_prior__of_few_rows_is_not_sure(spacing: float) -> None:
    prior = period_prior(InputSummary(-1.5, 1.5, spacing))
    assert prior.sd == LEAST_PERIOD_SD
    assert math.isfinite(prior.mean)


def test_variances__start_near_their_priors() -> None:
    rng, summary = np.random.default_rng(0), InputSummary(-1.5, 1.5, 0.1)
    for parameter in (VARIANCE, NOISE_VARIANCE):
        starts = np.array([parameter.draw_start(rng, summary) for _ in range(400)])
        assert abs(starts.mean() - parameter.prior.mean) < 3 * starts.std() / 20
        assert starts.std() < parameter.prior.sd
