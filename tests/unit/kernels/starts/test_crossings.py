import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary, ZeroCrossing
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.crossings import crossing_turn, crossing_values
from vbks.kernels.starts.policy import StartPolicy
from vbks.kernels.starts.proposals import Situation

CROSSINGS = (ZeroCrossing(0.3, (1.1, 0.6)), ZeroCrossing(-0.8, (0.9,)))
INPUT = InputSummary(-1.7, 1.7, 0.02, crossings=CROSSINGS)


def values(text):
    """What starts at zero crossings have, by the names of slots."""
    layout = lay_out(text)
    found = crossing_values(Situation(layout, {0: INPUT}, {}, StartPolicy()))
    return {layout.names[slot].rsplit(".", 1)[-1]: own for slot, own in found.items()}


def test_turn__is_of_two_starts_in_four():
    assert [crossing_turn(place) for place in range(8)] == [None, None, 0, 1, None, None, 2, 3]


def test_line_times_a_wave__has_each_zero_with_its_periods_in_turn():
    """The first period of every zero comes before the second of any."""
    found = values("LIN * PER")
    assert found["location"] == [0.3, -0.8, 0.3]
    np.testing.assert_allclose(np.exp(found["period"]), [1.1, 0.9, 0.6])


def test_line_times_something_smooth__has_the_zeros_alone():
    assert set(values("LIN * SE")) == {"location"}


@pytest.mark.parametrize("text", ["LIN + PER", "SE * PER", "LIN * LIN", "LIN * PER * PER"])
def test_other_kernels__have_no_such_starts(text):
    assert values(text) == {}


def test_without_crossings__there_are_none():
    layout, flat = lay_out("LIN * SE"), InputSummary(-1.7, 1.7, 0.02)
    assert crossing_values(Situation(layout, {0: flat}, {}, StartPolicy())) == {}
