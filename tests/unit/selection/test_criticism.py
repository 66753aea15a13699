"""Model criticism of selections: what is checked, and what is told of it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated, make_fit, make_table

from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.errors import FileError
from vbks.selection.criticism import r2_of, sequence_of
from vbks.selection.missing_rows import MissingRows
from vbks.selection.selection import Selection

MONTHS = pd.date_range("2000-01-01", periods=96, freq="MS")
STEPS = np.arange(96)


def monthly(y, text="SE", **changes):
    """A selection of months, whose kernel is smooth over a third of the range."""
    data = prepare((pd.DataFrame({"month": MONTHS}), y))
    made = {"feature_names": ("month",), "time_inputs": (0,), **changes}
    return Selection((make_fit(text, 96),), {Identity(): data}, **made)


def noisy(signal, seed=0):
    return signal + 0.5 * np.random.default_rng(seed).standard_normal(96)


def test_missed_cycle__is_named_in_months():
    found = monthly(noisy(np.sin(2 * np.pi * STEPS / 12))).criticism(num_replicates=199)
    assert found.verdict.startswith("Look at:")
    sentences = {check.check: check.sentence for check in found.findings}
    assert sentences["periodogram"] == "Residuals repeat every 12 months: a cycle is missed."
    assert found.table.set_index("check").loc["periodogram", "p_value"] == 1 / 200


def test_step__is_named_with_its_date():
    found = monthly(noisy(3.0 * (STEPS >= 60))).criticism(num_replicates=199)
    (told,) = [check.sentence for check in found.findings if check.check == "step"]
    assert "jumps up" in told and told.endswith("in January 2005: a step is missed.")


def test_rows__are_told_in_the_order_of_the_input():
    selection = make_dated()
    rows = sequence_of(selection)
    assert np.all(np.diff(rows.positions) > 0) and rows.along == 0
    assert sequence_of(make_table()).along is None
    found = selection.criticism(num_replicates=99)
    assert found.num_rows == len(found.residuals) == 40
    assert [own.level for own in found.coverage] == [0.5, 0.9]


def test_several_inputs__are_checked_one_by_one():
    found = make_table().criticism(num_replicates=99)
    names = [check.check for check in found.checks]
    assert "neighbours" in names and "trend" in names
    assert "periodogram" not in names and "step" not in names


def test_mean_function__is_added_to_targets_again():
    import gpflow

    y = noisy(np.zeros(96))
    line = gpflow.functions.Constant(7.0)
    rows = sequence_of(monthly(y, mean_function=line))
    np.testing.assert_allclose(rows.y, y + 7.0)


def test_notices__are_part_of_the_result():
    y = noisy(np.zeros(96))
    y[40] = 1e6
    selection = monthly(y, untried=("PER", "SE * PER"))
    failed = replace(make_fit("RQ", 96), modes=(), status="failed", reason="no start was finite")
    found = selection.criticism(num_replicates=99)
    told = " ".join(found.notices)
    assert "row 41 holds more than 99 %" in told and "before any kernel with a cycle" in told
    assert found.r2 < 0.9 and "Notice:" in str(found)
    data = prepare((np.linspace(0, 1e-300, 96), noisy(np.zeros(96))))
    tiny = Selection((make_fit("SE", 96), failed), {Identity(): data})
    (told,) = [text for text in tiny.criticism(num_replicates=99).notices if "R²" in text]
    assert "larger units" in told


def test_r2__is_that_of_predicted_means():
    selection = monthly(noisy(np.sin(STEPS / 9)))
    y = selection.rows.source.y
    mean, _ = selection.predict_y(pd.DataFrame({"month": MONTHS}))
    assert r2_of(selection) == pytest.approx(1 - np.mean((y - mean) ** 2) / np.var(y))


def test_same_seed__gives_the_same_answer():
    selection = make_dated()
    first, again = (selection.criticism(num_replicates=99, seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(first.table, again.table)
    pd.testing.assert_frame_equal(first.residuals, again.residuals)


def test_rows_that_were_not_saved__are_asked_for():
    selection = monthly(noisy(np.zeros(96)))
    rows = replace(selection.rows, source=MissingRows(96, 1))
    with pytest.raises(FileError, match="were not saved"):
        replace(selection, data={Identity(): rows}).criticism()
