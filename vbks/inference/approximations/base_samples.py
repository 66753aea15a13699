"""Points that stand for a standard normal distribution of θ, few and well placed."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import qmc

from vbks.arrays import Array


def base_samples(count: int, num_slots: int, seed: int) -> Array:
    """Points η [S, H] that stand for N(0, I): pairs ±η, with mean squares of one; one is zero.

    A function of θ that is at most quadratic in each of its numbers, and has no products of them,
    has the right mean over these.
    """
    if count == 1:
        return np.zeros((1, num_slots))
    num_pairs = -(-count // 2)
    draw = qmc.MultivariateNormalQMC(np.zeros(num_slots), seed=np.random.default_rng(seed))
    eta = draw.random(2 ** math.ceil(math.log2(num_pairs)))[:num_pairs]
    eta = eta / np.sqrt(np.mean(eta**2, axis=0))
    return np.concatenate([eta, -eta])
