"""What parts say of rows that are left out: blocks of neighbours, as in the reports of ABCD.

Hyperparameters stay; what the other rows say of the function has a closed form. It is exact where
fits are, and of sparse fits it is q(u) with the sites of the rows taken out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from vbks.arrays import Array, Rows
from vbks.data.training import TrainingData
from vbks.inference.likelihoods.likelihood import SMALLEST_VARIANCE, Likelihood
from vbks.parts.averaging import MatchedParts
from vbks.parts.posteriors import Piece, pieces_of
from vbks.predict.posteriors.posteriors import as_tensor

NUM_FOLDS = 10
"""Rows are left out in this many blocks, as in the Automatic Statistician."""

NUM_SAMPLES = 12
"""Rows are left out for about this many of the components: errors are averages over all rows, and
more components hardly change them."""


MANY_ROWS, FEW_SAMPLES = 400, 4
"""With more rows than this, about this many components are used: the time of each grows with N³."""


def held_out_means(parts: MatchedParts, rows: TrainingData, likelihood: Likelihood) -> Array:
    """Means of the parts [P, N] at rows of the data, each without those of its block.

    Blocks are neighbours along the first input. Of exact fits the rows have to be all there are.
    """
    X, _ = rows.arrays()
    blocks = np.array_split(np.argsort(X[:, 0], kind="stable"), min(NUM_FOLDS, len(X)))
    found = np.zeros((len(parts), len(X)))
    most = NUM_SAMPLES if len(X) <= MANY_ROWS else FEW_SAMPLES
    for source, groups in parts.pairs():
        own = np.arange(max(1, round(most * source.weight / parts.weight)))
        own = own[: len(source.places)]
        weights = source.weights / source.weights[own].sum() * source.weight / parts.weight
        leave_out = _exact if source.fit.bound == "exact" else _sparse
        for piece in pieces_of(source, list(groups.values()), len(blocks[0]), own):
            means = leave_out(piece, rows, likelihood, blocks)
            found[list(groups)] += np.einsum("s,sgn->gn", weights[piece.own], means)
    return parts.restored(found)


def _exact(
    piece: Piece, rows: TrainingData, likelihood: Likelihood, blocks: Sequence[Rows]
) -> Array:
    """Of C⁻¹y without a block b there is left α − [C⁻¹]·b [C⁻¹]bb⁻¹ αb, with α = C⁻¹y."""
    X, _ = rows.arrays()
    eye = tf.eye(len(X), batch_shape=tf.shape(piece.L)[:1], dtype=piece.L.dtype)
    P = tf.linalg.cholesky_solve(piece.L, eye).numpy()
    found = np.empty((len(piece.own), piece.num_parts, len(X)))
    for block in blocks:
        alpha = piece.alpha[:, block, np.newaxis]
        away = np.linalg.solve(P[:, block[:, np.newaxis], block], alpha)
        left = piece.alpha - (P[:, :, block] @ away)[..., 0]
        found[..., block] = np.einsum("sgmn,sm->sgn", piece.cross(X[block]), left)
    return found


def _sparse(
    piece: Piece, rows: TrainingData, likelihood: Likelihood, blocks: Sequence[Rows]
) -> Array:
    """A block adds Σ c a aᵀ to the precision of q(v) and Σ b a to its linear term.

    Its sites are those of the marginals of the posterior: c = −2 dE/dv and b = dE/dm + c m, where E
    is the expectation of log p(y|f) under N(m, v).
    """
    X, y = rows.arrays()
    assert piece.W is not None
    S = tf.linalg.matmul(piece.W, piece.W, transpose_a=True).numpy()
    precision = np.linalg.inv(S)
    linear = (precision @ piece.m.numpy()[..., np.newaxis])[..., 0]
    found = np.empty((len(piece.own), piece.num_parts, len(X)))
    for block in blocks:
        cross = piece.cross(X[block])
        A = tf.linalg.triangular_solve(piece.L, cross.sum(axis=1)).numpy()
        curvature, pull = _sites(piece, A, S, X[block], y[block], likelihood, rows, block)
        less = precision - np.einsum("smn,sn,skn->smk", A, curvature, A)
        m = _solved(less, linear - np.einsum("smn,sn->sm", A, pull))
        back = tf.linalg.triangular_solve(piece.L, m[..., np.newaxis], adjoint=True).numpy()
        found[..., block] = np.einsum("sgmn,sm->sgn", cross, back[..., 0])
    return found


def _sites(
    piece: Piece,
    A: Array,
    S: Array,
    X: Array,
    y: Array,
    likelihood: Likelihood,
    rows: TrainingData,
    block: Rows,
) -> tuple[Array, Array]:
    """Curvatures and pulls [S, N] of the rows of a block."""
    noise = np.asarray(piece.components.noise(X))
    if not likelihood.is_gaussian:
        noise = np.broadcast_to(piece.components.parameters[:, np.newaxis], noise.shape)
    elif rows.known_noise is not None:
        noise = noise + rows.known_noise[block]
    mean = np.einsum("smn,sm->sn", A, piece.m.numpy())
    # What inducing inputs leave of the variance of the function is in its marginal, too.
    spread = np.einsum("smn,smk,skn->sn", A, S, A) - np.sum(A**2, axis=1)
    variance = np.maximum(np.asarray(piece.components.diag(X)) + spread, SMALLEST_VARIANCE)
    found = likelihood.expectations(*map(as_tensor, (y, mean, variance, noise)))
    curvature = np.maximum(-2.0 * found.by_variance.numpy(), 0.0)
    return curvature, found.by_mean.numpy() + curvature * mean


def _solved(precision: Array, linear: Array) -> Array:
    """Means of q(v), whose precision is at least that of its prior, one."""
    values, vectors = np.linalg.eigh(precision)
    turned = np.einsum("smk,sm->sk", vectors, linear) / np.maximum(values, 1.0)
    return np.asarray(np.einsum("smk,sk->sm", vectors, turned))
