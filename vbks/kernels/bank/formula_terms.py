"""Terms of many kernels as products of formulas, with automatic gradients."""

from __future__ import annotations

import tensorflow as tf

from vbks.kernels.bank.features import RankOnes, add_up
from vbks.kernels.bank.structure import DenseKind, DenseTable, Structure
from vbks.kernels.registry import family_of


def add_formula_terms(
    structure: Structure,
    dense_kinds: tuple[DenseKind, ...],
    values: tf.Tensor,
    num_candidates: tf.Tensor,
    X1: tf.Tensor,
    X2: tf.Tensor,
) -> tf.Tensor:
    """The sum of the terms that are products of formulas: [K, S, n1, n2]."""
    first = tf.reduce_sum(structure.term_counts[:4])
    members = tf.range(first, first + structure.term_counts[4])
    leaves = formula_leaves(structure, dense_kinds, values, X1[:, tf.newaxis], X2[tf.newaxis])
    factors = tf.gather(leaves, tf.gather(structure.term_dense, members))
    gates1 = rank_ones_at(structure, values, X1, members)
    gates2 = rank_ones_at(structure, values, X2, members)
    scale = signs(structure, members, values.dtype) * tf.exp(log_scales(structure, values, members))
    gates = gates1[..., :, tf.newaxis] * gates2[..., tf.newaxis, :]
    terms = scale[..., tf.newaxis, tf.newaxis] * gates * tf.reduce_prod(factors, axis=1)
    candidate = tf.gather(structure.term_candidate, members)
    return tf.math.unsorted_segment_sum(terms, candidate, num_candidates)


def formula_leaves(
    structure: Structure,
    dense_kinds: tuple[DenseKind, ...],
    values: tf.Tensor,
    X1: tf.Tensor,
    X2: tf.Tensor,
) -> tf.Tensor:
    """Every leaf computed by formula, after one that is 1: [1 + L, S, n1, n2]."""
    size = tf.broadcast_dynamic_shape(tf.shape(X1)[:2], tf.shape(X2)[:2])
    shape = tf.concat([[1, tf.shape(values)[1]], size], axis=0)
    leaves = [
        _formula_leaf(kind, table, values, X1, X2)
        for kind, table in zip(dense_kinds, structure.dense, strict=True)
    ]
    return tf.concat([tf.ones(shape, values.dtype), *leaves], axis=0)


def _formula_leaf(
    kind: DenseKind, table: DenseTable, values: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor
) -> tf.Tensor:
    family, num_inputs = family_of(kind[0]), kind[1]
    widths = [num_inputs if p.per_input else 1 for p in family.parameters]
    entries = tf.split(tf.gather(values, table.slots), widths, axis=1) if widths else []
    parameters = {}
    for parameter, entry in zip(family.parameters, entries, strict=True):
        value = tf.transpose(entry, [0, 2, 1])[:, :, tf.newaxis, tf.newaxis]
        value = tf.exp(value) if parameter.positive else value
        parameters[parameter.name] = value if parameter.per_input else value[..., 0]
    x1, x2 = (_leaf_inputs(X, table) for X in (X1, X2))
    shape = tf.shape(x1[..., 0] + x2[..., 0])
    shape = tf.concat([shape[:1], [tf.shape(values)[1]], shape[2:]], axis=0)
    return tf.broadcast_to(family.formula(x1, x2, **parameters), shape)


def _leaf_inputs(X: tf.Tensor, table: DenseTable) -> tf.Tensor:
    """The inputs of each leaf: [n1, n2, D] -> [L, 1, n1, n2, d]."""
    return tf.transpose(tf.gather(X, table.dims, axis=2), [2, 0, 1, 3])[:, tf.newaxis]


def log_scales(structure: Structure, values: tf.Tensor, members: tf.Tensor) -> tf.Tensor:
    """The logarithms of the scales of some terms: [T, S]."""
    num_terms = tf.shape(structure.term_candidate)[0]
    scales = tf.gather(values, structure.slots[: structure.slot_counts[0]])
    return tf.gather(add_up(scales, structure.scale_term, num_terms), members)


def signs(structure: Structure, members: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """One for terms that are added, minus one for those that are taken off: [T, 1]."""
    is_added = tf.equal(structure.term_row, structure.term_candidate)
    sign = 2.0 * tf.cast(tf.gather(is_added, members), dtype) - 1.0
    return tf.expand_dims(sign, 1)


def rank_ones_at(
    structure: Structure, values: tf.Tensor, X: tf.Tensor, members: tf.Tensor
) -> tf.Tensor:
    """The products of rank-one functions of some terms at X: [T, S, n]."""
    slots = tf.split(structure.slots, structure.slot_counts, num=10)[-3:]
    location, steepness, width = (tf.gather(values, slot) for slot in slots)
    places = tf.gather(structure.term_rank_ones, members)
    return RankOnes(location, tf.exp(steepness), tf.exp(width), structure, places, X).value
