"""Which rows are checked, in which order, and how their places are told."""

import numpy as np
from support.residuals import make_sequence

from vbks.criticism.sequence import RUN_LENGTH, order_input, rows_in_order
from vbks.data.training import prepare
from vbks.words import Axes, Axis


def test_order__is_that_of_the_only_input_or_of_time():
    assert order_input(Axes((Axis("x"),)), 1) == 0
    assert order_input(Axes((Axis("x"), Axis("day", is_time=True))), 2) == 1
    assert order_input(Axes((Axis("x"), Axis("z"))), 2) is None


def test_rows__are_sorted_or_as_in_the_table():
    x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    data = prepare((x, np.array([1.0, 2.0, 4.0, 3.0, 7.0])))
    assert rows_in_order(data, 0).tolist() == [1, 2, 0, 4, 3]
    assert rows_in_order(data, None).tolist() == [0, 1, 2, 3, 4]


def test_many_rows__are_runs_of_neighbours_from_end_to_end():
    data = prepare((np.arange(1000.0), np.random.default_rng(0).normal(size=1000)))
    rows = rows_in_order(data, 0, most=200)
    assert len(rows) == 200 and rows[0] == 0 and rows[-1] == 999
    assert np.sum(np.diff(rows) == 1) >= 4 * (RUN_LENGTH - 1)


def test_places__are_told_along_the_input_or_by_rows():
    y = np.arange(5.0)
    assert make_sequence(np.arange(5.0), y).where(3) == "at 3 months"
    own = make_sequence(np.ones((5, 2)), y, along=None, names=("a", "b"))
    assert own.where(3) == "in row 4" and own.order_name == "the table"


def test_ranks__are_the_same_for_the_same_values():
    ranks = make_sequence(np.array([1.0, 2.0, 2.0, 9.0]), np.zeros(4)).ranks[:, 0]
    np.testing.assert_allclose(ranks, [0.125, 0.5, 0.5, 0.875])
