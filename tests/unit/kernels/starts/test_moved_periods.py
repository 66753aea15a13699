"""Tests of other periods for the waves of a kernel."""

from __future__ import annotations

import numpy as np

from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.bank.bank import Bank
from vbks.kernels.layout import NOISE_SLOT, lay_out
from vbks.kernels.starts.moved_periods import halved_periods, moved_periods
from vbks.kernels.starts.policy import StartPolicy

LINE = (InputSummary(-1.7, 1.7, 0.1),)
"""17 cycles at most."""


def periods(moved: np.ndarray, layout: object, name: str = "period") -> np.ndarray:
    (slot,) = [k for k, s in enumerate(layout.slots) if s.parameter.name == name]  # type: ignore[attr-defined]
    return np.exp(moved[..., slot])


def test_moved_periods__go_from_two_spacings_to_the_range_but_for_the_own() -> None:
    layout = lay_out("PER + SE")
    theta = layout.prior_mean.copy()
    slot = layout.names.index(".kernels[0].period")
    theta[slot] = np.log(3.4 / 5.0)
    moved = moved_periods(layout, LINE, theta)
    assert moved.shape == (2, 34, len(layout))
    cycles = 3.4 / periods(moved, layout)
    np.testing.assert_allclose([cycles.min(), cycles.max()], [1.0, 17.0])
    assert np.abs(cycles - 5.0).min() > 1.0
    assert all(np.abs(cycles[0] - c).min() < 0.5 for c in (1.0, 2.0, 3.0, 8.0, 16.5))


def test_moved_periods__are_of_a_wave_as_it_is_and_of_a_small_one() -> None:
    layout = lay_out("PER + SE")
    theta = layout.prior_mean + 0.3
    as_it_is, small = moved_periods(layout, LINE, theta)
    changed = [layout.names[k] for k in np.flatnonzero((as_it_is != theta).any(axis=0))]
    assert changed == [".kernels[0].period"]
    changed = [layout.names[k] for k in np.flatnonzero((small != theta).any(axis=0))]
    assert changed == [
        ".kernels[0].variance", ".kernels[0].lengthscales", ".kernels[0].period"
    ]  # fmt: skip
    variance = small[:, layout.names.index(".kernels[0].variance")]
    np.testing.assert_allclose(np.exp(variance), 2.0 * np.exp(theta[NOISE_SLOT]))


def test_moved_periods__are_none_without_waves_or_where_they_are_fixed() -> None:
    for text in ("SE + LIN", "PER"):
        layout = lay_out(text)
        fixed = tuple(k for k, s in enumerate(layout.slots) if s.parameter.name == "period")
        assert not len(moved_periods(layout, LINE, layout.prior_mean, fixed))


def test_moved_periods__are_along_the_input_of_the_wave() -> None:
    layout = lay_out("PER[2]", num_inputs=2)
    inputs = (InputSummary(0.0, 1.0, 0.01), InputSummary(0.0, 8.0, 1.0))
    cycles = 8.0 / periods(moved_periods(layout, inputs, layout.prior_mean), layout)
    assert cycles.max() == 4.0


def test_moved_periods__are_not_too_many() -> None:
    layout = lay_out("PER")
    moved = moved_periods(layout, (InputSummary(0.0, 1.0, 1e-4),), layout.prior_mean)
    assert moved.shape[1] == StartPolicy().max_periods


def test_halved_periods__are_one_for_each_wave_and_as_smooth():
    layout = lay_out("SE + PER * PER0")
    theta = layout.prior_mean + 0.1 * np.arange(len(layout))
    halves = halved_periods(layout, theta)
    periods = [k for k, name in enumerate(layout.names) if name.endswith("period")]
    assert halves.shape == (len(periods), len(layout)) == (2, len(theta))
    np.testing.assert_allclose((halves - theta)[[0, 1], periods], -np.log(2.0))
    assert (halves != theta).sum() == 4
    alone = lay_out("PER")
    own = alone.prior_mean
    apart = 1e-3 * np.exp(own[alone.names.index(".period")])
    rows = np.stack([own, *halved_periods(alone, own)])
    K = Bank(["PER", "PER"])(rows, np.array([[0.0], [apart]])).numpy()
    falls = 1.0 - K[:, 0, 1] / K[:, 0, 0]
    np.testing.assert_allclose(falls[1], falls[0], rtol=1e-3)


def test_halved_periods__are_none_without_waves():
    layout = lay_out("SE * LIN")
    assert halved_periods(layout, layout.prior_mean).shape == (0, len(layout))
