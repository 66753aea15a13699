from dataclasses import replace

import numpy as np
import pytest
from support.fits import make_data, make_fit

from vbks.data.warps import Identity
from vbks.selection import axes
from vbks.selection.axes import axes_of
from vbks.selection.missing_rows import MissingRows
from vbks.selection.record import SelectionRecord


def make_record(**changes):
    return SelectionRecord((make_fit("SE"),), {Identity(): make_data()}, **changes)


def test_axes_of__have_names_units_and_the_range_of_the_rows():
    found = axes_of(make_record(feature_names=("depth (m)",), target_name="load (MW)"))
    X = make_data().source.X[:, 0]
    assert (found[1].name, found[1].unit) == ("depth", "m")
    assert (found[1].low, found[1].high) == (X.min(), X.max())
    assert (found.target.name, found.target.unit) == ("load", "MW")
    assert axes_of(make_record())[1].name == ""


def test_axes_of__of_times_are_dates():
    found = axes_of(make_record(time_inputs=(0,)))
    assert found[1].is_time and found[1].origin.year == 1970


def test_axes_of__without_rows_have_about_the_range_that_they_had():
    data = make_data()
    absent = replace(data, source=MissingRows(data.num_rows, 1))
    found = axes_of(replace(make_record(), data={Identity(): absent}))
    assert found[1].range == pytest.approx(np.ptp(data.source.X), rel=0.2)


def test_axes_of__many_rows_have_the_range_of_some(monkeypatch):
    monkeypatch.setattr(axes, "MOST_ROWS", 5)
    found, X = axes_of(make_record()), make_data().source.X
    assert X.min() <= found[1].low < found[1].high <= X.max()
    assert found[1].range < np.ptp(X)
