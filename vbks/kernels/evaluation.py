"""Evaluation of many kernels from their structure, θ and inputs, as TensorFlow operations.

A kernel is a sum of terms w · a(x) a(x') · exp(E(x, x')): scales and shares make w, lines and gates
the vector a, squared exponential, periodic and rational quadratic leaves the exponent E. Terms with
a leaf that has no such form are products of formulas instead.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from vbks.kernels.families import family_of
from vbks.kernels.features import TWO_PI, Outers, Quadratics, Waves, add_up
from vbks.kernels.structure import DenseKind, DenseTable, Structure
from vbks.kernels.sweeps import (
    Exponent,
    Ratio,
    line_sweep,
    outer_sweep,
    plain_sweep,
    rational_outer_sweep,
    rational_sweep,
)

LOG_ZERO = -1e30
"""Stands for the logarithm of an absent share; its exponential is exactly zero."""


def evaluate(
    structure: Structure,
    dense_kinds: tuple[DenseKind, ...],
    by_formula: bool,
    theta: tf.Tensor,
    X1: tf.Tensor,
    X2: tf.Tensor,
) -> tf.Tensor:
    """Kernels of the candidates, without noise: θ [K, S, H] -> [K, S, n1, n2].

    Gradients are for θ; with ``by_formula``, for which the structure must be made, also for inputs.
    """
    num_candidates = tf.shape(theta)[0]
    values = _values(structure, theta)
    parts = []
    if not by_formula:

        @tf.custom_gradient
        def kernels(
            slot_values: tf.Tensor,
        ) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            terms = _FeatureTerms(structure, slot_values, X1, X2)
            return terms.add_up(num_candidates), terms.pull

        parts.append(kernels(tf.gather(values, structure.slots)))
    if by_formula or dense_kinds:
        parts.append(_formula_terms(structure, dense_kinds, values, num_candidates, X1, X2))
    return tf.add_n(parts)


def evaluate_diag(
    structure: Structure, dense_kinds: tuple[DenseKind, ...], theta: tf.Tensor, X: tf.Tensor
) -> tf.Tensor:
    """The diagonals of the kernels at X, without noise: [K, S, n]."""
    is_noise = tf.range(tf.shape(structure.term_candidate)[0]) >= _num_signal(structure)
    return _diagonal(structure, dense_kinds, theta, X, keep=~is_noise)


def evaluate_noise(
    structure: Structure, dense_kinds: tuple[DenseKind, ...], theta: tf.Tensor, X: tf.Tensor
) -> tf.Tensor:
    """The noise variance at X, the likelihood's own (slot 0 of θ) included: [K, S, n]."""
    is_noise = tf.range(tf.shape(structure.term_candidate)[0]) >= _num_signal(structure)
    own = tf.exp(theta[:, :, :1])
    return own + _diagonal(structure, dense_kinds, theta, X, keep=is_noise)


def _num_signal(structure: Structure) -> tf.Tensor:
    return tf.reduce_sum(structure.term_counts[:-1])


def _values(structure: Structure, theta: tf.Tensor) -> tf.Tensor:
    """All numbers that indices may point at: θ, 0, log 0, log shares: [V, S]."""
    S = tf.shape(theta)[1]
    constants = tf.repeat(tf.constant([[0.0], [LOG_ZERO]], theta.dtype), S, axis=1)
    values = tf.concat([tf.reshape(tf.transpose(theta, [0, 2, 1]), [-1, S]), constants], axis=0)
    log_shares = tf.nn.log_softmax(tf.gather(values, structure.shares), axis=1)
    return tf.concat([values, tf.reshape(log_shares, [-1, S])], axis=0)


