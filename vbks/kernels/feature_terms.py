"""Terms w · a(x) a(x') · exp(E(x, x')) of many kernels, with their gradients.

Scales and shares make w, lines and gates the vector a, squared exponential, periodic and rational
quadratic leaves the exponent E.
"""

from __future__ import annotations

import tensorflow as tf

from vbks.kernels.features import TWO_PI, Outers, Quadratics, Waves, add_up
from vbks.kernels.structure import Structure
from vbks.kernels.sweeps import (
    Exponent,
    Ratio,
    line_sweep,
    outer_sweep,
    plain_sweep,
    rational_outer_sweep,
    rational_sweep,
)


class FeatureTerms:
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
