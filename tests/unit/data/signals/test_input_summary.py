"""Tests of what is known of one input."""

from vbks.data.signals.input_summary import InputSummary, ZeroCrossing


def test_range__is_from_the_lowest_to_the_highest_value():
    assert InputSummary(-1.5, 2.0, 0.1).range == 3.5


def test_zero_crossing__is_a_place_and_the_periods_without_its_line():
    place, periods = ZeroCrossing(0.3, (1.0, 2.0))
    assert (place, periods) == (0.3, (1.0, 2.0))
