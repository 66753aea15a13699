"""Tests of the rules by which ABCD refuses fits."""

from dataclasses import replace

import numpy as np
import pytest
from support.fits import make_fit

from vbks.inference.result import LocalFit
from vbks.kernels.layout import lay_out
from vbks.search.strategies.constraints import StructureConstraints, accept_all, accepted_or_dropped

RULES = StructureConstraints((-1.5,), (1.5,))


def fit_with(text: str, **values: float) -> LocalFit:
    """A fit whose parameters of these names have these unconstrained values."""
    layout, fit = lay_out(text), make_fit(text)
    theta = fit.theta.copy()
    for place, name in enumerate(layout.names):
        for wanted, value in values.items():
            if name.endswith(wanted):
                theta[place] = value
    return replace(fit, modes=(replace(fit.modes[0], mean=theta),))


@pytest.mark.parametrize("text", ["PER0", "SE * PER0 + LIN", "SE + PER"])
def test_constraints__refuses_periods_that_repeat_too_rarely(text: str) -> None:
    assert RULES(fit_with(text, period=np.log(3.0 / 5.2))) == ""
    assert "period" in RULES(fit_with(text, period=np.log(3.0 / 4.8)))


def test_constraints__refuses_changes_outside_the_data() -> None:
    assert RULES(fit_with("CP(SE, LIN)", location=1.4)) == ""
    assert "outside" in RULES(fit_with("CP(SE, LIN)", location=1.6))
    assert "outside" in RULES(fit_with("CP(SE, LIN)", location=-1.6))


def test_constraints__a_window_has_to_lie_inside_with_both_ends() -> None:
    assert RULES(fit_with("CW(SE, C)", location=1.0, width=np.log(0.8))) == ""
    assert "outside" in RULES(fit_with("CW(SE, C)", location=1.0, width=np.log(1.2)))


def test_constraints__the_zero_of_a_line_may_be_anywhere() -> None:
    assert RULES(fit_with("LIN", location=7.0)) == ""


def test_constraints__knows_the_ends_of_every_input() -> None:
    X = np.array([[0.0, -2.0], [1.0, 3.0]])
    assert StructureConstraints.in_rows(X) == StructureConstraints((0.0, -2.0), (1.0, 3.0))


def test_accepted_or_dropped__is_dropped_with_the_reason() -> None:
    fit = fit_with("CP[1](SE, SE)", location=9.0)
    refused = accepted_or_dropped(fit, StructureConstraints((-1.0,), (1.0,)))
    assert (refused.status, refused.reason) == ("dropped", "a change outside the data")
    assert accepted_or_dropped(fit, accept_all) is fit


def test_constraints__may_let_periods_be() -> None:
    assert StructureConstraints((-1.0,), (1.0,), repeats=0)(fit_with("PER", period=50.0)) == ""
