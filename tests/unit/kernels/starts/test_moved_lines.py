"""Tests of other zeros for the lines of a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.bank.bank import Bank
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.moved_lines import moved_lines
from vbks.kernels.starts.policy import StartPolicy

PLACES = StartPolicy().num_line_places

LINE = (InputSummary(-1.7, 1.7, 0.1),)


def moved_from(text: str, place: float) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """θ with a line's zero at a place, and θ with it moved; the line is the first leaf."""
    layout = lay_out(text)
    theta = layout.prior_mean + 0.3
    theta[[name.endswith("location") for name in layout.names]] = place
    return theta, moved_lines(layout, LINE, theta), layout.names


def zeros(moved: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    (slot,) = [k for k, name in enumerate(names) if name.endswith("location")]
    return moved[..., slot]


def test_moved_lines__go_to_the_other_side_and_inside() -> None:
    _, moved, names = moved_from("LIN * SE", 4.0)
    before, inside = zeros(moved, names)
    assert before.max() < -1.7
    assert before.min() == pytest.approx(-1.5 * 3.4)
    assert abs(inside).max() <= 1.7


def test_moved_lines__from_inside_go_to_both_sides_and_elsewhere_inside() -> None:
    _, moved, names = moved_from("LIN * SE", 0.4)
    before, after, inside = zeros(moved, names)
    assert before.max() < -1.7 < 1.7 < after.min()
    assert np.abs(inside - 0.4).min() > 0.25 * 3.4 - 1e-12


@pytest.mark.parametrize("text", ["LIN", "LIN * SE", "LIN * (PER + RQ)", "SE + LIN * PER"])
def test_moved_lines__are_as_large_over_the_data_as_before(text: str) -> None:
    theta, moved, names = moved_from(text, 4.0)
    x = np.linspace(-1.7, 1.7, 2001)[:, np.newaxis]
    bank = Bank([text])

    def size(own: np.ndarray) -> float:
        others = bank.diag(own[np.newaxis], x).numpy()[0]
        return float(others.mean())

    sizes = [size(own) for places in moved for own in places]
    np.testing.assert_allclose(sizes, size(theta), rtol=2e-3)
    changed = {names[k] for k in np.flatnonzero((moved != theta).any(axis=(0, 1)))}
    assert all(name.endswith(("location", "variance")) for name in changed)


def test_moved_lines__are_none_without_lines_or_where_values_are_fixed() -> None:
    layout = lay_out("SE + PER")
    assert moved_lines(layout, LINE, layout.prior_mean).shape == (0, PLACES, len(layout))
    layout = lay_out("LIN * SE")
    for held in ("location", "variance"):
        fixed = [k for k, name in enumerate(layout.names) if name.endswith(held)]
        assert len(moved_lines(layout, LINE, layout.prior_mean, fixed)) == 0
