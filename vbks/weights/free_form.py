"""The layer of the VBKS paper under a free q(g), by importance sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from vbks.arrays import Array
from vbks.weights.policy import LayerPolicy


@dataclass(frozen=True)
class Layer:
    """E[softmax(g)] [K] under some q(g), the bound with it, and its mean [K] and factor [K, J]."""

    probabilities: Array
    bound: float
    mean: Array
    factor: Array


def lift(gains: Array, prior_mean: Array, sd: float, k: int) -> float:
    """How far the mean of gₖ is to be raised until hardly any other candidate matters."""
    others = logsumexp(prior_mean) - prior_mean[k] + np.log1p(-gains.mean())
    tail = min(0.5 * sd**2, sd * np.sqrt(2 * np.log(len(gains))))
    return float(others + tail)


def free_form(
    gains: Array, prior_mean: Array, prior_root: Array, seed: int, policy: LayerPolicy
) -> Layer:
    """E[softmax(g)] under q*(g) ∝ p(g) exp(softmax(g)·ℓ), p(g) = N(μ, FFᵀ), for gains ℓ [K] ≤ 0.

    The proposal is a mixture of p(g) and of the same with one gₖ lifted, for each k as often as
    Bayes' posterior has it. The bound log E_p[exp(softmax(g)·ℓ)] is the highest that any q(g) has.
    """
    K = len(gains)
    F = np.diag(prior_root) if prior_root.ndim == 1 else prior_root
    variances = np.einsum("kj,kj->k", F, F)
    slopes = np.array([lift(gains, prior_mean, np.sqrt(v), k) / v for k, v in enumerate(variances)])
    shares = (1.0 - policy.prior_share) * softmax(gains + prior_mean)

    least, most = policy.min_free_samples, policy.max_free_samples
    num = int(np.clip(policy.free_numbers // K, least, most))
    rng = np.random.default_rng([seed, *b"free form"])
    steps = rng.standard_normal((num, K)) @ F.T
    places = np.searchsorted(np.cumsum(shares), (np.arange(num) + 0.5) / num)
    lifted = np.flatnonzero(places < K)
    own = places[lifted]
    steps[lifted] += slopes[own, np.newaxis] * (F @ F.T)[own]

    log_ratios = slopes * steps - 0.5 * slopes**2 * variances
    log_proposal = np.logaddexp(
        np.log(policy.prior_share), logsumexp(log_ratios, axis=1, b=shares[np.newaxis])
    )
    W = softmax(prior_mean + steps, axis=1)
    log_weights = W @ gains - log_proposal
    bound = float(logsumexp(log_weights) - np.log(num))
    weights = softmax(log_weights)
    mean = weights @ steps
    centred = np.sqrt(weights)[:, np.newaxis] * (steps - mean)
    root: Array = np.asarray(np.linalg.qr(centred, mode="r"))
    return Layer(np.asarray(weights @ W), bound, prior_mean + mean, root.T)
