"""Tests of what the data suggest for the parameters of a kernel."""

import math

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.suggestions import other_periods, suggested

SUMMARY = InputSummary(-1.5, 1.5, 0.01, periods=(0.3, 0.7))


def by_role(text: str, known: set[int] = frozenset()) -> dict[str, list[float]]:  # type: ignore[assignment]
    layout = lay_out(text)
    found: dict[str, list[float]] = {}
    for slot, value in suggested(layout, {0: SUMMARY, None: SUMMARY}, known):
        role = layout.slots[slot].parameter.role
        if role is not None:
            found.setdefault(role, []).append(value)
    return found


def test_periods__are_those_of_the_periodogram_in_turn() -> None:
    found = by_role("PER + PER * LIN")["period"]
    np.testing.assert_allclose(found, np.log([0.3, 0.7]))


def test_lengthscales__are_the_range_beside_a_wave_and_shorter_one_by_one_elsewhere() -> None:
    assert by_role("SE * PER")["lengthscale"] == [math.log(3.0)]
    first, second = by_role("SE + SE")["lengthscale"]
    assert (first, second) == pytest.approx((math.log(0.6), math.log(0.15)))


def test_zero_of_a_line__is_the_middle_for_a_trend_and_before_the_data_for_a_factor() -> None:
    assert by_role("LIN + SE")["location"] == [0.0]
    assert by_role("LIN * SE")["location"][0] < SUMMARY.low


def test_suggestions__are_not_made_for_what_is_known() -> None:
    layout = lay_out("PER")
    (period,) = [k for k, slot in enumerate(layout.slots) if slot.parameter.role == "period"]
    slots = dict(suggested(layout, {0: SUMMARY, None: SUMMARY}, {period}))
    assert slots.get(period) != pytest.approx(math.log(0.3))


def test_other_periods__are_of_the_data_or_long() -> None:
    found = np.exp(other_periods(SUMMARY, 0, 1, 6))
    allowed = [*SUMMARY.periods, 2.5 * SUMMARY.range]
    assert all(np.isclose(value, allowed).any() for value in found)
    assert len({round(value, 9) for value in found}) > 1
