from datetime import datetime

import numpy as np
import pytest

from vbks import datasets
from vbks.parts.axes import axes_of_data, split_unit
from vbks.words import Axis

MONTHS = 1949.0 + np.arange(48)[:, np.newaxis] / 12


def axis_of(values, *names, **others):
    return axes_of_data(np.asarray(values, float).reshape(-1, 1), names or None, **others)[1]


def test_axes__of_dates_are_days_since_1970():
    axis = axis_of([10.0, 30.0], "when", time_inputs=(0,))
    assert axis == Axis("when", "days", True, datetime(1970, 1, 1), 10.0, 30.0)


@pytest.mark.parametrize(
    "values, name",
    [
        (np.arange(1610.5, 2011.5), "x"),
        (MONTHS, ""),
        (MONTHS, "time"),
        (1990 + np.arange(400) / 52.18, "x"),
        (1990 + np.arange(5000) / 365.25, "ds"),
        (np.delete(MONTHS, [3, 4, 20]), "t"),
    ],
)
def test_axes__know_numbers_that_are_evidently_years(values, name):
    axis = axis_of(values, name)
    assert axis.unit == "years" and axis.is_time and axis.name == "" and axis.origin is None


@pytest.mark.parametrize(
    "values, name",
    [
        (np.arange(100.0), "x"),
        (np.arange(1800.0, 1805.0), "x"),
        (np.arange(1500.0, 3500.0, 10), "x"),
        (np.arange(1800.0, 1900.0, 0.3), "x"),
        (np.arange(1800.0, 1900.0), "wavelength"),
    ],
)
def test_axes__take_nothing_else_for_years(values, name):
    axis = axis_of(values, name)
    assert axis.unit is None and not axis.is_time


def test_axes__read_units_from_names():
    assert split_unit("load (MW)") == ("load", "MW")
    assert split_unit("depth [m]") == ("depth", "m")
    assert split_unit("f(x) of y") == ("f(x) of y", None)
    assert axis_of([1.0, 2.0], "depth (m)") == Axis("depth", "m", low=1.0, high=2.0)
    month = axis_of(np.arange(144.0), "month")
    assert (month.unit, month.is_time) == ("months", True)
    since = axis_of([0.0, 9.0], "days since 2015-01-01 00:00")
    assert (since.unit, since.is_time, since.origin) == ("days", True, datetime(2015, 1, 1))
    assert axis_of([0.0, 9.0], "miles since 2015-01-01").origin is None


def test_axes__that_come_back_are_no_time():
    hours = np.column_stack([np.tile(np.arange(24.0), 5), np.arange(120.0)])
    axes = axes_of_data(hours, ("hour", "day"))
    assert (axes[1].unit, axes[1].is_time) == ("hours", False)
    assert (axes[2].unit, axes[2].is_time) == ("days", True)


def test_axes__have_the_target_and_the_warp():
    data = datasets.airline()
    axes = axes_of_data(data.X, data.x_names, target=data.y_name, warp="log")
    assert (axes.target.name, axes.target.unit, axes.is_log) == ("passengers", "thousand", True)
    assert axes[1].unit == "years" and axes[1].is_time
