"""Stacking: the weights of candidates with which their mixture predicts held-out rows best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.weights.belief import KernelBelief, check_positive, participants

GAP = 1e-9
"""The mean log score of a row is at most this far below that of the best weights."""

MAX_STEPS = 200
"""Newton's method takes at most this many steps; it needs one or two dozen."""

TO_BOUNDARY = 0.99
"""A step goes at most this share of the way to a weight of zero."""

LEAST_LOG_DENSITY = -200.0
"""Log densities of a row count as at least this, relative to its best candidate: nothing is lost
by that, and underflow is slow."""

LEAST_PULL = 1e-9
"""The prior pulls on each candidate like at least this many rows, which changes no score."""

ROUNDING = 1e-12
"""A step that loses no more than this of the objective for each row is accepted: it is rounding."""

RIDGE = 1e-14
"""Newton's equations have a ridge of this size, relative to theirs, for copies that the prior
hardly tells apart."""


def stacking_belief(
    log_densities: npt.ArrayLike, log_prior: npt.ArrayLike, *, temperature: float = 1.0
) -> KernelBelief:
    """Weights w that maximise Σₙ log Σₖ wₖ pₙₖ + Σₖ p(k) log wₖ for log densities of rows [N, K].

    The second term has the weight of one row. It makes the weights unique: candidates that predict
    alike share their mass as the prior says. Log densities are divided by the temperature.
    """
    check_positive(temperature=temperature)
    densities = np.asarray(log_densities, dtype=float)
    if densities.ndim != 2 or not densities.size:
        raise DataError(
            f"log_densities has shape {densities.shape}, expected rows and candidates: [N, K]."
        )
    taking_part, prior = participants(densities.max(axis=0), log_prior)
    tempered = densities[:, taking_part] / temperature
    best = tempered.max(axis=1, keepdims=True)
    _check_rows(best)
    P = np.exp(np.maximum(tempered - best, LEAST_LOG_DENSITY))
    weights = np.zeros(len(prior))
    weights[taking_part] = simplex_weights(P, np.exp(prior[taking_part]))
    score = float(np.mean(best[:, 0] + np.log(P @ weights[taking_part])))
    return KernelBelief("stacking", weights, prior, temperature, score)


def simplex_weights(P: Array, prior: Array) -> Array:
    """The maximum of Σₙ log(Pw)ₙ + Σₖ πₖ log wₖ on the simplex, for densities P [N, K].

    The prior's term keeps weights positive, so that this is an interior-point method: Newton's
    steps for w and for zₖ = πₖ/wₖ, with a pull in place of π that is N rows strong at first. By
    concavity, the largest slope says how far the maximum can be.
    """
    N, K = P.shape
    prior = np.maximum(prior, LEAST_PULL)
    pull = np.maximum(prior, N / K)
    w = np.full(K, 1 / K)
    z = np.asarray(pull / w, dtype=float)
    for _ in range(MAX_STEPS):
        shares = P / (P @ w)[:, np.newaxis]
        slope = shares.sum(axis=0) + pull / w - (N + pull.sum())
        if slope.max() <= GAP * N and (pull == prior).all():
            break
        step = _newton_step(shares, w, z, slope)
        z_step = pull / w - z - z / w * step
        length = _length(P, pull, w, step, slope)
        w = w + length * step
        w /= w.sum()
        z = z + _within_bounds(z, z_step) * z_step
        if length > 0.5:
            pull = np.maximum(prior, 0.2 * pull)
    return w


def _newton_step(shares: Array, w: Array, z: Array, slope: Array) -> Array:
    """Solves (H + diag(z/w)) s = slope, scaled by √w so that small weights do no harm."""
    root = np.sqrt(w)
    scaled = shares * root
    A = scaled.T @ scaled
    A[np.diag_indices_from(A)] += z + RIDGE * len(shares)
    return np.asarray(root * cho_solve(cho_factor(A), root * slope))


def _length(P: Array, pull: Array, w: Array, step: Array, slope: Array) -> float:
    """How far to go: inside the bounds, and so that the objective rises as the slope promises."""

    def objective(w: Array) -> float:
        rows = np.log(P @ w).sum() + pull @ np.log(w)
        return float(rows - (len(P) + pull.sum()) * w.sum())

    promise = float(slope @ step)
    before = objective(w) - ROUNDING * len(P)
    length = _within_bounds(w, step)
    while objective(w + length * step) < before + 1e-4 * length * promise and length > 1e-8:
        length *= 0.5
    return length


def _within_bounds(values: Array, step: Array) -> float:
    """The largest part of a step, up to all of it, that leaves positive values positive."""
    falls = step < 0
    if not falls.any():
        return 1.0
    return min(1.0, TO_BOUNDARY * float(np.min(values[falls] / -step[falls])))


def _check_rows(best: Array) -> None:
    impossible = ~np.isfinite(best[:, 0])
    if impossible.any():
        raise DataError(
            f"{impossible.sum()} rows have density zero under every candidate, the first is row "
            f"{int(np.argmax(impossible)) + 1}. Leave them out, or add candidates that allow them."
        )