class _FeatureTerms:
    """The terms that have features: their values, their sums, and gradients of the slots."""

    def __init__(
        self, structure: Structure, slot_values: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor
    ) -> None:
        self.structure = structure
        self.num_samples = tf.shape(slot_values)[1]
        self.num_points = [tf.shape(X1)[0], tf.shape(X2)[0]]
        self._read(slot_values)
        self._make_features(X1, X2)
        self._sweep()

    def _read(self, slot_values: tf.Tensor) -> None:
        counts = self.structure.slot_counts
        groups = tf.split(slot_values, counts, num=9)
        scale, square, wave, ratio, period, alpha, location, steepness, width = groups
        self.inverse = tf.exp(-2.0 * tf.concat([square, wave, ratio], axis=0))
        self.square, self.wave, self.ratio = tf.split(self.inverse, counts[1:4], num=3)
        self.frequency = TWO_PI * tf.exp(-period)
        self.alpha = tf.exp(alpha)
        self.outer_values = location, tf.exp(steepness), tf.exp(width)
        num_terms = tf.shape(self.structure.term_candidate)[0]
        self.log_scale = add_up(scale, self.structure.scale_term, num_terms)

    def _make_features(self, X1: tf.Tensor, X2: tf.Tensor) -> None:
        structure, num_inputs, S = self.structure, tf.shape(X1)[1], self.num_samples
        counts = tf.unstack(structure.term_counts, num=7)
        plain, rational, rational_outer, outer, dense, line, _ = counts
        # Stationary leaves do not mind a shift, and squares lose fewer digits near zero.
        center = tf.reduce_mean(X1, axis=0)
        Z1, Z2 = X1 - center, X2 - center
        self.quadratics = quadratics = Quadratics(Z1, Z2)

        num = plain + rational + rational_outer + outer
        sums = add_up(self.square, structure.square_target, num * num_inputs)
        places = structure.term_waves[:num]
        self.waves = waves = Waves(self.wave, self.frequency, structure, places, Z1, Z2)
        constant = self.log_scale[:num] - tf.reduce_sum(waves.weight, axis=1)
        left = quadratics.left(tf.reshape(sums, [num, num_inputs, S]), constant)
        shape = tf.concat([[num, S], tf.shape(quadratics.right)], axis=0)
        right = tf.concat([tf.broadcast_to(quadratics.right, shape), waves.right], axis=2)
        self.exponents = self._split_exponents(
            tf.concat([left, waves.left], axis=2),
            right,
            tf.concat([right, waves.right_tangent], axis=2),
        )

        first = plain + rational
        places = structure.term_outers[first : first + rational_outer + outer + dense + line]
        both = tf.concat([X1, X2], axis=0)
        self.outers = Outers(*self.outer_values, structure, places, both)
        self.line_scale = tf.exp(self.log_scale[num + dense : num + dense + line])[..., tf.newaxis]

        num = structure.slot_counts[5]
        sums = add_up(self.ratio, structure.rational_target, num * num_inputs)
        self.ratio_sums = tf.reshape(sums, [num, num_inputs, S])
        relevance = -self.ratio_sums / self.alpha[:, tf.newaxis]
        left = quadratics.left(relevance, tf.ones_like(self.alpha))
        self.ratios = self._split_ratios(left, first_terms=(plain, first))

    def _split_exponents(self, *features: tf.Tensor) -> list[Exponent]:
        counts = self.structure.term_counts[:4]
        pieces = (tf.split(feature, counts, num=4) for feature in features)
        return [Exponent(*parts) for parts in zip(*pieces, strict=True)]

    def _split_ratios(
        self, left: tf.Tensor, first_terms: tuple[tf.Tensor, tf.Tensor]
    ) -> list[Ratio]:
        counts = self.structure.rational_counts[1:3]
        lefts, alphas = tf.split(left, counts, num=2), tf.split(self.alpha, counts, num=2)
        terms = tf.split(self.structure.rational_term, counts, num=2)
        return [
            Ratio(lefts[i], self.quadratics.right, alphas[i], terms[i] - first_terms[i])
            for i in range(2)
        ]

    def _sweep(self) -> None:
        left, right = tf.split(self.outers.value, self.num_points, axis=-1)
        a1 = tf.split(left, self.structure.term_counts[2:6], num=4)
        a2 = tf.split(right, self.structure.term_counts[2:6], num=4)
        self.line1 = a1[3]
        plain, rational, rational_outer, outer = self.exponents
        sweeps = (
            plain_sweep(plain),
            rational_sweep(rational, self.ratios[0]),
            rational_outer_sweep(rational_outer, self.ratios[1], a1[0], a2[0]),
            outer_sweep(outer, a1[1], a2[1]),
            line_sweep(self.line_scale * a1[3], a2[3]),
        )
        self.terms = [terms for terms, _ in sweeps]
        self.pulls = [pull for _, pull in sweeps]
        candidates = tf.split(self.structure.term_candidate, self.structure.term_counts, num=7)
        self.candidates = [*candidates[:4], candidates[5]]

    def add_up(self, num_candidates: tf.Tensor) -> tf.Tensor:
        """The sum of the terms of each candidate: [K, S, n1, n2]."""
        terms = tf.concat(self.terms, axis=0)
        candidate = tf.concat(self.candidates, axis=0)
        order = tf.argsort(candidate, stable=True)
        shape = tf.shape(terms)
        sums = tf.sparse.segment_sum(
            tf.reshape(terms, [shape[0], tf.reduce_prod(shape[1:])]),
            order,
            tf.gather(candidate, order),
            num_segments=num_candidates,
        )
        return tf.reshape(sums, tf.concat([[num_candidates], shape[1:]], axis=0))

    def pull(self, upstream: tf.Tensor) -> tf.Tensor:
        """The gradient of all slots from that of the kernels."""
        structure, S = self.structure, self.num_samples
        pairs = zip(self.pulls, self.candidates, strict=True)
        plain, rational, rational_outer, outer, line = (
            pull(tf.gather(upstream, candidate)) for pull, candidate in pairs
        )
        exponents = tf.concat([plain, rational[0], rational_outer[0], outer[0]], axis=0)
        num_squares, num_waves = tf.shape(self.quadratics.right)[0], tf.shape(self.waves.right)[2]
        square, wave, tangent = tf.split(exponents, [num_squares, num_waves, num_waves], axis=2)
        relevance, constant = self.quadratics.pull(square)
        weight, frequency = self.waves.pull(wave, tangent, constant)

        ratio_relevance, _ = self.quadratics.pull(tf.concat([rational[1], rational_outer[1]], 0))
        ratio_sums = -ratio_relevance / self.alpha[:, tf.newaxis]
        alpha = self.alpha * tf.concat([rational[2], rational_outer[2]], axis=0)
        alpha -= tf.reduce_sum(ratio_sums * self.ratio_sums, axis=1)

        line1 = line[0] * self.line_scale
        none = tf.zeros([structure.term_counts[4], S, tf.reduce_sum(self.num_points)], alpha.dtype)
        left = tf.concat([rational_outer[3], outer[1]], axis=0)
        right = tf.concat([rational_outer[4], outer[2]], axis=0)
        lines = tf.concat([line1, line[1]], axis=-1)
        outers = self.outers.pull(
            tf.concat([tf.concat([left, right], axis=-1), none, lines], axis=0)
        )

        scale = tf.concat(
            [constant, none[..., 0], tf.reduce_sum(line1 * self.line1, axis=-1)], axis=0
        )
        num_terms = tf.shape(structure.term_candidate)[0]
        scale = tf.pad(scale, [[0, num_terms - tf.shape(scale)[0]], [0, 0]])
        square = tf.gather(tf.reshape(relevance, [-1, S]), structure.square_target)
        ratio = tf.gather(tf.reshape(ratio_sums, [-1, S]), structure.rational_target)
        return tf.concat(
            [
                tf.gather(scale, structure.scale_term),
                -2.0 * self.inverse * tf.concat([square, weight, ratio], axis=0),
                -self.frequency * frequency,
                alpha,
                *tf.unstack(outers, num=3, axis=1),
            ],
            axis=0,
        )


