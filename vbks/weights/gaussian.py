"""The belief of the VBKS paper: softmax(g), with a Gaussian q(g) that maximises a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax

from vbks.arrays import Array, Mask
from vbks.errors import DataError, check_one_of
from vbks.weights.belief import KernelBelief, as_vector, check_positive, participants
from vbks.weights.free_form import Layer, free_form
from vbks.weights.layer_ascent import ASCENTS, Ascent, Climb, samples
from vbks.weights.layer_objective import Objective
from vbks.weights.policy import LayerPolicy

PRIOR_VARIANCE = 10.0
"""Each g has this prior variance: a weight may differ from its prior by factors of e^±3, so that
gaps of a few nats show. Beyond it little changes, and with the authors' 0.5 gaps of two nats hardly
count."""

Form = Literal["gaussian", "mixture", "free"]
"""Forms of q(g): a single Gaussian as in the paper, one at each optimum, or whatever maximises."""


def vbks_belief(
    log_evidences: npt.ArrayLike,
    log_prior: npt.ArrayLike,
    *,
    prior_variance: float = PRIOR_VARIANCE,
    prior_covariance: npt.ArrayLike | None = None,
    prior_mean: npt.ArrayLike | None = None,
    temperature: float = 1.0,
    form: Form = "gaussian",
    ascent: Ascent = "quasi-newton",
    seed: int = 0,
    policy: LayerPolicy | None = None,
) -> KernelBelief:
    """E[softmax(g)] under the q(g) that maximises E[softmax(g)·L/T] − KL(q(g)‖p(g)) (eq. 8, 13).

    p(g) is N(log p(k), vI) with v the ``prior_variance``, unless another mean or covariance is
    given. A small v holds the belief at the prior. The ``form`` of q(g) decides what happens at
    ties. The paper's single "gaussian" is flatter than Bayes' posterior with few candidates, and
    above many that are far behind it lifts a single one, even if another is hardly worse. A
    "mixture" of such Gaussians has one at each optimum, weighted by their bounds, so that two near
    the top share the belief. The "free" form, q*(g) ∝ p(g) exp(softmax(g)·L/T) by importance
    sampling, has the highest bound and tends to Bayes' posterior as v grows. Candidates that are
    equal in every respect share what they have together.
    """
    check_positive(temperature=temperature, prior_variance=prior_variance)
    check_one_of("ascent", ascent, ASCENTS)
    check_one_of("form", form, get_args(Form))
    evidences = as_vector("log_evidences", log_evidences)
    taking_part, log_p = participants(evidences, log_prior)
    mean0 = _prior_mean(log_p if prior_mean is None else prior_mean, taking_part)
    covariance0 = _prior_covariance(prior_variance, prior_covariance, taking_part)

    places = np.flatnonzero(taking_part)
    gains = evidences[places] / temperature
    order = np.lexsort((-gains, -(gains + mean0[places])))
    rows, gains = places[order], gains[order]
    if prior_covariance is None:
        root = np.full(len(rows), np.sqrt(prior_variance))
    else:
        root = _cholesky(covariance0[np.ix_(rows, rows)])
    best = gains.max()
    objective = Objective(gains - best, mean0[rows], root, policy)
    match form:
        case "gaussian":
            found = _single_gaussian(objective, ASCENTS[ascent], seed)
        case "mixture":
            found = _gaussian_mixture(objective, ASCENTS[ascent], seed)
        case "free":
            found = free_form(objective.gains, objective.prior_mean, root, seed, objective.policy)

    p = found.probabilities
    if prior_covariance is None:
        p = _shared_among_equals(p, gains, mean0[rows])
    probabilities, mean = np.zeros((2, len(evidences)))
    probabilities[rows], mean[rows] = p, found.mean
    factor = np.zeros_like(covariance0)
    factor[np.ix_(places, places)] = _lower_triangular(found.factor[np.argsort(order)])
    return KernelBelief(
        kind="vbks",
        probabilities=probabilities,
        log_prior=log_p,
        temperature=temperature,
        bound=float(best + found.bound),
        mean=mean,
        factor=factor,
        prior_mean=mean0,
        prior_covariance=covariance0,
    )


def _single_gaussian(
    objective: Objective, ascent: Callable[[Objective, int], Climb], seed: int
) -> Layer:
    """The higher of two maxima, and E[softmax(g)] there by fresh samples.

    Many weak candidates can hide the strongest one from an ascent that starts at the prior, and of
    two that are nearly alike it may lift either. Within the samples' error the strongest has it.
    """
    climb, eta = ascent(objective, seed), samples(objective, seed, "report")
    x = climb(objective.start)
    W = objective.weights(x, eta)
    if W[:, 0].mean() < 0.5:
        lifted = climb(objective.lifted())
        W_lifted = objective.weights(lifted, eta)
        gain = (W_lifted - W) @ objective.gains - objective.kl(lifted) + objective.kl(x)
        if gain.mean() > -gain.std() / np.sqrt(len(gain)):
            x, W = lifted, W_lifted
    p = W.mean(axis=0)
    return Layer(p, float(p @ objective.gains - objective.kl(x)), *objective.gaussian(x))


def _gaussian_mixture(
    objective: Objective, ascent: Callable[[Objective, int], Climb], seed: int
) -> Layer:
    """Gaussians at the optima that ascents from the prior and from lifted candidates reach.

    Their weights are in proportion to exp(bound), which is best where they do not overlap.
    """
    climb, eta = ascent(objective, seed), samples(objective, seed, "report")
    near, policy = objective.prior_mean + objective.gains, objective.policy
    lifted = np.flatnonzero(near > near[0] - policy.optima_margin)[: policy.max_optima]
    optima: list[Array] = []
    expected: list[Array] = []
    for start in (objective.start, *map(objective.lifted, lifted)):
        x = climb(start)
        p = objective.weights(x, eta).mean(axis=0)
        if all(np.abs(p - other).max() > policy.same_optimum for other in expected):
            optima.append(x)
            expected.append(p)
    bounds = [p @ objective.gains - objective.kl(x) for p, x in zip(expected, optima, strict=True)]
    shares = softmax(np.array(bounds))
    mean, factor = _mixture_moments(shares, [objective.gaussian(x) for x in optima])
    bound = sum(
        share * _gain_in_mixture(objective, optima, shares, x, eta)
        for share, x in zip(shares, optima, strict=True)
    )
    return Layer(np.asarray(shares @ np.array(expected)), float(bound), mean, factor)


def _gain_in_mixture(
    objective: Objective, optima: list[Array], shares: Array, x: Array, eta: Array
) -> float:
    """E[softmax(g)·ℓ − log q(g)/p(g)] over one Gaussian of a mixture q(g)."""
    z = objective.coordinates(x, eta)
    log_parts = [objective.log_density(other, z) for other in optima]
    log_q = logsumexp(log_parts, axis=0, b=shares[:, np.newaxis])
    log_p = objective.log_density(objective.start, z)
    return float(np.mean(objective.softmax(z) @ objective.gains - log_q + log_p))


def _mixture_moments(shares: Array, parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The mean [K] of a mixture of Gaussians and a factor [K, J] of its covariance."""
    mean = np.asarray(sum(share * own for share, (own, _) in zip(shares, parts, strict=True)))
    columns = [
        np.sqrt(share) * np.column_stack([factor, own - mean])
        for share, (own, factor) in zip(shares, parts, strict=True)
    ]
    return mean, np.concatenate(columns, axis=1)


