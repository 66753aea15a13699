import numpy as np
from support.selections import make_dated, make_table

from vbks.report.labels import labels_of
from vbks.report.sections.part_inputs import GRID_POINTS, is_near, part_inputs
from vbks.words import Factor, Part, Values
from vbks.words.estimate import Estimate


def of_period(period):
    return Part((Factor("PER", (1,), (Values(period=Estimate(period)),)),))


def test_inputs__of_one_go_as_far_as_the_forecast():
    selection = make_dated()
    where = part_inputs(selection, labels_of(selection))
    assert where.is_curve and len(where.X) == GRID_POINTS
    x = where.X[where.along(0), 0]
    assert x[0] == selection.rows.source.X.min() and x[-1] > where.end
    assert np.all(np.diff(x) > 0)


def test_inputs__come_closer_to_cycles_that_are_many():
    selection = make_dated()
    where = part_inputs(selection, labels_of(selection), (30.0, 31.0, 400.0))
    assert [*where.closer_to] == [30.0]
    rows = where.closer(of_period(31.0), 0)
    x = where.X[rows, 0]
    assert x[0] == where.end - 90.0 and x[-1] == where.end
    assert where.closer(of_period(400.0), 0) is None and where.closer(Part(()), 0) is None


def test_inputs__of_several_have_the_range_of_each():
    selection = make_table()
    where = part_inputs(selection, labels_of(selection))
    X = np.asarray(selection.rows.source.X)
    assert not where.is_curve and where.end is None
    np.testing.assert_allclose(where.X[[0, -1]], np.quantile(X, (0.02, 0.98), axis=0))


def test_periods__of_one_cycle_are_near():
    assert is_near(11.0, 12.0) and is_near(12.0, 11.0) and not is_near(6.0, 12.0)
