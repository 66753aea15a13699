"""Parts of a selection: in the units of the data, with the belief of its candidates."""

import numpy as np
import pandas as pd
import pytest

import vbks
from vbks.errors import DataError
from vbks.selection.components import axes_of, believed_mixture

DAYS = pd.date_range("2020-01-01", periods=70)
STEPS = np.arange(70.0)
WEEK = np.array([2.0, 3.0, 2.5, 1.0, -0.5, -4.0, -4.0])
WAVE, RISE = np.tile(WEEK, 10), 0.2 * STEPS


@pytest.fixture(scope="module")
def selection():
    rng = np.random.default_rng(0)
    y = pd.Series(20.0 + RISE + WAVE + 0.3 * rng.normal(size=70), name="load (MW)")
    table = pd.DataFrame({"day": DAYS})
    return vbks.fit(
        table, y, space=["LIN + PER", "SE + PER", "SE"], warps=["identity"], restarts=2,
        progress=False, posterior="laplace",
    )  # fmt: skip


def test_components__are_the_parts_that_the_data_were_made_of(selection):
    found = selection.components()
    by_kind = {part.kind: part for part in found}
    cycle = by_kind["cycle"]
    assert cycle.reading == "weekly cycle" and cycle.probability > 0.99
    assert np.corrcoef(cycle.mean, WAVE)[0, 1] > 0.99
    rise = sum(part.mean for part in found if part.kind in ("trend", "curve"))
    assert np.corrcoef(rise, RISE)[0, 1] > 0.99
    assert sum(part.share for part in found) == pytest.approx(1.0, abs=0.01)
    assert "weekly cycle" in str(cycle) and "MW" in str(cycle)


def test_components__add_up_to_predictions_at_new_inputs(selection):
    later = pd.DataFrame({"day": pd.date_range("2020-03-11", periods=9)})
    found = selection.components(later)
    mean, _ = selection.predict_f(later)
    np.testing.assert_allclose(found.main.total, mean, atol=1e-8)
    assert all(len(part.mean) == 9 for part in found)
    with pytest.raises(DataError, match="times"):
        selection.components(np.zeros((3, 1)))


def test_table__has_a_row_for_each_part_with_errors_that_fall(selection):
    found = selection.components()
    table = found.table
    assert list(table["part"]) == [part.reading for part in found]
    assert list(table["part"])[-1] == "level"
    first = table.iloc[0]
    assert first["mae"] < table.iloc[-1]["mae"] and first["mae_gain"] > 0.3
    assert table["r2"].iloc[-2] > 0.99
    assert np.all(table["probability"].between(0, 1))


def test_residuals_and_cumulative_fits__begin_with_the_level(selection):
    own = selection.components().main
    y = own.rows.targets
    np.testing.assert_allclose(own.residuals(0), y - y.mean(), atol=0.2)
    np.testing.assert_allclose(own.residuals(), y - own.cumulative(), atol=1e-8)
    spreads = [own.residuals(num).std() for num in range(len(own.components))]
    assert spreads[-1] < 0.4 < spreads[0]
    with pytest.raises(DataError, match="num_parts is 9"):
        own.cumulative(9)


def test_axes__are_columns_of_the_data(selection):
    axes = axes_of(selection)
    assert axes[1].is_time and axes[1].unit == "days" and axes.target.unit == "MW"


def test_mixture__is_that_of_the_belief_even_where_predictions_are_stacked(selection):
    assert believed_mixture(selection) is selection.mixture
    stacked = selection.with_belief("stacking")
    if not np.array_equal(stacked.weights, stacked.probabilities):
        weights = [weight for _, weight in believed_mixture(stacked).members]
        np.testing.assert_allclose(sum(weights), 1.0)