def _prior_mean(values: npt.ArrayLike, taking_part: Mask) -> Array:
    mean = as_vector("prior_mean", values)
    if mean.shape != taking_part.shape or not np.isfinite(mean[taking_part]).all():
        raise DataError(
            f"prior_mean has shape {mean.shape}, expected a finite number for each of the "
            f"{len(taking_part)} candidates."
        )
    return np.where(taking_part, mean, 0.0)


def _prior_covariance(
    variance: float, covariance: npt.ArrayLike | None, taking_part: Mask
) -> Array:
    K = len(taking_part)
    given = variance * np.eye(K) if covariance is None else np.asarray(covariance, dtype=float)
    if given.shape != (K, K):
        raise DataError(f"prior_covariance has shape {given.shape}, expected [K, K] = {(K, K)}.")
    both = taking_part[:, np.newaxis] & taking_part
    return np.where(both, given, 0.0)


def _cholesky(covariance: Array) -> Array:
    message = "prior_covariance must be symmetric and positive definite, and is not."
    if not np.allclose(covariance, covariance.T):
        raise DataError(message)
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise DataError(message) from error


def _shared_among_equals(p: Array, *properties: Array) -> Array:
    """Probabilities averaged over candidates that nothing tells apart but the samples."""
    _, group = np.unique(np.column_stack(properties), axis=0, return_inverse=True)
    group = group.ravel()
    return np.asarray((np.bincount(group, p) / np.bincount(group))[group])


def _lower_triangular(factor: Array) -> Array:
    """The lower triangular factor, of positive diagonal, of the same covariance."""
    R: Array = np.asarray(np.linalg.qr(factor.T, mode="r"))
    return np.asarray((R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, np.newaxis]).T)
