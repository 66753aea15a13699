from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.kernels.bank.bank import Bank
from vbks.kernels.layout import lay_out
from vbks.kernels.starts.inheritance import Parent
from vbks.kernels.starts.starts import draw_starts

CENTRED = InputSummary(-1.7, 1.7, 0.02, (0.3, 0.5))
LEVEL = 1000.0


def starts_of(text: str, level: float, parent: Parent | None = None) -> Array:
    summaries = (replace(CENTRED, level=level),)
    return draw_starts(lay_out(text), summaries, 8, np.random.default_rng(0), parent)


@pytest.mark.parametrize(
    "text",
    [
        "C + SE",
        "SE",
        "RQ + PER",
        "OU",
        "M32 + PER",
        "M52",
        "WN + PER",
        "SE * (RQ + PER * (SE + SE))",
        "(C + PER0) * (SE + C)",
        "(PER0 + C) * (LIN + SE)",
        "CW[1](C + SE, WN + C)",
        "CP[1](SE, RQ) * (PER + SE)",
    ],
)
def test_start_at_level__explains_the_mean_and_leaves_the_spread(text: str) -> None:
    X = np.linspace(-1.7, 1.7, 41)[:, np.newaxis]
    starts = starts_of(text, LEVEL)[:1]
    K = Bank([text])(starts, X).numpy()[0]
    ends = [0, -1]  # changes are in the middle
    np.testing.assert_allclose(K[ends, ends], LEVEL**2, rtol=0.1)
    rises = 0.5 * (K[0, 0] + K[1, 1]) - K[0, 1]
    assert 0.0 <= rises < 20.0


def test_start_at_level__is_the_same_whatever_the_sign() -> None:
    np.testing.assert_array_equal(starts_of("C + SE", LEVEL), starts_of("C + SE", -LEVEL))


@pytest.mark.parametrize(
    ("text", "level"), [("C + SE", 3.0), ("LIN", LEVEL), ("LIN * SE", LEVEL), ("PER0 + LIN", LEVEL)]
)
def test_start_at_level__is_as_ever_near_zero_or_without_a_constant(
    text: str, level: float
) -> None:
    np.testing.assert_array_equal(starts_of(text, level), starts_of(text, 0.0))


def test_start_at_level__leaves_what_a_parent_knows() -> None:
    layout = lay_out("C + SE")
    parent = Parent(layout, np.full(len(layout), 0.4321))
    starts = starts_of("C + SE", LEVEL, parent)
    np.testing.assert_array_equal(starts[0], parent.theta)
    constant = layout.names.index(".kernels[0].variance")
    np.testing.assert_allclose(starts[1:, constant], 2.0 * np.log(LEVEL))
