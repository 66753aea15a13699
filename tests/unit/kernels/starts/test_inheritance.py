"""Tests of what a candidate inherits from the expression that it was made from."""

import numpy as np
import pytest
from support.reference import kernel_matrix

from vbks.arrays import Array
from vbks.grammar.parser import parse
from vbks.kernels.layout import Layout, lay_out
from vbks.kernels.starts.inheritance import Parent, inherit

X = np.random.default_rng(0).uniform(-1.5, 1.5, (5, 1))


def parent_of(text: str) -> Parent:
    layout = lay_out(text)
    return Parent(layout, 0.4 * np.random.default_rng(1).normal(size=len(layout)))


def filled(layout: Layout, known: dict[int, float], other: float) -> Array:
    return np.array([known.get(slot, other) for slot in range(len(layout))])


@pytest.mark.parametrize("text", ["SE", "SE * PER + LIN", "CP(SE, LIN) + RQ", "SE + SE + PER"])
def test_inheritance__of_the_same_expression_is_all_of_it(text: str) -> None:
    parent = parent_of(text)
    known = inherit(parent.layout, parent)
    assert set(known) == set(range(len(parent.layout)))
    np.testing.assert_allclose(filled(parent.layout, known, np.nan), parent.theta, rtol=1e-12)


def test_inheritance__of_a_new_order_gives_the_same_kernel() -> None:
    parent = parent_of("LIN + SE * PER")
    layout = lay_out("PER * SE + LIN")
    theta = filled(layout, inherit(layout, parent), np.nan)
    np.testing.assert_allclose(
        kernel_matrix(layout, theta, X, X), kernel_matrix(parent.layout, parent.theta, X, X)
    )


def test_inheritance__leaves_new_leaves_open() -> None:
    parent = parent_of("SE")
    layout = lay_out("SE + PER")
    known = inherit(layout, parent)
    (period,) = [k for k, slot in enumerate(layout.slots) if slot.parameter.role == "period"]
    assert period not in known
    (length,) = [
        k
        for k, slot in enumerate(layout.slots)
        if slot.parameter.role == "lengthscale" and "PER" not in str(slot)
    ][:1]
    assert known[length] == parent.theta[2]
    assert known[0] == parent.theta[0]


def test_inheritance__leaves_out_what_is_not_finite() -> None:
    parent = parent_of("SE")
    parent.theta[2] = np.nan
    assert set(inherit(parent.layout, parent)) == {0, 1}
    assert parse("SE") == parent.layout.expression
