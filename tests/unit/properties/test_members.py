import numpy as np
import pytest

from vbks.data.warps import Log
from vbks.kernels.layout import lay_out
from vbks.properties.members import GRID, MOST_ROWS, leaf_dims, share_where

X = np.linspace(0.0, 9.0, 40)
Y = np.exp(1.0 + 0.2 * X + 0.1 * np.sin(3 * X))


@pytest.fixture(scope="module")
def beliefs(believe):
    fits = [("LIN", {}, 1.0), ("SE", {}, 3.0, Log()), ("SE + LIN", {}, 1.0, Log())]
    return believe(X, Y, fits, spread=0.1)


def test_members__have_the_belief_and_come_by_it(beliefs):
    found = [(str(m.fit.expression), m.scale.name, m.probability) for m in beliefs]
    assert found[0] == ("SE", "log", pytest.approx(0.6))
    assert sorted(m.probability for m in beliefs) == pytest.approx([0.2, 0.2, 0.6])
    assert sum(float(member.weights.sum()) for member in beliefs) == pytest.approx(1.0)


def test_mean_of_all_terms__is_that_of_the_function_on_the_scale_of_the_warp(beliefs):
    for member in beliefs:
        own = member.units.standardise_inputs(X[:, np.newaxis])
        mean = member.mean_of(range(len(member.terms)), own)
        slack = 4.0 if str(member.fit.expression) == "LIN" else 1.5
        np.testing.assert_allclose(member.scale.response(mean), Y, atol=slack)
        level = member.mean_of([], own)
        np.testing.assert_allclose(level, member.units.y_mean)


def test_along__goes_from_end_to_end_with_others_at_their_medians(believe):
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 10, (300, 2))
    found = believe(rows, rows[:, 0] + 1.0, [("LIN[1]", {}, 1.0)])
    assert found.num_inputs == 2 and len(found.X) == MOST_ROWS and found.is_gaussian
    places = found.along(1)
    assert places.shape == (GRID, 2)
    assert (places[0, 1], places[-1, 1]) == (rows[:, 1].min(), rows[:, 1].max())
    assert np.all(places[:, 0] == np.median(found.X[:, 0]))


def test_leaf_dims__are_counted_from_zero():
    root = lay_out("SE[2] + LIN", 3).root
    assert [leaf_dims(node, 3) for node in root.operands] == [(1,), (0, 1, 2)]


def test_share_where__adds_weights():
    weights = np.array([0.1, 0.2, 0.3])
    assert share_where(np.array([True, False, True]), weights) == pytest.approx(0.4)
