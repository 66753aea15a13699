"""Terms w · a(x) a(x') · exp(E(x, x')) of many kernels, with their gradients.

Scales and shares make w, lines and gates the vector a, squared exponential, periodic, rational
quadratic, exponential and Matérn leaves the exponent E.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from vbks.kernels.bank.features import TWO_PI, PeriodicFeatures, Quadratics, RankOnes, add_up
from vbks.kernels.bank.structure import Structure
from vbks.kernels.bank.sweeps import (
    Exponent,
    ExponentialLeaves,
    MaternLeaves,
    Powers,
    Ratio,
    line_sweep,
    mixed_sweep,
    plain_sweep,
    rank_one_sweep,
    rational_sweep,
)


class ExponentGradients(NamedTuple):
    """Gradients of relevances [T, D, S] and constants [T, S], of κ and ω of all cosines [L, S]."""

    relevance: tf.Tensor
    constant: tf.Tensor
    weight: tf.Tensor
    frequency: tf.Tensor


class Exponents:
    """The features of the exponents of some terms."""

    def __init__(
        self,
        quadratics: Quadratics,
        periodics: PeriodicFeatures,
        relevance: tf.Tensor,
        log_scale: tf.Tensor,
    ) -> None:
        self.quadratics, self.periodics = quadratics, periodics
        constant = log_scale - tf.reduce_sum(periodics.weight, axis=1)
        left = quadratics.left(relevance, constant)
        shape = tf.concat([tf.shape(constant), tf.shape(quadratics.right)], axis=0)
        right = tf.concat([tf.broadcast_to(quadratics.right, shape), periodics.right], axis=2)
        self.whole = Exponent(
            tf.concat([left, periodics.left], axis=2),
            right,
            tf.concat([right, periodics.right_tangent], axis=2),
        )

    def split(self, counts: tf.Tensor) -> list[Exponent]:
        """The features of consecutive terms, for three sweeps."""
        pieces = (tf.split(feature, counts, num=3) for feature in self.whole)
        return [Exponent(*parts) for parts in zip(*pieces, strict=True)]

    def pull(self, pulled: tf.Tensor) -> ExponentGradients:
        """Gradients from the contraction of that of the exponents with the right features."""
        num_squares, num_periodic = (
            tf.shape(self.quadratics.right)[0],
            tf.shape(self.periodics.right)[2],
        )
        square, periodic, tangent = tf.split(
            pulled, [num_squares, num_periodic, num_periodic], axis=2
        )
        relevance, constant = self.quadratics.pull(square)
        return ExponentGradients(
            relevance, constant, *self.periodics.pull(periodic, tangent, constant)
        )


class FeatureTerms:
    """The terms that have features: their values, their sums, and gradients of the slots."""

    def __init__(
        self, structure: Structure, slot_values: tf.Tensor, X1: tf.Tensor, X2: tf.Tensor
    ) -> None:
        self.structure = structure
        self.num_samples = tf.shape(slot_values)[1]
        self.num_points = [tf.shape(X1)[0], tf.shape(X2)[0]]
        self.counts = tf.unstack(structure.term_counts, num=7)
        self._read(slot_values)
        # Stationary leaves do not mind a shift, and squares lose fewer digits near zero.
        center = tf.reduce_mean(X1, axis=0)
        self._make_exponents(X1 - center, X2 - center)
        self._make_radials(num_inputs=tf.shape(X1)[1])
        self._make_exponentials(X1, X2)
        self._make_rank_ones(tf.concat([X1, X2], axis=0))
        self._sweep()

    def _read(self, slot_values: tf.Tensor) -> None:
        counts = self.structure.slot_counts
        groups = tf.split(slot_values, counts, num=10)
        scale, square, periodic, radial, period, alpha, exponential, location, steepness, width = (
            groups
        )
        self.inverse = tf.exp(-2.0 * tf.concat([square, periodic, radial], axis=0))
        self.square, self.periodic, self.radial = tf.split(self.inverse, counts[1:4], num=3)
        self.frequency = TWO_PI * tf.exp(-period)
        self.alpha = tf.exp(alpha)
        self.exponential = tf.exp(-exponential)
        self.rank_one_values = location, tf.exp(steepness), tf.exp(width)
        num_terms = tf.shape(self.structure.term_candidate)[0]
        self.log_scale = add_up(scale, self.structure.scale_term, num_terms)

    def _make_exponents(self, Z1: tf.Tensor, Z2: tf.Tensor) -> None:
        """Features of terms with one periodic leaf at most, and of mixed ones with more columns."""
        plain, rational, rank_one, mixed, *_ = self.counts
        simple, num_inputs = plain + rational + rank_one, tf.shape(Z1)[1]
        self.quadratics = Quadratics(Z1, Z2)
        num = simple + mixed
        sums = add_up(self.square, self.structure.square_target, num * num_inputs)
        relevance = tf.reshape(sums, [num, num_inputs, self.num_samples])
        places = self.structure.term_periodics
        few = places[:simple, : self.structure.periodics_per_leaf]
        self.simple = self._exponents(relevance[:simple], self.log_scale[:simple], few, Z1, Z2)
        many = places[simple:num]
        self.mixed = self._exponents(relevance[simple:], self.log_scale[simple:num], many, Z1, Z2)

    def _exponents(
        self,
        relevance: tf.Tensor,
        log_scale: tf.Tensor,
        places: tf.Tensor,
        Z1: tf.Tensor,
        Z2: tf.Tensor,
    ) -> Exponents:
        periodics = PeriodicFeatures(self.periodic, self.frequency, self.structure, places, Z1, Z2)
        return Exponents(self.quadratics, periodics, relevance, log_scale)

    def _make_radials(self, num_inputs: tf.Tensor) -> None:
        """Features of 1 + r²/2α for rational leaves and of 2ν r² for Matérn ones."""
        structure, num = self.structure, self.structure.slot_counts[5]
        order = tf.cast(structure.matern_order, self.alpha.dtype)
        of_order = tf.expand_dims(0.5 / order, 1) * tf.ones([1, self.num_samples], order.dtype)
        self.radial_divisors = tf.expand_dims(tf.concat([self.alpha, of_order], axis=0), 1)
        num_radial = num + tf.shape(order)[0]
        sums = add_up(self.radial, structure.radial_target, num_radial * num_inputs)
        self.radial_sums = tf.reshape(sums, [num_radial, num_inputs, self.num_samples])
        constant = tf.concat([tf.ones_like(self.alpha), tf.zeros_like(of_order)], axis=0)
        left = self.quadratics.left(-self.radial_sums / self.radial_divisors, constant)
        left, of_matern = left[:num], left[num:]
        plain, rational, rank_one, *_ = self.counts
        self.materns = MaternLeaves(
            of_matern,
            self.quadratics.right,
            (order - 3.0) / 6.0,
            structure.matern_term - (plain + rational + rank_one),
        )
        num = structure.rational_counts[1]
        lefts, alphas = (left[:num], left[num:]), (self.alpha[:num], self.alpha[num:])
        first = structure.rational_term[:num] - plain
        second = structure.rational_term[num:] - (plain + rational + rank_one)
        self.ratios = [
            Ratio(left, self.quadratics.right, alpha, term)
            for left, alpha, term in zip(lefts, alphas, (first, second), strict=True)
        ]

    def _make_exponentials(self, X1: tf.Tensor, X2: tf.Tensor) -> None:
        plain, rational, rank_one, *_ = self.counts
        num, num_inputs = tf.shape(self.structure.exponential_term)[0], tf.shape(X1)[1]
        sums = add_up(self.exponential, self.structure.exponential_target, num * num_inputs)
        self.exponentials = ExponentialLeaves(
            tf.reshape(sums, [num, num_inputs, self.num_samples]),
            tf.abs(tf.transpose(X1)[:, :, tf.newaxis] - tf.transpose(X2)[:, tf.newaxis]),
            self.structure.exponential_term - (plain + rational + rank_one),
        )

    def _make_rank_ones(self, X: tf.Tensor) -> None:
        plain, rational, rank_one, mixed, dense, line, _ = self.counts
        first = plain + rational
        places = self.structure.term_rank_ones[first : first + rank_one + mixed + dense + line]
        self.rank_ones = RankOnes(*self.rank_one_values, self.structure, places, X)
        end = first + rank_one + mixed + dense
        self.line_scale = tf.expand_dims(tf.exp(self.log_scale[end : end + line]), -1)

    def _sweep(self) -> None:
        counts = self.structure.term_counts
        left, right = tf.split(self.rank_ones.value, self.num_points, axis=-1)
        a1 = tf.split(left, counts[2:6], num=4)
        a2 = tf.split(right, counts[2:6], num=4)
        self.line1 = a1[3]
        plain, rational, rank_one = self.simple.split(counts[:3])
        others = Powers(self.exponentials, self.materns)
        sweeps = (
            plain_sweep(plain),
            rational_sweep(rational, self.ratios[0]),
            rank_one_sweep(rank_one, a1[0], a2[0]),
            mixed_sweep(self.mixed.whole, self.ratios[1], others, a1[1], a2[1]),
            line_sweep(self.line_scale * a1[3], a2[3]),
        )
        self.terms = [terms for terms, _ in sweeps]
        self.pulls = [pull for _, pull in sweeps]
        rows = tf.split(self.structure.term_row, counts, num=7)
        self.rows = [*rows[:4], rows[5]]

    def add_up(self, num_candidates: tf.Tensor) -> tf.Tensor:
        """The sum of the terms of each candidate: [K, S, n1, n2]."""
        terms = tf.concat(self.terms, axis=0)
        rows = tf.concat(self.rows, axis=0)
        order = tf.argsort(rows, stable=True)
        shape = tf.shape(terms)
        negative = self.structure.negative_candidate
        sums = tf.sparse.segment_sum(
            tf.reshape(terms, [shape[0], tf.reduce_prod(shape[1:])]),
            order,
            tf.gather(rows, order),
            num_segments=num_candidates + tf.shape(negative)[0],
        )
        sums, taken_off = sums[:num_candidates], sums[num_candidates:]
        sums = tf.tensor_scatter_nd_sub(sums, tf.expand_dims(negative, 1), taken_off)
        return tf.reshape(sums, tf.concat([[num_candidates], shape[1:]], axis=0))

    def pull(self, upstream: tf.Tensor) -> tf.Tensor:
        """The gradient of all slots from that of the kernels."""
        structure, S = self.structure, self.num_samples
        taken_off = -tf.gather(upstream, structure.negative_candidate)
        by_row = tf.concat([upstream, taken_off], axis=0)
        plain, rational, rank_one, mixed, line = (
            pull(tf.gather(by_row, rows)) for pull, rows in zip(self.pulls, self.rows, strict=True)
        )
        simple = self.simple.pull(tf.concat([plain, rational[0], rank_one[0]], axis=0))
        general = self.mixed.pull(mixed[0])
        relevance = tf.concat([simple.relevance, general.relevance], axis=0)

        of_radial = tf.concat([rational[1], mixed[1], mixed[4]], axis=0)
        radial_sums = -self.quadratics.pull(of_radial)[0] / self.radial_divisors
        alpha = self.alpha * tf.concat([rational[2], mixed[2]], axis=0)
        num = tf.shape(alpha)[0]
        alpha -= tf.reduce_sum(radial_sums[:num] * self.radial_sums[:num], axis=1)

        line1 = line[0] * self.line_scale
        none = tf.zeros([self.counts[4], S, tf.reduce_sum(self.num_points)], alpha.dtype)
        sides = [(rank_one[1], rank_one[2]), (mixed[5], mixed[6]), (line1, line[1])]
        of_rank_one, of_mixed, of_line = (tf.concat(side, axis=-1) for side in sides)
        rank_ones = self.rank_ones.pull(tf.concat([of_rank_one, of_mixed, none, of_line], axis=0))

        of_line = tf.reduce_sum(line1 * self.line1, axis=-1)
        scale = tf.concat([simple.constant, general.constant, none[..., 0], of_line], axis=0)
        num_terms = tf.shape(structure.term_candidate)[0]
        scale = tf.pad(scale, [[0, num_terms - tf.shape(scale)[0]], [0, 0]])
        square = tf.gather(tf.reshape(relevance, [-1, S]), structure.square_target)
        radial = tf.gather(tf.reshape(radial_sums, [-1, S]), structure.radial_target)
        weight = simple.weight + general.weight
        exponential = tf.gather(tf.reshape(mixed[3], [-1, S]), structure.exponential_target)
        return tf.concat(
            [
                tf.gather(scale, structure.scale_term),
                -2.0 * self.inverse * tf.concat([square, weight, radial], axis=0),
                -self.frequency * (simple.frequency + general.frequency),
                alpha,
                -self.exponential * exponential,
                *tf.unstack(rank_ones, num=3, axis=1),
            ],
            axis=0,
        )
