"""The small arrays between θ and the sweeps: features of squares, cosines and rank-one functions.

Each class computes features of n1 left and n2 right inputs from the values of slots, and turns
gradients that come back for the features into gradients of the slots, for S samples of θ at once.
Gradients are written out because an automatic one makes a graph of five times as many operations,
and small problems wait for nothing else.
"""

from __future__ import annotations

import math

import tensorflow as tf

from vbks.kernels.bank.structure import Structure

TWO_PI = 2.0 * math.pi

add_up = tf.math.unsorted_segment_sum


class Quadratics:
    """Features of c − ½ Σ r (x−x')² for any constant c and relevances r of the inputs.

    Left features are a combination of ``basis`` [D+1, 2D+1, n1], one part for each relevance and
    one for the constant; right features [2D+1, n2] are x, 1 and x².
    """

    def __init__(self, X1: tf.Tensor, X2: tf.Tensor) -> None:
        x = tf.expand_dims(tf.transpose(X1), 1)
        eye = tf.expand_dims(tf.eye(tf.shape(X1)[1], dtype=X1.dtype), -1) * tf.ones_like(x)
        relevances = tf.concat([eye * x, -0.5 * tf.square(x), -0.5 * eye], axis=1)
        none = tf.zeros_like(eye[:1])
        constant = tf.concat([none, tf.ones_like(none[:, :1]), none], axis=1)
        self.basis = tf.concat([relevances, constant], axis=0)
        x2 = tf.transpose(X2)
        self.right = tf.concat([x2, tf.ones_like(x2[:1]), tf.square(x2)], axis=0)

    def left(self, relevance: tf.Tensor, constant: tf.Tensor) -> tf.Tensor:
        """Combine relevances [T, D, S] and constants [T, S]: [T, S, 2D+1, n1]."""
        coefficients = tf.concat([relevance, tf.expand_dims(constant, 1)], axis=1)
        return tf.einsum("tqs,qrn->tsrn", coefficients, self.basis)

    def pull(self, pulled: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Gradients of relevances and constants from those of the left features."""
        coefficients = tf.einsum("tsrn,qrn->tqs", pulled, self.basis)
        num_inputs = tf.shape(coefficients)[1] - 1
        relevance, constant = tf.split(coefficients, [num_inputs, 1], axis=1)
        return relevance, tf.squeeze(constant, axis=1)


class PeriodicFeatures:
    """Features of Σ κ cos ω(x−x') over the cosines of each term, P at most: [T, S, 2P, n].

    κ = 1/ℓ² and ω = 2π/p are [L, S]; ``places`` [T, P] says which cosines a term has.
    """

    def __init__(
        self,
        weight: tf.Tensor,
        frequency: tf.Tensor,
        structure: Structure,
        places: tf.Tensor,
        X1: tf.Tensor,
        X2: tf.Tensor,
    ) -> None:
        self.places = places
        self.num_rows = tf.shape(weight)[0] + 1
        self.weight = tf.gather(tf.pad(weight, [[1, 0], [0, 0]]), places)
        x = tf.gather(tf.concat([X1, X2], axis=0), structure.periodic_dim, axis=1)
        x = tf.expand_dims(tf.transpose(x), 1)
        phase = tf.expand_dims(frequency, -1) * x
        circle = tf.stack([tf.cos(phase), tf.sin(phase)], axis=2)
        no_periodic = [[1, 0], [0, 0], [0, 0]]
        sizes = [tf.shape(X1)[0], tf.shape(X2)[0]]
        x = tf.expand_dims(tf.gather(tf.pad(x, no_periodic), places), -2)
        circle = tf.gather(tf.pad(circle, [*no_periodic, [0, 0]]), places)
        self.x1, x2 = tf.split(x, sizes, axis=-1)
        self.circle1, circle2 = tf.split(circle, sizes, axis=-1)
        weight = tf.expand_dims(tf.expand_dims(self.weight, -1), -1)
        self.left = self._rows(self.circle1 * weight)
        self.right = self._rows(circle2)
        self.right_tangent = self._rows(circle2 * x2)

    def _rows(self, features: tf.Tensor) -> tf.Tensor:
        """[T, P, S, 2, n] -> [T, S, 2P, n]."""
        T, P, S, _, n = tf.unstack(tf.shape(features), num=5)
        by_sample = tf.transpose(features, [0, 2, 1, 3, 4])
        return tf.reshape(by_sample, [T, S, 2 * P, n])

    def _from_rows(self, rows: tf.Tensor) -> tf.Tensor:
        T, S, columns, n = tf.unstack(tf.shape(rows), num=4)
        by_sample = tf.reshape(rows, [T, S, columns // 2, 2, n])
        return tf.transpose(by_sample, [0, 2, 1, 3, 4])

    def pull(
        self, pulled: tf.Tensor, pulled_tangent: tf.Tensor, constant: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Gradients of κ and ω [L, S] from contractions with ``right`` and ``right_tangent``.

        d cos ω(x−x')/dω = −(x−x') sin ω(x−x') is a sum of products of left and right features, so
        no contraction with left features is needed. ``constant`` is the gradient of the terms'
        constants, which hold −κ.
        """
        pulled, pulled_tangent = self._from_rows(pulled), self._from_rows(pulled_tangent)
        cosine, sine = tf.unstack(self.circle1, num=2, axis=3)
        turned = tf.stack([-sine, cosine], axis=3)
        weight = tf.reduce_sum(pulled * self.circle1, axis=[3, 4]) - tf.expand_dims(constant, 1)
        frequency = tf.reduce_sum(turned * (pulled * self.x1 - pulled_tangent), axis=[3, 4])
        both = tf.stack([weight, self.weight * frequency], axis=2)
        weight, frequency = tf.unstack(add_up(both, self.places, self.num_rows)[1:], num=2, axis=1)
        return weight, frequency


class RankOnes:
    """The product of the rank-one functions of each term at inputs X [n, D]: [T, S, n].

    x−ℓ for a line; 1−σ(s(x−ℓ)) and σ(s(x−ℓ)) before and after a change; for a window of width w
    around ℓ, inside is σ(s(x−ℓ+w/2)) σ(s(ℓ+w/2−x)), outside what remains to one.
    """

    def __init__(
        self,
        location: tf.Tensor,
        steepness: tf.Tensor,
        width: tf.Tensor,
        structure: Structure,
        places: tf.Tensor,
        X: tf.Tensor,
    ) -> None:
        self.places = places
        self.kind = structure.rank_one_kind
        x = tf.transpose(tf.gather(X, structure.rank_one_dim, axis=1))
        self.line = tf.expand_dims(x, 1) - tf.expand_dims(location, -1)
        self.steepness = tf.expand_dims(steepness, -1)
        self.half = 0.5 * tf.expand_dims(width, -1)
        self.after = tf.sigmoid(self.steepness * self.line)
        self.entered = tf.sigmoid(self.steepness * (self.half + self.line))
        self.not_left = tf.sigmoid(self.steepness * (self.half - self.line))
        self.inside = self.entered * self.not_left
        kinds = [self.line, 1.0 - self.after, self.after, 1.0 - self.inside, self.inside]
        functions = tf.gather(tf.stack(kinds, axis=1), self.kind, batch_dims=1)
        no_rank_one = [[1, 0], [0, 0], [0, 0]]
        self.factors = tf.gather(tf.pad(functions, no_rank_one, constant_values=1.0), places)
        self.value = tf.reduce_prod(self.factors, axis=1)

    def pull(self, pulled: tf.Tensor) -> tf.Tensor:
        """Gradients of location, log steepness and log width: [L, 3, S]."""
        before = tf.math.cumprod(self.factors, axis=1, exclusive=True)
        after = tf.math.cumprod(self.factors, axis=1, exclusive=True, reverse=True)
        entries = tf.expand_dims(pulled, 1) * before * after
        sums = add_up(entries, self.places, tf.shape(self.kind)[0] + 1)[1:]
        tangents = tf.gather(self._tangents(), self.kind, batch_dims=1)
        return tf.reduce_sum(tf.expand_dims(sums, 1) * tangents, axis=-1)

    def _tangents(self) -> tf.Tensor:
        """Derivatives of all kinds with respect to the three parameters: [L, 5, 3, S, n]."""
        line, s, half = self.line, self.steepness, self.half
        slope = s * self.after * (1.0 - self.after)
        still_out, soon_out = 1.0 - self.entered, 1.0 - self.not_left
        scaled = s * self.inside
        by_location = scaled * (soon_out - still_out)
        by_steepness = scaled * (still_out * (half + line) + soon_out * (half - line))
        by_width = scaled * half * (still_out + soon_out)
        none = tf.zeros_like(line)
        of_line = tf.stack([none - 1.0, none, none], axis=1)
        of_after = tf.stack([-slope, line * slope, none], axis=1)
        of_inside = tf.stack([by_location, by_steepness, by_width], axis=1)
        return tf.stack([of_line, -of_after, of_after, -of_inside, of_inside], axis=1)