def _formula_terms(
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
    leaves = _formula_leaves(structure, dense_kinds, values, X1[:, tf.newaxis], X2[tf.newaxis])
    factors = tf.gather(leaves, tf.gather(structure.term_dense, members))
    gates1 = _outers_at(structure, values, X1, members)
    gates2 = _outers_at(structure, values, X2, members)
    scale = tf.exp(_log_scales(structure, values, members))
    gates = gates1[..., :, tf.newaxis] * gates2[..., tf.newaxis, :]
    terms = scale[..., tf.newaxis, tf.newaxis] * gates * tf.reduce_prod(factors, axis=1)
    candidate = tf.gather(structure.term_candidate, members)
    return tf.math.unsorted_segment_sum(terms, candidate, num_candidates)


def _formula_leaves(
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
    entries = tf.split(tf.gather(values, table.slots), widths, axis=1)
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


def _log_scales(structure: Structure, values: tf.Tensor, members: tf.Tensor) -> tf.Tensor:
    num_terms = tf.shape(structure.term_candidate)[0]
    scales = tf.gather(values, structure.slots[: structure.slot_counts[0]])
    return tf.gather(add_up(scales, structure.scale_term, num_terms), members)


def _outers_at(
    structure: Structure, values: tf.Tensor, X: tf.Tensor, members: tf.Tensor
) -> tf.Tensor:
    """The products of outer functions of some terms at X: [T, S, n]."""
    slots = tf.split(structure.slots, structure.slot_counts, num=9)[6:]
    location, steepness, width = (tf.gather(values, slot) for slot in slots)
    places = tf.gather(structure.term_outers, members)
    return Outers(location, tf.exp(steepness), tf.exp(width), structure, places, X).value


def _diagonal(
    structure: Structure,
    dense_kinds: tuple[DenseKind, ...],
    theta: tf.Tensor,
    X: tf.Tensor,
    keep: tf.Tensor,
) -> tf.Tensor:
    """Terms at x' = x, where all leaves with features but lines are 1, added up: [K, S, n]."""
    values = _values(structure, theta)
    members = tf.where(keep)[:, 0]
    outers = _outers_at(structure, values, X, members)
    terms = tf.exp(_log_scales(structure, values, members))[..., tf.newaxis] * tf.square(outers)
    if dense_kinds:
        points = X[:, tf.newaxis]
        leaves = _formula_leaves(structure, dense_kinds, values, points, points)[..., 0]
        terms *= tf.reduce_prod(tf.gather(leaves, tf.gather(structure.term_dense, members)), axis=1)
    candidate = tf.gather(structure.term_candidate, members)
    return tf.math.unsorted_segment_sum(terms, candidate, tf.shape(theta)[0])
