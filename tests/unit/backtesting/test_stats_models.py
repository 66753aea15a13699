"""Tests of models of `statsforecast`, with a package of the same interface in its place."""

import sys
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import norm

from vbks.backtesting import stats_models
from vbks.backtesting.metrics import LEVELS
from vbks.backtesting.stats_models import import_models, stats_forecast


class Drift:
    """The interface of a model: normal intervals around the last value, plus a step a period."""

    def __init__(self, season_length=1):
        self.season_length = season_length

    def forecast(self, y, h, X=None, X_future=None, level=None, fitted=False):
        assert np.isfinite(y).all()
        mean = y[-1] + np.arange(1, h + 1)
        found = {"mean": mean}
        for percent in level:
            half = norm.ppf(0.5 + percent / 200) * self.season_length
            found |= {f"lo-{percent}": mean - half, f"hi-{percent}": mean + half}
        return found


@pytest.fixture
def stub(monkeypatch):
    """A package `statsforecast` whose models are `Drift`."""
    package, models = ModuleType("statsforecast"), ModuleType("statsforecast.models")
    models.AutoETS = models.AutoARIMA = Drift
    monkeypatch.setitem(sys.modules, "statsforecast", package)
    monkeypatch.setitem(sys.modules, "statsforecast.models", models)
    return models


def test_import_models__finds_both_or_says_why_not(stub, monkeypatch):
    assert import_models() == ({"AutoETS": Drift, "AutoARIMA": Drift}, "")
    monkeypatch.setitem(sys.modules, "statsforecast", None)
    monkeypatch.delitem(sys.modules, "statsforecast.models")
    models, reason = import_models()
    assert not models
    assert "not installed (pip install 'vbks[baselines]')" in reason


@pytest.mark.parametrize(
    "error",
    [ImportError("pyarrow requires NumPy 2.0 or newer."), ModuleNotFoundError("x", name="numba")],
)
def test_import_models__of_a_broken_installation_is_said(error, monkeypatch):
    def fail(name):
        raise error

    monkeypatch.setattr(stats_models, "import_module", fail)
    assert import_models() == (
        {},
        f"AutoETS and AutoARIMA are not compared: statsforecast cannot be imported: "
        f"{str(error).rstrip('.')}.",
    )


def test_stats_forecast__has_the_quantiles_at_the_periods_ahead():
    series = np.array([1.0, np.nan, 3.0, 4.0])
    mean, quantiles = stats_forecast(Drift, series, np.array([1, 3, 3]), 2)
    np.testing.assert_allclose(mean, [5.0, 7.0, 7.0])
    np.testing.assert_allclose(quantiles, mean[:, None] + 2 * norm.ppf(LEVELS))
