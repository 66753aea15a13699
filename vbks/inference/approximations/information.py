"""Expected information about θ: how sharply many rows will determine it, computed from a few."""

from __future__ import annotations

import math
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.kernels.gpflow.bank import KernelBank

STEP = 1e-4
"""Differences of covariances are over this step: a numerical constant, whose error, about as large,
does not matter here."""

ELEMENTS_AT_ONCE = 8_000_000
"""Covariances with up to this many numbers are in memory together: 64 MB, a constant of
machines."""


def expected_information(
    bank: KernelBank,
    theta: Array,
    X: Array,
    num_rows: int,
    jitter: float,
    noise: Array | None = None,
) -> Array:
    """Fisher information ½ tr(C⁻¹ ∂C C⁻¹ ∂C) of ``num_rows`` rows of which X [n, D] is a sample.

    Rows beyond the sample are taken as repeats of its rows. Their averages are a sample with less
    noise, which is what they say about the function; their differences tell about noise alone.
    θ is [K, H], the result [K, H, H]. Noise variances [K, n], if given, take the place of those in
    θ, which then say nothing.
    """
    repeats = max(num_rows / len(X), 1.0)
    pieces = bank.split(-(-len(bank) * (bank.num_slots + 1) * len(X) ** 2 // ELEMENTS_AT_ONCE))
    result = np.zeros((len(bank), bank.num_slots, bank.num_slots))
    start = 0
    for piece in pieces:
        rows, slots = slice(start, start + len(piece)), slice(0, piece.num_slots)
        own = theta[rows, slots]
        known = None if noise is None else noise[rows]
        result[rows, slots, slots] = _information(piece, own, X, repeats, jitter, known)
        start += len(piece)
    return result


def _information(
    bank: KernelBank,
    theta: Array,
    X: Array,
    repeats: float,
    jitter: float,
    known_noise: Array | None,
) -> Array:
    H = theta.shape[1]
    moved = theta[:, np.newaxis] + np.concatenate([np.zeros((1, H)), STEP * np.eye(H)])
    noise = bank.noise(moved, X).numpy()
    if known_noise is not None:
        noise = np.repeat(known_noise[:, np.newaxis], 1 + H, axis=1)
    dtype = gpflow.default_float()
    about_function = _from_covariances(
        bank(moved, X),
        tf.constant(noise / repeats, dtype),
        tf.constant(jitter, dtype),
        tf.constant(STEP, dtype),
    )
    log_noise = np.log(noise)
    slopes = (log_noise[:, 1:] - log_noise[:, :1]) / STEP
    about_noise = 0.5 * (repeats - 1.0) * np.einsum("khn,kjn->khj", slopes, slopes)
    return np.asarray(about_function.numpy() + about_noise)


def parameter_information(
    likelihood: Likelihood, y: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, noise: tf.Tensor
) -> Array:
    """How sharply rows determine the logarithm of a likelihood's parameter: [K]."""
    slopes = []
    for step in (-STEP, STEP):
        moved = noise * math.exp(step)
        e = likelihood.expectations(y, mean, variance, moved)
        slopes.append(tf.reduce_sum(e.by_noise * moved, axis=-1).numpy())
    return np.asarray(np.maximum((slopes[0] - slopes[1]) / (2 * STEP), 0.0))


@tf.function(autograph=False, reduce_retracing=True)
def _from_covariances(
    covariance: tf.Tensor, noise: tf.Tensor, jitter: tf.Tensor, step: tf.Tensor
) -> Any:
    """½ tr(C⁻¹ ∂C C⁻¹ ∂C) from C at θ (the first of each row) and at θ moved in each slot."""
    covariance = tf.linalg.set_diag(covariance, tf.linalg.diag_part(covariance) + noise + jitter)
    here, moved = tf.split(covariance, [1, tf.shape(covariance)[1] - 1], axis=1)
    root = tf.repeat(tf.linalg.cholesky(here), tf.shape(moved)[1], axis=1)
    half = tf.linalg.triangular_solve(root, (moved - here) / step)
    whole = tf.linalg.triangular_solve(root, tf.linalg.matrix_transpose(half))
    flat = tf.reshape(whole, [tf.shape(whole)[0], tf.shape(whole)[1], -1])
    return 0.5 * tf.linalg.matmul(flat, flat, transpose_b=True)
