"""How well fits predict each row from all others, which is what stacking weighs them by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.errors import DataError
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.result import LocalFit
from vbks.predict.posteriors.conditioning import data_by_warp, posteriors_of
from vbks.predict.posteriors.marginals import WarpedGaussians
from vbks.predict.posteriors.posteriors import (
    Data,
    Posteriors,
    as_tensor,
    blocks_with_noise,
    compiled,
    with_known,
)
from vbks.predict.posteriors.samples import matrix_bytes

NUM_SAMPLES = 8
"""Each fit has this many samples of θ, over which the density of a row is averaged."""

CACHE_BYTES = 2**28
"""The factors of fits that are worked on together take at most this many bytes."""


def leave_one_out(
    fits: Sequence[LocalFit],
    data: Data | TrainingData,
    *,
    likelihood: Likelihood | None = None,
    num_samples: int = NUM_SAMPLES,
    max_rows: int | None = None,
    seed: int = 0,
) -> Array:
    """Log densities [N, K] of every target given all other rows, in the user's units.

    Of more rows than ``max_rows`` some are chosen at random, if fits are sparse.

    Nothing is fitted again: θ is averaged over the posterior from all rows, and at each θ the
    density has a closed form. That of sparse fits is the posterior of q(u) with the row taken out.
    A fit without a posterior has densities of zero.
    """
    if likelihood is not None and not likelihood.is_gaussian:
        raise DataError(
            "stacking needs Gaussian noise: densities of rows given all others have no closed "
            f"form with {likelihood.name}. Choose another belief."
        )
    fitted = [place for place, fit in enumerate(fits) if fit.status == "fitted"]
    rows = data_by_warp([fits[place] for place in fitted], data)
    any_data = data if isinstance(data, TrainingData) else next(iter(data.values()))
    num_rows = any_data.num_rows
    if max_rows is not None and all(fits[place].bound != "exact" for place in fitted):
        num_rows = min(num_rows, max_rows)
    densities = np.full((num_rows, len(fits)), -math.inf)
    for places in _batches(fits, fitted, num_samples):
        share = 1.0 / len(places)
        members = [(fits[place], share) for place in places]
        for part in posteriors_of(members, rows, num_samples * len(places), seed):
            log_density = _log_densities(part, num_rows, seed) - math.log(share)
            for member, row in zip(part.members, log_density, strict=True):
                own = densities[:, places[member]]
                np.logaddexp(own, row, out=own)
    return densities


def _batches(
    fits: Sequence[LocalFit], places: Sequence[int], num_samples: int
) -> Iterator[Sequence[int]]:
    """Places of fits whose posteriors fit into memory together."""
    largest = max((matrix_bytes(fits[place]) for place in places), default=1)
    size = max(1, CACHE_BYTES // (num_samples * largest))
    for start in range(0, len(places), size):
        yield places[start : start + size]


def left_out_marginals(
    part: Posteriors, num_rows: int, seed: int
) -> Iterator[tuple[WarpedGaussians, Array]]:
    """What all other rows predict for each, and its target in the user's units, some at a time."""
    blocks = [_exact(part)] if part.W is None else _sparse(part, num_rows, seed)
    for means, variances, y in blocks:
        marginals = WarpedGaussians(part.units, part.weights, means, variances)
        yield marginals, part.units.restore_targets(y)


def _log_densities(part: Posteriors, num_rows: int, seed: int) -> Array:
    """Log densities of rows given the others, weights of components included: [R, N]."""
    return np.concatenate(
        [own.log_densities(y) for own, y in left_out_marginals(part, num_rows, seed)], axis=1
    )


def _exact(part: Posteriors) -> tuple[Array, Array, Array]:
    _, y = part.data.arrays()
    mean, variance = _without_each(part.L, part.m, as_tensor(y))
    return mean.numpy(), variance.numpy(), y


def _sparse(part: Posteriors, num_rows: int, seed: int) -> Iterator[tuple[Array, Array, Array]]:
    for X, y, known in _rows(part.data, num_rows, seed):
        mean, variance = _cavities(
            part.L,
            part.m,
            part.W,
            part.kernels(part.Z, X),
            part.kernels.diag(X),
            with_known(part.kernels.noise(X), known),
            as_tensor(y),
        )
        yield mean.numpy(), variance.numpy(), y


def _rows(
    data: TrainingData, num_rows: int, seed: int
) -> Iterator[tuple[Array, Array, Array | None]]:
    """All rows, or as many of them at random, block by block, with their known noise."""
    if num_rows < data.num_rows:
        data = data.sampled(num_rows, np.random.default_rng(seed))
    return blocks_with_noise(data)


@compiled
def _without_each(L: tf.Tensor, m: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """yᵢ − [C⁻¹y]ᵢ/[C⁻¹]ᵢᵢ and 1/[C⁻¹]ᵢᵢ, for C = LLᵀ and m = L⁻¹y."""
    eye = tf.eye(tf.shape(L)[-1], batch_shape=tf.shape(L)[:-2], dtype=L.dtype)
    inverse = tf.linalg.triangular_solve(L, eye)
    precision = tf.reduce_sum(tf.square(inverse), axis=-2)
    return y - tf.linalg.matvec(inverse, m, transpose_a=True) / precision, 1.0 / precision


@compiled
def _cavities(
    L: tf.Tensor,
    m: tf.Tensor,
    W: tf.Tensor,
    cross: tf.Tensor,
    diagonal: tf.Tensor,
    noise: tf.Tensor,
    y: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Moments of each target under q(v) without its own row.

    The row's function aᵀv has the variance h = aᵀSa with the row, and h/(1 − h/noise) without it.
    That is never more than before any row was seen, aᵀa, unless q(v) is not the best one.
    """
    A = tf.linalg.triangular_solve(L, cross)
    before = tf.reduce_sum(tf.square(A), axis=-2)
    h = tf.reduce_sum(tf.square(tf.linalg.matmul(W, A)), axis=-2)
    share = tf.maximum(1.0 - h / noise, tf.math.divide_no_nan(h, before))
    mean = y - (y - tf.linalg.matvec(A, m, transpose_a=True)) / share
    return mean, h / share + noise + tf.maximum(diagonal - before, 0.0)
