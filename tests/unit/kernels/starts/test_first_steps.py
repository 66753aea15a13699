"""Tests of how far an optimiser may move from a start at first."""

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary, ZeroCrossing
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.starts.first_steps import start_scales

SUMMARY = InputSummary(-1.5, 1.5, 0.01, crossings=(ZeroCrossing(0.4, ()),))


def scales_of(layout: Layout, name: str, values: Array) -> Array:
    """Scales of the parameter of this name at values, the others at zero."""
    (slot,) = [k for k, own in enumerate(layout.names) if own.endswith(name)]
    starts = np.zeros((len(values), len(layout)))
    starts[:, slot] = values
    found = start_scales(layout, [SUMMARY], starts)
    others = np.delete(found, slot, axis=1)
    assert np.all(others <= 1.0)
    return np.asarray(found[:, slot])


def test_scales__of_lengthscales_and_noise_are_one() -> None:
    layout = lay_out("SE")
    np.testing.assert_array_equal(start_scales(layout, [SUMMARY], np.zeros((2, len(layout)))), 1.0)


def test_scales__of_periods_are_the_smaller_the_more_of_them_fit() -> None:
    found = scales_of(lay_out("PER"), "period", np.log([0.003, 0.03, 0.3]))
    np.testing.assert_allclose(found[1:] / found[:-1], 10.0, rtol=1e-9)
    assert found[-1] < 0.1


def test_scales__of_a_zero_are_small_only_where_the_target_crosses_zero() -> None:
    at_zero, elsewhere = scales_of(lay_out("LIN"), "location", np.array([0.4, 0.9]))
    assert at_zero < 0.2 * SUMMARY.range
    assert elsewhere == 1.0
