"""Posteriors of the parts of a function, given that of the function.

Parts fₖ with kernels kₖ add up to f. With Aₖ = L⁻¹kₖ(Z, x), the posterior of f being as in
`vbks.predict.posteriors`, a part has the mean Aₖᵀm, and two have the covariance
δⱼₖ kₖ(x, x') − Aⱼᵀ(I − S)Aₖ'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Rows
from vbks.parts.sources import Source
from vbks.predict.posteriors.posteriors import (
    BLOCK,
    ELEMENTS_AT_ONCE,
    ComponentKernels,
    compiled,
)

Groups = Sequence[Sequence[int]]
"""For each part the places of its terms."""


def part_means(source: Source, groups: Groups, X: Array) -> Array:
    """Means of the parts [S, G, N] of each component at standardised inputs [N, D]."""
    (means,) = _in_blocks(source, groups, X, lambda piece, block: (piece.means(block),))
    return means


def part_variances(source: Source, groups: Groups, X: Array, own: Rows) -> Array:
    """Variances of the parts [S, G, N] of some of the components."""
    (found,) = _in_blocks(
        source, groups, X, lambda piece, block: (piece.variances(piece.cross(block), block),), own
    )
    return found


def part_covariance(source: Source, first: Sequence[int], second: Sequence[int], X: Array) -> Array:
    """Covariances [S, N, N] of two parts, or of one with itself, of each component."""
    found = []
    for piece in pieces_of(source, [first, second], len(X)):
        cross = piece.cross(X)
        shared = _shared(piece.L, piece.W, cross[:, 0], cross[:, 1]).numpy()
        found.append((piece.kernels(X, X)[:, 0] if first == second else 0.0) - shared)
    return np.concatenate(found)


def curve_moments(source: Source, group: Sequence[int], X: Array, own: Rows) -> tuple[Array, Array]:
    """Means [S, G] and covariances [S, G, G] of a part at X [R, G, D], averaged over R."""
    R, G, D = X.shape
    points, means, covariances = X.reshape(-1, D), [], []
    for piece in pieces_of(source, [group], len(points), own):
        cross = piece.cross(points)[:, 0]
        cross = cross.reshape(*cross.shape[:2], R, G).mean(axis=2)
        prior = piece.kernels(points, points)[:, 0].reshape(-1, R, G, R, G).mean(axis=(1, 3))
        means.append(np.einsum("smg,sm->sg", cross, piece.alpha))
        covariances.append(prior - _shared(piece.L, piece.W, cross, cross).numpy())
    return np.concatenate(means), np.concatenate(covariances)


class Piece:
    """Some components of a source, with their factors as tensors."""

    def __init__(self, source: Source, groups: Groups, own: Rows) -> None:
        posteriors, places = source.posteriors, source.places[own]
        self.own, self.source = own, source
        self.kernels = source.kernels(groups, own)
        self.Z = np.asarray(posteriors.Z)
        self.L, self.m = tf.gather(posteriors.L, places), tf.gather(posteriors.m, places)
        self.W = None if posteriors.W is None else tf.gather(posteriors.W, places)

    @property
    def num_parts(self) -> int:
        """How many parts there are."""
        return len(self.kernels.groups)

    def cross(self, X: Array) -> Array:
        """Kernels of the parts between Z and inputs: [S, G, M, N]."""
        return self.kernels(self.Z, X)

    @cached_property
    def components(self) -> ComponentKernels:
        """The kernels of whole components."""
        every = self.source.posteriors.kernels.components
        return ComponentKernels([every[place] for place in self.source.places[self.own]])

    @cached_property
    def alpha(self) -> Array:
        """L⁻ᵀm, with which kernels of Z and x give means: [S, M]."""
        column = self.m[..., tf.newaxis]
        return np.asarray(tf.linalg.triangular_solve(self.L, column, adjoint=True))[..., 0]

    def means(self, X: Array) -> Array:
        """Means of the parts: [S, G, N]."""
        return np.asarray(np.einsum("sgmn,sm->sgn", self.cross(X), self.alpha))

    def variances(self, cross: Array, X: Array) -> Array:
        """Variances of the parts, from their kernels with Z: [S, G, N]."""
        reduction = _reduction(self.L, self.W, cross)
        return np.asarray(np.maximum(self.kernels.diag(X) - reduction.numpy(), 0.0))


def pieces_of(
    source: Source, groups: Groups, num_columns: int, own: Rows | None = None
) -> Iterator[Piece]:
    """The components of a source, or some, as many at a time as there is room for."""
    own = np.arange(len(source.places)) if own is None else own
    per_component = (len(groups) + 2) * len(source.posteriors.Z) * num_columns
    size = max(1, ELEMENTS_AT_ONCE // max(1, per_component))
    for start in range(0, len(own), size):
        yield Piece(source, groups, own[start : start + size])


def _in_blocks(
    source: Source,
    groups: Groups,
    X: Array,
    evaluate: Callable[[Piece, Array], tuple[Array, ...]],
    own: Rows | None = None,
) -> tuple[Array, ...]:
    """Arrays [S, G, N] of all components, of blocks of inputs one after the other."""
    found = []
    for piece in pieces_of(source, groups, min(BLOCK, len(X)), own):
        blocks = [evaluate(piece, X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
        found.append([np.concatenate(own, axis=-1) for own in zip(*blocks, strict=True)])
    return tuple(np.concatenate(own) for own in zip(*found, strict=True))


@compiled
def _reduction(L: tf.Tensor, W: tf.Tensor | None, cross: tf.Tensor) -> tf.Tensor:
    """By how much data have reduced the variances: [S, G, N]."""
    A = _whitened(L, cross)
    reduction = tf.reduce_sum(tf.square(A), axis=-2)
    if W is not None:
        reduction -= tf.reduce_sum(tf.square(tf.linalg.matmul(W[:, tf.newaxis], A)), axis=-2)
    return reduction


@compiled
def _shared(L: tf.Tensor, W: tf.Tensor | None, first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
    """Aⱼᵀ(I − S)Aₖ: [S, N, N]."""
    one, two = tf.linalg.triangular_solve(L, first), tf.linalg.triangular_solve(L, second)
    found = tf.linalg.matmul(one, two, transpose_a=True)
    if W is None:
        return found
    one, two = tf.linalg.matmul(W, one), tf.linalg.matmul(W, two)
    return found - tf.linalg.matmul(one, two, transpose_a=True)


def _whitened(L: tf.Tensor, cross: tf.Tensor) -> tf.Tensor:
    """L⁻¹ of all parts at once, which is faster than one after the other: [S, G, M, N]."""
    S, G, M, N = tf.unstack(tf.shape(cross))
    columns = tf.reshape(tf.transpose(cross, [0, 2, 1, 3]), [S, M, G * N])
    solved = tf.reshape(tf.linalg.triangular_solve(L, columns), [S, M, G, N])
    return tf.transpose(solved, [0, 2, 1, 3])
