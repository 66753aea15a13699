import numpy as np
import tensorflow as tf
from support.banks import X1, X2, make_kernels

from vbks.kernels.bank.evaluation import _values
from vbks.kernels.bank.formula_terms import (
    add_formula_terms,
    formula_leaves,
    log_scales,
    rank_ones_at,
    signs,
)


def values_of(kernels):
    return _values(kernels.structure, tf.constant(kernels.theta))


def test_sums__are_the_naive_twins_of_the_kernels():
    kernels = make_kernels("SE * LIN[1] * PER", "(RQ + OU[2]) * M52", "PER0", by_formula=True)
    found = add_formula_terms(
        kernels.structure,
        kernels.dense_kinds,
        values_of(kernels),
        tf.constant(3),
        tf.constant(X1),
        tf.constant(X2),
    )
    np.testing.assert_allclose(found, kernels.matrices(X1, X2), rtol=1e-9, atol=1e-12)


def test_leaves__follow_one_that_is_one():
    kernels = make_kernels("SE[2]", by_formula=True)
    leaves = formula_leaves(
        kernels.structure,
        kernels.dense_kinds,
        values_of(kernels),
        tf.constant(X1)[:, None],
        tf.constant(X2)[None],
    )
    (slot,) = kernels.layouts[0].root.slots["lengthscales"]
    lengthscale = np.exp(kernels.theta[0, :, slot])[:, None, None]
    smooth = np.exp(-0.5 * ((X1[:, None, 1] - X2[None, :, 1]) / lengthscale) ** 2)
    np.testing.assert_array_equal(leaves[0], np.ones((2, 4, 3)))
    np.testing.assert_allclose(leaves[1], smooth, rtol=1e-12)


def test_scales__are_those_of_the_factors_and_their_shares():
    kernels = make_kernels("(SE + LIN[1]) * (PER[1] + C)")
    layout, theta = kernels.layouts[0], kernels.theta[0]
    first, second = layout.root.operands
    (odds,) = second.weights
    share = 1 / (1 + np.exp(-theta[:, odds]))
    scales = np.exp(log_scales(kernels.structure, values_of(kernels), tf.range(4)))
    variances = [np.exp(theta[:, leaf.scale]) for leaf in first.operands]
    expected = [variance * part for variance in variances for part in (share, 1 - share)]
    np.testing.assert_allclose(
        np.sort(scales, axis=0), np.sort(np.array(expected), axis=0), rtol=1e-12
    )


def test_signs__are_minus_one_where_a_term_is_taken_off():
    kernels = make_kernels("PER0[1] + SE")
    num = len(kernels.structure.term_row)
    found = signs(kernels.structure, tf.range(num), tf.float64)
    assert sorted(found.numpy().ravel()) == [-1.0, 1.0, 1.0]


def test_rank_ones__of_terms_without_any_are_one():
    kernels = make_kernels("SE + LIN[2]")
    found = rank_ones_at(kernels.structure, values_of(kernels), tf.constant(X1), tf.range(2))
    (slot,) = kernels.layouts[0].root.operands[1].slots["location"]
    line = X1[None, :, 1] - kernels.theta[0, :, slot, None]
    np.testing.assert_array_equal(found[0], np.ones((2, 4)))
    np.testing.assert_allclose(found[1], line, rtol=1e-12)
