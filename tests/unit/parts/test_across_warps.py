"""Parts that are alike under several warps."""

from dataclasses import replace

import pytest
from support.fits import make_data, make_fit, make_logs, new_inputs

from vbks.data.warps import Log
from vbks.parts.decomposing import decompose
from vbks.predict.mixture import KernelMixture
from vbks.words import Axes, Axis

AXES = Axes((Axis("x", low=3.0, high=9.0),))


def decomposed(texts, weights):
    first, second = (make_fit(text) for text in texts)
    fits = [first, replace(second, warp=Log())]
    mixture = KernelMixture(fits, weights, {first.warp: make_data(), Log(): make_logs()})
    return decompose(mixture.average, new_inputs(), AXES)


def test_cycles_of_one_period__are_one_kind_under_both_warps():
    found = decomposed(("PER + LIN", "PER"), [0.75, 0.25])
    cycles = [part for part in found if part.kind == "cycle"]
    assert [part.part.elsewhere for part in cycles] == pytest.approx([0.25, 0.75])
    assert all("almost certainly" in str(part) for part in cycles)
    assert "and on another scale with 75 %" in str(cycles[1])
    (trend,) = (part for part in found if part.kind == "trend")
    assert trend.part.elsewhere == 0.0 and "probably" in str(trend)


def test_levels__are_no_kind_to_be_surer_of():
    found = decomposed(("PER", "PER"), [0.5, 0.5])
    assert all(part.part.elsewhere == 0.0 for part in found if part.kind == "level")
