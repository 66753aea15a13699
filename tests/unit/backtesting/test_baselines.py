"""Tests of baselines by their names."""

import numpy as np
import pytest

from vbks.backtesting import baselines
from vbks.backtesting.baselines import BASELINES, make_baselines
from vbks.backtesting.metrics import LEVELS
from vbks.backtesting.naive import naive_forecast, seasonal_forecast
from vbks.errors import SettingsError


def test_baselines__are_those_of_their_names():
    found, notices = make_baselines(["naive", "seasonal naive"], 4)
    assert (list(found), notices) == (["naive", "seasonal naive"], ())
    series, ahead = np.random.default_rng(0).normal(size=20), np.array([1, 6])
    for name, expected in (
        ("naive", naive_forecast(series, ahead)),
        ("seasonal naive", seasonal_forecast(series, ahead, 4)),
    ):
        mean, quantiles = found[name](series, ahead, 4)
        np.testing.assert_array_equal(mean, expected.mean)
        np.testing.assert_array_equal(quantiles, expected.quantiles(np.array(LEVELS)))


def test_baselines__without_a_season_are_naive_alone():
    found, _ = make_baselines(["seasonal naive", "naive", "naive"], 1)
    assert list(found) == ["naive"]


def test_baselines__that_are_not_installed_are_said(monkeypatch):
    monkeypatch.setattr(baselines, "import_models", lambda: ({}, "There are none."))
    found, notices = make_baselines(BASELINES, 12)
    assert (list(found), notices) == (["naive", "seasonal naive"], ("There are none.",))
    assert make_baselines(["naive"], 12)[1] == ()


@pytest.mark.parametrize("names", ["naive", ["prophet"]])
def test_baselines__of_other_names_are_refused(names):
    with pytest.raises(SettingsError, match="expected a list of some of 'naive', 'seasonal naive'"):
        make_baselines(names, 12)
