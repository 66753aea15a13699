"""Notices of what should not be trusted."""

import numpy as np
from support.selections import make_fit

from vbks.criticism.coverage import Coverage
from vbks.criticism.notices import coverage_off, cycles_untried, little_explained


def test_cycles__that_a_budget_left_out_are_said():
    untried = ("RQ", "SE * PER of log targets", "LIN + PER")
    (told,) = cycles_untried([make_fit("SE", 9)], untried)
    assert (
        "Of 3 kernels that were left out 2 have one" in told and "'SE * PER of log targets'" in told
    )
    assert "budget" in told
    assert not [*cycles_untried([make_fit("SE", 9), make_fit("PER", 9)], untried)]
    assert not [*cycles_untried([make_fit("SE", 9)], ("RQ",))]
    dropped = make_fit("PER", 9, status="dropped", reason="far behind")
    assert not [*cycles_untried([make_fit("SE", 9), dropped], untried)]


def test_coverage__is_said_if_it_is_far_off():
    (told,) = coverage_off([Coverage(0.9, 0.6, 100)])
    assert told.startswith("90 % intervals hold 60 %") and "too narrow" in told
    assert "too wide" in next(coverage_off([Coverage(0.5, 0.9, 100)]))
    assert not [*coverage_off([Coverage(0.9, 0.85, 100), Coverage(0.5, 0.6, 20)])]


def test_little_explained__gives_the_reason_of_tiny_inputs():
    X = np.column_stack([np.linspace(0, 1e-300, 9), np.arange(9.0)])
    (told,) = little_explained(0.001, X, ["x", "z"])
    assert "R² is 0.001" in told and "x varies by 1e-300 only" in told and "z varies" not in told
    assert not [*little_explained(0.5, X, ["x", "z"])]
