"""Properties of a selection: what data are like that were made of a weekly cycle and a fall."""

import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated, make_table

import vbks
from vbks.selection.properties import properties_of_selection


@pytest.fixture(scope="module")
def selection():
    rng, steps = np.random.default_rng(0), np.arange(56.0)
    week = 3.0 * np.sin(2.0 * np.pi * steps / 7.0)
    y = pd.Series(30.0 - 0.3 * steps + week + 0.5 * rng.normal(size=56), name="load (MW)")
    return vbks.fit(
        pd.DataFrame({"day": pd.date_range("2020-01-01", periods=56)}), y,
        space=["LIN + PER", "SE"], warps=["identity"], restarts=2, progress=False,
    )  # fmt: skip


def test_properties__are_those_that_the_data_were_made_with(selection):
    found = selection.properties()
    cycle, trend = found.cycle, found.trend
    low, high = cycle.interval
    assert cycle.probability > 0.99 and cycle.unit == "days" and low < 7.0 < high
    assert "weekly cycle" in cycle.sentence
    assert trend.down > 0.95 and trend.up < 0.01 and trend.unit == "MW"
    assert trend.median == pytest.approx(-0.3 * 55, abs=1.0)
    assert found.change.probability == 0.0 and found.noise.probability == 0.0


def test_properties__of_saved_fits_are_the_same(selection, tmp_path):
    selection.save(tmp_path / "saved")
    loaded = vbks.load(tmp_path / "saved")
    pd.testing.assert_frame_equal(loaded.properties().table, selection.properties().table)
    assert any(fit.theta_samples is not None for fit in loaded.fits)


def test_properties__of_point_fits_have_no_intervals():
    dated, table = make_dated(), make_table()
    for own in (dated, table):
        found = properties_of_selection(own)
        assert found.cycle.interval is None and found.change.interval is None
        assert str(found).count("\n") >= 5
    inputs = {own.inputs[0]: own.probability for own in properties_of_selection(table).inputs}
    assert inputs["age"] > 0.99 and inputs["other 3"] == 0.0
