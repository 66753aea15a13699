import math

import numpy as np
import pytest

from vbks.parts.kinds import Kind, gather, kind_of, match
from vbks.words import Axes, Axis, Estimate, Values, parts_of

AXES = Axes((Axis("time", "years", is_time=True, low=0.0, high=10.0), Axis("x", low=0.0, high=1.0)))


def kinds(text, *values):
    known = [None if value is None else Values(**value) for value in values]
    return [kind_of(part, AXES) for part in parts_of(text, 2, known)]


def cycle(period, text="PER[1]"):
    (kind,) = kinds(text, {"period": Estimate(period)}, {"lengthscale": Estimate(4.0)})
    return kind


def curve(lengthscale, text="SE[1]"):
    (kind,) = kinds(text, {"lengthscale": Estimate(lengthscale)})
    return kind


@pytest.mark.parametrize(
    ("text", "head", "inputs"),
    [
        ("C", "level", ()),
        ("PER[1] * SE[1]", "cycle", (1,)),
        ("PER[1] * LIN[2]", "cycle", (1, 2)),
        ("LIN[1]", "trend", (1,)),
        ("SE[1] * LIN[1]", "curve", (1,)),
        ("SE", "curve", (1, 2)),
    ],
)
def test_kind__is_the_head_and_the_inputs(text, head, inputs):
    (kind,) = kinds(text)
    assert (kind.head, kind.inputs) == (head, inputs)
    assert kind.is_level == (head == "level")


def test_distance__is_that_of_periods():
    assert cycle(1.0).distance(cycle(1.0, "PER[1] * SE[1]"), AXES) == 0.0
    assert cycle(1.0).distance(cycle(1.1), AXES) == pytest.approx(math.log(1.1) / math.log(1.15))
    assert cycle(1.0).distance(cycle(2.0), AXES) > 1.0
    assert cycle(1.0).distance(curve(1.0), AXES) == math.inf


def test_distance__is_that_of_lengthscales_up_to_what_the_data_can_tell():
    assert curve(1.0).distance(curve(2.9), AXES) < 1.0 < curve(1.0).distance(curve(3.1), AXES)
    assert curve(25.0).distance(curve(500.0), AXES) == 0.0
    assert 0.0 < curve(1.0).distance(curve(1.0, "OU[1]"), AXES) < 1.0


def test_distance__is_that_of_places_of_changes():
    def late(place, side="SE[1], C"):
        return kinds(f"CP[1]({side})", {"start": Estimate(place)}, {"lengthscale": Estimate(1.0)})[
            0
        ]

    assert late(5.0).distance(late(5.9), AXES) < 1.0 < late(5.0).distance(late(6.1), AXES)
    assert late(5.0).distance(curve(1.0), AXES) == math.inf
    assert late(5.0).name == "curve within limits"


def test_lines__differ_by_their_power():
    line, square = kinds("LIN[1] + LIN[1] * LIN[1]")
    assert (line.power, square.power) == (1, 2)
    assert line.distance(square, AXES) == math.inf


def test_gather__puts_terms_of_a_kernel_together_that_are_nearly_the_same():
    own = [curve(1.0), cycle(1.0), curve(1.5), curve(2.5), cycle(1.02)]
    assert gather(own, AXES) == [[0, 2], [1, 4], [3]]


def test_match__gives_each_part_the_nearest_kind_and_none_twice():
    first, second = [curve(1.0), cycle(1.0)], [curve(1.3), curve(1.1), cycle(1.01), cycle(3.0)]
    found, places = match([first, second], AXES)
    assert places == [[0, 1], [2, 0, 1, 3]]
    assert found[:2] == first and len(found) == 4


def test_match__knows_parts_of_which_no_value_is_known():
    found, places = match([kinds("PER[1] + SE[2]"), kinds("SE[2] + PER[1]")], AXES)
    assert places == [[0, 1], [1, 0]]
    assert np.isnan(found[0].periods[0])
    assert Kind("level").is_level
