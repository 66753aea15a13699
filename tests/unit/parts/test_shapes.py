"""Shapes of curves that are known, with bands that tell them or do not."""

import numpy as np
import pytest

from vbks.parts.shapes import shape_of

X = np.linspace(0.0, 10.0, 41)
NARROW = 1e-6 * np.eye(41)


@pytest.mark.parametrize(
    ("curve", "direction", "pace"),
    [
        (2.0 * X, "up", None),
        (-X, "down", None),
        (np.exp(X / 4.0), "up", "faster"),
        (-np.exp(X / 4.0), "down", "faster"),
        (np.log1p(X), "up", "slower"),
    ],
)
def test_shape__has_a_direction_and_a_pace(curve, direction, pace):
    shape = shape_of(X, curve, NARROW)
    assert (shape.direction, shape.pace, shape.turns) == (direction, pace, ())
    assert shape.rate.value == pytest.approx((curve[-1] - curve[0]) / 10.0)


def test_curve_that_levels_off__says_from_where():
    shape = shape_of(X, 1.0 - np.exp(-X), NARROW)
    assert shape.direction == "up"
    assert shape.levels_off == pytest.approx(-np.log(0.1), abs=0.26)


@pytest.mark.parametrize(
    ("curve", "direction", "turns"),
    [
        (-((X - 4.0) ** 2), "up", [4.0]),
        ((X - 7.0) ** 2, "down", [7.0]),
        (np.sin(0.6 * X), "up", [np.pi / 1.2, np.pi / 0.4]),
    ],
)
def test_curve_that_turns__says_where(curve, direction, turns):
    shape = shape_of(X, curve, NARROW)
    assert shape.direction == direction and shape.rate is None
    np.testing.assert_allclose(shape.turns, turns, atol=0.26)


def test_curve_that_turns_often__has_no_shape():
    assert shape_of(X, np.sin(3.0 * X), NARROW) is None
    assert shape_of(X, np.zeros(41), NARROW) is None


def test_shape__is_told_only_where_the_band_supports_it():
    assert shape_of(X, X, 100.0 * np.eye(41)) is None
    # A band that moves as a whole says nothing against a rise.
    assert shape_of(X, X, 100.0 * np.ones((41, 41)) + NARROW).direction == "up"
    bump = X + 1.5 * np.exp(-((X - 5.0) ** 2))
    assert len(shape_of(X, 3.0 * bump, NARROW).turns) in (0, 2)
    assert shape_of(X, np.exp(X / 4.0), 4.0 * np.eye(41)).pace is None
